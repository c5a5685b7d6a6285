"""Summaries as tables of text, both for the terminal and for docs/performance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from rich.table import Table as RichTable

from evaluation.model import FOREBAYS, INCUMBENTS, STACKS, Limit, Metric
from evaluation.suites import Suite, size_label
from evaluation.summary import CaseSummary, Comparison, StackSummary, Verdict
from forebay.common.model.estimate import Ratio, Spread
from forebay.common.model.frozen import frozen

MARK = {Verdict.MET: "✓", Verdict.MISSED: "✗", Verdict.OPEN: "~", Verdict.NONE: ""}
CASE_HEADER = ("pattern", "ranks", "op")


@frozen
class TextTable:
    """A table of finished text. In result tables, the first three columns are the case."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def number(value: float) -> str:
    """A number with about three significant digits: 0.00123, 1.23, 12.3, 123, 12345."""
    if value == 0:
        return "0"
    digits = 2
    while digits < 6 and abs(value) < 10 ** (2 - digits):
        digits += 1
    if abs(value) >= 10:
        digits = 1 if abs(value) < 100 else 0
    return f"{value:.{digits}f}"


def spread_text(value: Spread | None) -> str:
    """`median (least-most)`, or the median alone if there is one value."""
    if value is None:
        return "-"
    if value.count == 1:
        return number(value.median)
    return f"{number(value.median)} ({number(value.least)}-{number(value.most)})"


def ratio_text(ratio: Ratio | None) -> str:
    """`2.31 [1.98, 2.70]` with a 95 % interval, `2.31 (1.9-2.7, n=3)` with too few pairs."""
    if ratio is None:
        return "-"
    if ratio.low is not None and ratio.high is not None:
        return f"{ratio.estimate:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"
    if ratio.pairs == 1:
        return f"{ratio.estimate:.2f} (n=1)"
    return f"{ratio.estimate:.2f} ({ratio.least:.2f}-{ratio.most:.2f}, n={ratio.pairs})"


def result_tables(suite: Suite, rows: Sequence[CaseSummary]) -> tuple[TextTable, ...]:
    """For each storage, a table of Forebay's results and one of the incumbents'."""
    tables = []
    for storage in sorted({row.case.storage for row in rows}):
        of_storage = [row for row in rows if row.case.storage == storage]
        if any(row.comparisons for row in of_storage):
            builder = _forebay_memory if suite.metric is Metric.MEMORY else _forebay
            tables.append(builder(suite, f"{suite.title} on {storage}: Forebay", of_storage))
        tables.append(_incumbents(suite, f"{suite.title} on {storage}: incumbents", of_storage))
    return tuple(tables)


def _case_cells(row: CaseSummary) -> tuple[str, ...]:
    return row.case.label, str(row.case.ranks), row.case.operation.value


def _unit(suite: Suite) -> str:
    return {Metric.RATE: "MiB/s", Metric.OPEN_CLOSE: "ms", Metric.MEMORY: "MiB"}[suite.metric]


def _incumbents(suite: Suite, title: str, rows: Sequence[CaseSummary]) -> TextTable:
    used = {one.stack for row in rows for one in row.incumbents}
    stacks = [stack for stack in INCUMBENTS if stack.name in used]
    body = []
    for row in rows:
        known = {one.stack: one for one in row.incumbents}
        best = row.best.stack if row.best else ""
        cells = [_stack_cell(known.get(stack.name), bold=stack.name == best) for stack in stacks]
        body.append((*_case_cells(row), *cells))
    header = (*CASE_HEADER, *(stack.label for stack in stacks))
    return TextTable(title=f"{title}, {_unit(suite)}", header=header, rows=tuple(body))


def _stack_cell(one: StackSummary | None, *, bold: bool = False) -> str:
    if one is None:
        return "-"
    if one.value is None:
        return one.note
    text = spread_text(one.value)
    text = f"**{text}**" if bold else text
    return f"{text} {one.note}".strip()


def _forebay(suite: Suite, title: str, rows: Sequence[CaseSummary]) -> TextTable:
    used = {one.forebay.stack for row in rows for one in row.comparisons}
    stacks = [stack for stack in FOREBAYS if stack.name in used]
    rate = suite.metric is Metric.RATE
    body = []
    for row in rows:
        known = {one.forebay.stack: one for one in row.comparisons}
        cells = [_ratio_cell(known.get(stack.name)) for stack in stacks]
        body.append((*_case_cells(row), *_reference_cells(suite, row), *cells, *_ending(row, rate)))
    reference = ("best incumbent", "its MiB/s", "Forebay's best MiB/s") if rate else ()
    ending = ("with open, sync, close", "of limit", "asked") if rate else ("asked",)
    header = (*CASE_HEADER, *reference, *(stack.mpi.label for stack in stacks), *ending)
    return TextTable(title=title, header=header, rows=tuple(body))


def _reference_cells(suite: Suite, row: CaseSummary) -> tuple[str, ...]:
    if suite.metric is not Metric.RATE:
        return ()
    best = STACKS[row.best.stack].label if row.best else "-"
    chosen = row.chosen
    ours = "-"
    if chosen is not None:
        on = STACKS[chosen.forebay.stack].mpi.label
        ours = f"{spread_text(chosen.forebay.value)} on {on}"
    return best, spread_text(row.best.value if row.best else None), ours


def _ratio_cell(one: Comparison | None) -> str:
    if one is None:
        return "-"
    if one.forebay.value is None:
        return one.forebay.note
    text = f"{ratio_text(one.ratio)} {MARK[one.verdict]}".strip()
    return f"{text} {one.forebay.note}".strip()


def _ending(row: CaseSummary, rate: bool) -> tuple[str, ...]:
    goal = row.case.target
    asked = []
    if goal.ratio_min is not None:
        asked.append(f"≥ {goal.ratio_min:.2f}×")
        if not rate:
            asked.append(f"that is ≤ {1 / goal.ratio_min:.2f}× the time")
    if goal.seconds_max is not None:
        asked.append(f"< {goal.seconds_max:g} s")
    words = ", ".join(asked) or "-"
    if not rate:
        return (words,)
    chosen = row.chosen
    share = "-"
    if chosen is not None and chosen.forebay.value is not None and row.limit:
        share = f"{100 * chosen.forebay.value.median / row.limit:.0f} % of {number(row.limit)}"
    return ratio_text(chosen.whole_ratio if chosen else None), share, words


def _forebay_memory(suite: Suite, title: str, rows: Sequence[CaseSummary]) -> TextTable:
    body = []
    for row in rows:
        for one in row.comparisons:
            most = row.case.target.mebibytes_max
            more = "-" if one.grown_more is None else f"{one.grown_more:+.1f}"
            asked = "-" if most is None else f"≤ {most:g}"
            stack = STACKS[one.forebay.stack]
            ours = f"{_stack_cell(one.forebay)} {MARK[one.verdict]}".strip()
            body.append((*_case_cells(row), stack.mpi.label, ours, more, asked))
    header = (*CASE_HEADER, "MPI", "grown, MiB", "more than plain", "asked")
    return TextTable(title=title, header=header, rows=tuple(body))


def limit_table(limits: Sequence[Limit]) -> TextTable:
    """The machine's limits, as medians over the blocks."""
    grouped: dict[tuple[str, str, int, int], list[float]] = {}
    for one in limits:
        key = (one.storage.value, one.name, one.piece_bytes, one.threads)
        grouped.setdefault(key, []).append(one.mebibytes_per_second)
    threads = sorted({key[3] for key in grouped})
    names = dict.fromkeys((storage, name, piece) for storage, name, piece, _ in grouped)
    body = []
    for storage, name, piece in sorted(names):
        cells = [
            number(median(found)) if (found := grouped.get((storage, name, piece, n))) else "-"
            for n in threads
        ]
        body.append((storage, name, size_label(piece) if piece else "", *cells))
    header = ("storage", "work", "pieces", *(f"{n} thread{'s' * (n > 1)}, MiB/s" for n in threads))
    return TextTable(title="The machine's limits", header=header, rows=tuple(body))


def terminal(table: TextTable) -> RichTable:
    """The table for a rich console."""
    rich = RichTable(title=table.title, header_style="bold", title_justify="left")
    for index, name in enumerate(table.header):
        rich.add_column(name.replace("`", ""), justify="left" if index < 1 else "right")
    for row in table.rows:
        rich.add_row(*(_rich_cell(cell) for cell in row))
    return rich


def _rich_cell(cell: str) -> str:
    plain = cell.replace("[", "\\[").replace("`", "")
    if plain.startswith("**"):
        return "[bold]" + plain.replace("**", "", 1).replace("**", "[/bold]", 1)
    return plain


def markdown(table: TextTable) -> str:
    """The table in Markdown."""
    lines = [f"**{table.title}**", ""]
    lines.append(_line(table.header))
    lines.append(_line("---" for _ in table.header))
    lines += [_line(row) for row in table.rows]
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
