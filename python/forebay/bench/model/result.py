"""The measurements of a benchmark as values, whichever program made them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from forebay.common.model.estimate import Spread, spread
from forebay.common.model.frozen import frozen
from forebay.common.model.newer_python import zip_of

MIB_PER_SECOND = "MiB/s"
OPERATIONS_PER_SECOND = "ops/s"


@frozen
class Bar:
    """A bin of a histogram: calls that took up to `seconds`, and longer than the previous bin's."""

    seconds: float
    count: int


@frozen
class Latency:
    """The latencies of single calls, of all ranks and repetitions together."""

    bars: tuple[Bar, ...]
    seconds_max: float

    @property
    def calls(self) -> int:
        """The number of calls."""
        return sum(bar.count for bar in self.bars)

    def quantile(self, fraction: float) -> float:
        """The seconds within which the `fraction` of calls was done; 0 if there are none."""
        wanted = fraction * self.calls
        below = 0
        for bar in self.bars:
            below += bar.count
            if below >= wanted and below:
                return min(bar.seconds, self.seconds_max)
        return 0.0


@frozen
class Facet:
    """The place of a measurement among small charts: in the chart `panel`, as a point of the line
    `series` at `position`. Positions are on an axis named `axis`; without one, a measurement is a
    row of its own."""

    panel: str = ""
    series: str = ""
    position: str = ""
    axis: str = ""


@frozen
class Measurement:
    """One phase, point or operation: the rate of each repetition, latencies, and ranks' times."""

    name: str
    unit: str
    rates: tuple[float, ...]
    latency: Latency
    rank_seconds: tuple[float, ...]
    slowest_rank: int
    """The rank that the benchmark itself names, so that its text and our page agree."""
    slowest_host: str
    facet: Facet = Facet()

    @property
    def spread(self) -> Spread:
        """The median rate with its interval."""
        return spread(self.rates)


@frozen
class BenchResult:
    """The result of one run of a benchmark."""

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
    """The sum of several histograms with the same bins."""
    counts: dict[float, int] = {}
    for one in latencies:
        for bar in one.bars:
            counts[bar.seconds] = counts.get(bar.seconds, 0) + bar.count
    return Latency(
        bars=tuple(Bar(seconds=at, count=counts[at]) for at in sorted(counts)),
        seconds_max=max((one.seconds_max for one in latencies), default=0.0),
    )


def repeated_names(result: BenchResult) -> tuple[str, ...]:
    """Names that several measurements share, so that they cannot be told apart."""
    names = Counter(one.name for one in result.measurements)
    return tuple(name for name, count in names.items() if count > 1)


def unmatched(a: BenchResult, b: BenchResult) -> tuple[str, ...]:
    """Messages about measurements that only one result has, if measurements match by name."""
    names_a, names_b = ([one.name for one in result.measurements] for result in (a, b))
    if set(names_a).isdisjoint(names_b):
        return ()
    return (
        *(f"only A has {name}" for name in names_a if name not in names_b),
        *(f"only B has {name}" for name in names_b if name not in names_a),
    )


def matched(a: BenchResult, b: BenchResult) -> tuple[tuple[str, Measurement, Measurement], ...]:
    """The comparable pairs, if no name is repeated: measurements with the same name. If no names
    are equal (the region sizes differ, say), but the numbers and units of measurements are, they
    are paired in order."""
    theirs = {one.name: one for one in b.measurements}
    same = tuple((one.name, one, theirs[one.name]) for one in a.measurements if one.name in theirs)
    if same or len(a.measurements) != len(b.measurements):
        return same
    beside = tuple(zip_of(a.measurements, b.measurements, strict=True))
    if any(one.unit != other.unit for one, other in beside):
        return ()
    return tuple((f"{one.name} → {other.name}", one, other) for one, other in beside)
