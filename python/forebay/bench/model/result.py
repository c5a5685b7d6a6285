"""The measurements of a benchmark, whichever program made them: values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from forebay.common.model.estimate import Spread, spread
from forebay.common.model.frozen import frozen

MIB_PER_SECOND = "MiB/s"
OPERATIONS_PER_SECOND = "ops/s"


@frozen
class Bar:
    """Calls that took up to so long, and longer than the bar before says."""

    seconds: float
    count: int


@frozen
class Latency:
    """Latency of single calls, all ranks and repetitions together."""

    bars: tuple[Bar, ...]
    seconds_max: float

    @property
    def calls(self) -> int:
        """All of them."""
        return sum(bar.count for bar in self.bars)

    def quantile(self, fraction: float) -> float:
        """Seconds within which so many of the calls were done; 0 when there are none."""
        wanted = fraction * self.calls
        below = 0
        for bar in self.bars:
            below += bar.count
            if below >= wanted and below:
                return min(bar.seconds, self.seconds_max)
        return 0.0


@frozen
class Measurement:
    """One phase, point or operation: a rate of each repetition, latencies, and the ranks' time."""

    name: str
    unit: str
    rates: tuple[float, ...]
    latency: Latency
    rank_seconds: tuple[float, ...]
    slowest_rank: int
    """As the benchmark itself names it: its text and our page are to name the same."""
    slowest_host: str

    @property
    def spread(self) -> Spread:
        """Median rate with its interval."""
        return spread(self.rates)


@frozen
class BenchResult:
    """One run of a benchmark."""

    tool: str
    command: str
    mpi: str
    host: str
    ranks: int
    started: str
    measurements: tuple[Measurement, ...]
    warnings: tuple[str, ...]
    errors: tuple[str, ...]
    status: int


def merged(latencies: Sequence[Latency]) -> Latency:
    """Bars of several histograms with the same borders, added up."""
    counts: dict[float, int] = {}
    for one in latencies:
        for bar in one.bars:
            counts[bar.seconds] = counts.get(bar.seconds, 0) + bar.count
    return Latency(
        bars=tuple(Bar(seconds=at, count=counts[at]) for at in sorted(counts)),
        seconds_max=max((one.seconds_max for one in latencies), default=0.0),
    )


def repeated_names(result: BenchResult) -> tuple[str, ...]:
    """Names that several measurements have: they cannot be told apart."""
    names = Counter(one.name for one in result.measurements)
    return tuple(name for name, count in names.items() if count > 1)


def unmatched(a: BenchResult, b: BenchResult) -> tuple[str, ...]:
    """Messages about measurements that only one result has, where they are compared by name."""
    names_a, names_b = ([one.name for one in result.measurements] for result in (a, b))
    if set(names_a).isdisjoint(names_b):
        return ()
    return (
        *(f"only A has {name}" for name in names_a if name not in names_b),
        *(f"only B has {name}" for name in names_b if name not in names_a),
    )


def matched(a: BenchResult, b: BenchResult) -> tuple[tuple[str, Measurement, Measurement], ...]:
    """The pairs that can be compared, where no name is repeated: measurements of the same name; or,
    when no name is the same (other region sizes, say) and there are equally many in the same units,
    one after the other."""
    theirs = {one.name: one for one in b.measurements}
    same = tuple((one.name, one, theirs[one.name]) for one in a.measurements if one.name in theirs)
    if same or len(a.measurements) != len(b.measurements):
        return same
    beside = tuple(zip(a.measurements, b.measurements, strict=True))
    if any(one.unit != other.unit for one, other in beside):
        return ()
    return tuple((f"{one.name} → {other.name}", one, other) for one, other in beside)
