"""Results of the demo as rows of text: one place for the terminal's table and the page's."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from forebay.demo.experiment import Comparison, Pair
from forebay.demo.workshop import Outcome
from forebay.domain.estimate import Spread
from forebay.domain.record import FileSummary

UNKNOWN = "–"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One quantity: medians over the pairs, plain and through Forebay."""

    name: str
    plain: str
    forebay: str
    note: str = ""


def rows(comparison: Comparison) -> tuple[Row, ...]:
    """The table of one variant."""
    pairs = comparison.pairs
    return (
        _both("time in output", pairs, lambda run: run.times.output, "s", "create + write + close"),
        _recorded(
            "of this: exchange",
            pairs,
            lambda file: file.write.seconds_exchange,
            "copying into staging, messages",
        ),
        _recorded(
            "of this: write",
            pairs,
            lambda file: file.write.seconds_storage,
            "a request at the file system; overlaps the exchange",
        ),
        _recorded(
            "of this: wait", pairs, lambda file: file.write.seconds_wait, "on ranks or storage"
        ),
        _both("rate", pairs, lambda run: run.times.mib_per_second, "MiB/s", "of the history file"),
        _both("restart, read", pairs, lambda run: run.times.restart_read, "s", "")
        if comparison.run.restart_in
        else _both("compute", pairs, lambda run: run.times.compute, "s", ""),
        _both("restart, write", pairs, lambda run: run.times.restart_write, "s", ""),
    )


def verdict(ratio: Spread) -> str:
    """One sentence on the ratios; claims no gain that the interval does not show."""
    gain = ratio.median >= 1
    factor = ratio.median if gain else 1 / max(ratio.median, 1e-9)
    claim = f"Output is {factor:.2f} times {'as fast' if gain else 'as slow'} through Forebay"
    if ratio.count == 1:
        return f"{claim} in the only pair: too few to be sure."
    if ratio.low <= 1 <= ratio.high:
        return "These pairs show no difference in the time of output."
    return f"{claim}."


def spread_text(ratio: Spread) -> str:
    """Median, range and interval."""
    text = f"{ratio.median:.2f} (min {ratio.least:.2f}, max {ratio.most:.2f}"
    if ratio.count > 1:
        text += f"; {ratio.confidence:.1%} interval {ratio.low:.2f}–{ratio.high:.2f}"
    return text + ")"


def setting(comparison: Comparison) -> str:
    """What was run."""
    run, times = comparison.run, comparison.pairs[-1].plain.times
    return (
        f"{comparison.ranks} ranks, {run.grid.columns} × {run.grid.rows} cells, "
        f"{times.records} records of ssh, u and v in one shared file: {times.mebibytes:.0f} MiB."
    )


def untouched(comparison: Comparison) -> tuple[str, ...]:
    """What the last run through Forebay passed to the MPI, and why."""
    record = comparison.pairs[-1].forebay.record
    if record is None:
        return ()
    return tuple(f"{note.calls} × {note.call} ({note.reason})" for note in record.passed_through)


def _both(
    name: str, pairs: Sequence[Pair], value: Callable[[Outcome], float], unit: str, note: str
) -> Row:
    return Row(
        name=name,
        plain=_amount(median(value(pair.plain) for pair in pairs), unit),
        forebay=_amount(median(value(pair.forebay) for pair in pairs), unit),
        note=note,
    )


def _recorded(
    name: str, pairs: Sequence[Pair], value: Callable[[FileSummary], float], note: str
) -> Row:
    known = [value(pair.forebay.record) for pair in pairs if pair.forebay.record is not None]
    return Row(
        name=name,
        plain=UNKNOWN,
        forebay=_amount(median(known), "s") if known else UNKNOWN,
        note=note,
    )


def _amount(value: float, unit: str) -> str:
    return f"{value:.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"
