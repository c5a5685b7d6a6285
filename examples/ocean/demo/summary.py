"""Results of the demo as rows of text: one place for the terminal's table and the page's."""

from collections.abc import Callable, Sequence
from statistics import median

from demo.experiment import Comparison, Pair
from demo.workshop import Outcome
from forebay.common.model.estimate import Spread
from forebay.common.model.frozen import frozen
from forebay.common.model.units import counted

UNKNOWN = "–"


@frozen
class Row:
    """One quantity: medians over the pairs, plain and through Forebay."""

    name: str
    plain: str
    forebay: str
    note: str = ""


@frozen
class Parts:
    """Where the time in output went: create, collective, rest and close are all of it. Exchange,
    storage and wait are parts of collective, and overlap."""

    create: float
    collective: float
    rest: float
    close: float
    exchange: float
    storage: float
    wait: float


def parts_of(run: Outcome) -> Parts | None:
    """The parts of one run through Forebay. Bytes that the library writes while it creates and
    closes the file count there."""
    if run.record is None:
        return None
    write = run.record.write
    collective = min(write.seconds, run.times.write)
    return Parts(
        create=run.times.create,
        collective=collective,
        rest=run.times.write - collective,
        close=run.times.close,
        exchange=write.seconds_exchange,
        storage=write.seconds_storage,
        wait=write.seconds_wait,
    )


def middle_parts(comparison: Comparison) -> tuple[Outcome, Parts] | None:
    """The parts of the run through Forebay with the median time: those of several do not add up."""
    runs = sorted((pair.forebay for pair in comparison.pairs), key=lambda run: run.times.output)
    run = runs[(len(runs) - 1) // 2]
    parts = parts_of(run)
    return None if parts is None else (run, parts)


def rows(comparison: Comparison) -> tuple[Row, ...]:
    """The table of one variant."""
    pairs = comparison.pairs
    return (
        _both("time in output", pairs, lambda run: run.times.output, "s", "all of:"),
        _both("  creating", pairs, lambda run: run.times.create, "s", "opening, metadata"),
        _both("  writing", pairs, lambda run: run.times.write, "s", "all records"),
        _recorded("    collective calls", pairs, lambda one: one.collective, "of these (overlap):"),
        _recorded(
            "      exchange", pairs, lambda one: one.exchange, "copying into staging, messages"
        ),
        _recorded("      storage", pairs, lambda one: one.storage, "a request at the file system"),
        _recorded("      wait", pairs, lambda one: one.wait, "on ranks or storage"),
        _recorded("    else", pairs, lambda one: one.rest, "independent calls, the library"),
        _both("  closing", pairs, lambda run: run.times.close, "s", "metadata, what was held back"),
        _both("rate", pairs, lambda run: run.times.mib_per_second, "MiB/s", "of the history file"),
        _both("restart, read", pairs, lambda run: run.times.restart_read, "s", "")
        if comparison.run.restart_in
        else _both("compute", pairs, lambda run: run.times.compute, "s", ""),
        _both("restart, write", pairs, lambda run: run.times.restart_write, "s", ""),
        *_until_written(pairs),
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


def most_telling_first(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """A disk that the program has to wait for comes first, and what shows no difference last."""
    return sorted(
        comparisons,
        key=lambda one: (one.pairs[-1].plain.timeline is None, -one.ratio.median),
    )


def spread_text(ratio: Spread) -> str:
    """Median, range and interval."""
    text = f"{ratio.median:.2f} (min {ratio.least:.2f}, max {ratio.most:.2f}"
    if ratio.count > 1:
        text += f"; {ratio.confidence:.1%} interval {ratio.low:.2f}–{ratio.high:.2f}"
    return text + ")"


def setting(comparison: Comparison) -> str:
    """The setting of a comparison: ranks, grid, records and size of the file."""
    run, times = comparison.run, comparison.pairs[-1].plain.times
    return (
        f"{counted(comparison.ranks, 'rank')}, {run.grid.columns} × {run.grid.rows} cells, "
        f"{times.records} records of ssh, u and v in one shared file: {times.mebibytes:.0f} MiB."
    )


def untouched(comparison: Comparison) -> tuple[str, ...]:
    """The calls that the last run through Forebay passed to the MPI, and why."""
    record = comparison.pairs[-1].forebay.record
    if record is None:
        return ()
    return tuple(f"{note.calls} × {note.call} ({note.reason})" for note in record.passed_through)


def _until_written(pairs: Sequence[Pair]) -> tuple[Row, ...]:
    """Where a disk was watched: from the program's start until everything was on it."""
    if any(run.timeline is None for pair in pairs for run in (pair.plain, pair.forebay)):
        return ()
    name, note = "until all is written", "from the start of the program"
    return (_both(name, pairs, lambda run: run.timeline.whole if run.timeline else 0, "s", note),)


def _both(
    name: str, pairs: Sequence[Pair], value: Callable[[Outcome], float], unit: str, note: str
) -> Row:
    return Row(
        name=name,
        plain=_amount(median(value(pair.plain) for pair in pairs), unit),
        forebay=_amount(median(value(pair.forebay) for pair in pairs), unit),
        note=note,
    )


def _recorded(name: str, pairs: Sequence[Pair], value: Callable[[Parts], float], note: str) -> Row:
    known = [value(parts) for parts in map(parts_of, (pair.forebay for pair in pairs)) if parts]
    return Row(
        name=name,
        plain=UNKNOWN,
        forebay=_amount(median(known), "s") if known else UNKNOWN,
        note=note,
    )


def _amount(value: float, unit: str) -> str:
    return f"{value:.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"
