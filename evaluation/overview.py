"""Makes the table and the picture of docs/performance.md from the tables in docs/performance/*.md.

    python -m evaluation.overview [FOLDER]

FOLDER (docs) has performance.md, performance.svg and performance/. Nothing is measured here: the
tables are summed up, and no number is written by hand. `python -m evaluation report` does the same
at its end.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from evaluation.model import BenchError
from evaluation.overview_picture import Dot, Row, draw
from evaluation.report import fill
from evaluation.tables import TextTable, markdown, number
from forebay.common.model.frozen import frozen

ROOT = Path(__file__).resolve().parents[1]
MARKER = "overview"
SUITES = ("interleaved", "pieces16", "contiguous")
TABLE = re.compile(r"^\*\*([^*\n]+)\*\*\n\n\|(.+)\|\n\|[- |]+\|\n((?:\|.*\|\n)+)", re.MULTILINE)
NUMBER = re.compile(r"\d+(?:\.\d+)?")
# Short names of two patterns in the overview; the others keep their names.
SIXTEEN = "16 B pieces"
SIXTEEN_HINTED = "16 B pieces, small cb_buffer_size"


@frozen
class Measured:
    """One row of a table: MiB/s, and the ratio of speeds to the best incumbent's."""

    group: str
    operation: str
    storage: str
    incumbent: float
    ours: float
    ratio: float
    low: float
    high: float
    share: int


def tables_of(text: str) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """The title and the rows of each table; a row maps the columns' names to cells."""
    for title, header, body in TABLE.findall(text + "\n"):
        names = [cell.strip() for cell in header.split("|")]
        lines = [line.strip().strip("|").split("|") for line in body.splitlines()]
        yield (
            title,
            [dict(zip(names, (c.strip() for c in cells), strict=True)) for cells in lines],
        )


def group_of(pattern: str) -> str:
    """The pattern's line in the overview: patterns that differ only in memory share one."""
    if pattern.startswith("16 B"):
        return SIXTEEN_HINTED if "cb_buffer_size" in pattern else SIXTEEN
    return re.sub(r"^(\d+ \w+) n?c$", r"\1 regions, interleaved", pattern)


def first(text: str) -> float:
    return float(NUMBER.findall(text)[0])


def ratio_of(text: str) -> tuple[float, float, float]:
    """The estimate and its ends in `2.31 [1.98, 2.70]`, `2.31 (1.9-2.7, n=3)` or `2.31 (n=1)`."""
    estimate, *rest = (float(one) for one in NUMBER.findall(text))
    return (estimate, rest[0], rest[1]) if len(rest) > 1 else (estimate, estimate, estimate)


def measured(text: str) -> Iterator[Measured]:
    """The rows of the tables with Forebay's results."""
    for title, rows in tables_of(text):
        found = re.search(r" on (\w+): Forebay$", title)
        if not found:
            continue
        for row in rows:
            ours, mpi = row["Forebay's best MiB/s"].split(" on ")
            ratio, low, high = ratio_of(row[mpi])
            yield Measured(
                group=group_of(row["pattern"]),
                operation=row["op"],
                storage=found[1],
                incumbent=first(row["its MiB/s"]),
                ours=first(ours),
                ratio=ratio,
                low=low,
                high=high,
                share=round(first(row["of limit"])),
            )


def span(values: Sequence[float], spell: Callable[[float], str] = number) -> str:
    """`1.4` if all values are equal when spelled, else `1.4 – 2.6`."""
    ends = list(dict.fromkeys(spell(value) for value in (min(values), max(values))))
    return " – ".join(ends)


def two_places(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def grouped(rows: Sequence[Measured]) -> dict[tuple[str, str], list[Measured]]:
    """The rows by pattern and operation, in the tables' order; writes come beside reads."""
    groups: dict[tuple[str, str], list[Measured]] = {}
    for name in dict.fromkeys(row.group for row in rows):
        for row in rows:
            if row.group == name:
                groups.setdefault((name, row.operation), []).append(row)
    return groups


def speed_table(rows: Sequence[Measured]) -> TextTable:
    body = []
    for (name, operation), found in grouped(rows).items():
        body.append(
            (
                name,
                operation,
                span([one.incumbent for one in found]),
                span([one.ours for one in found]),
                span([one.ratio for one in found], two_places),
                f"{span([one.share for one in found], lambda share: f'{share:.0f}')} %",
            )
        )
    return TextTable(
        title="Speed",
        header=(
            "pattern",
            "op",
            "best incumbent, MiB/s",
            "Forebay, MiB/s",
            "ratio",
            "share of the machine's limit",
        ),
        rows=tuple(body),
    )


def other_table(memory: str, open_close: str) -> TextTable:
    """The table of costs that must not grow: memory, and the time to open and close."""
    held: dict[bool, list[float]] = {True: [], False: []}
    for title, rows in tables_of(memory):
        ours = title.endswith("Forebay")
        for row in rows:
            cells = [row["grown, MiB"]] if ours else [c for n, c in row.items() if "MPI" in n]
            known = [first(cell) for cell in cells if not cell.startswith((">", "-"))]
            if row["pattern"].startswith("10,000,000"):
                held[ours] += known
    ratios = [
        ratio_of(cell)[0]
        for title, rows in tables_of(open_close)
        if title.endswith("Forebay")
        for row in rows
        for name, cell in row.items()
        if "MPI" in name
    ]
    body = (
        ("memory that a rank grows by, 10 million pieces (MiB)", span(held[False]),
         span(held[True])),
        ("speed of opening and closing a file, the same MPI being 1", "1", span(ratios)),
    )  # fmt: skip
    return TextTable(
        title="Memory, opening and closing",
        header=("what", "without Forebay", "with Forebay"),
        rows=body,
    )


def picture_rows(rows: Sequence[Measured]) -> list[Row]:
    return [
        Row(
            label=f"{name}, {operation}",
            dots=tuple(Dot(one.storage, one.ratio, one.low, one.high) for one in found),
        )
        for (name, operation), found in grouped(rows).items()
    ]


def overview(folder: Path) -> tuple[str, str]:
    """The text between the markers of performance.md, and the picture."""
    texts = {
        name: (folder / "performance" / f"{name}.md").read_text(encoding="utf-8")
        for name in (*SUITES, "memory", "open_close")
    }
    rows = [row for name in SUITES for row in measured(texts[name])]
    if not rows:
        raise BenchError(
            f"No table of Forebay's results in {folder}/performance. "
            "Run `python -m evaluation report`."
        )
    shown = (speed_table(rows), other_table(texts["memory"], texts["open_close"]))
    return "\n\n".join(markdown(table) for table in shown), draw(picture_rows(rows))


def write(folder: Path) -> None:
    text, picture = overview(folder)
    page = folder / "performance.md"
    page.write_text(fill(page.read_text(encoding="utf-8"), MARKER, text), encoding="utf-8")
    (folder / "performance.svg").write_text(picture, encoding="utf-8")


def main(words: Sequence[str]) -> int:
    folder = Path(words[0]) if words else ROOT / "docs"
    try:
        write(folder)
    except (BenchError, OSError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    print(f"{folder}/performance.md and {folder}/performance.svg are up to date.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
