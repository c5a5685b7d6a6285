"""Terminal output: progress while the demo works, tables when it is done."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from demo.experiment import Comparison
from demo.summary import rows, setting, spread_text, untouched, verdict


class Announcer:
    """One bar over all parts of the demo; on a file or pipe, one line a part."""

    def __init__(self, console: Console, *, parts: int) -> None:
        self._console = console
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed}/{task.total}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("starting", total=parts, completed=-1)

    def __enter__(self) -> "Announcer":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def __call__(self, part: str) -> None:
        """The part before is done, `part` begins."""
        self._progress.update(self._task, description=part, advance=1)
        if not self._console.is_terminal:
            self._console.print(f"· {part}", highlight=False)


def show(console: Console, comparison: Comparison) -> None:
    """One comparison as a table, its verdict and the proof that the bytes are the same."""
    pairs = len(comparison.pairs)
    medians = f"medians of {pairs} pairs" if pairs > 1 else "one pair"
    table = Table(title=f"{comparison.variant.title}, {medians}", title_justify="left")
    table.add_column("")
    table.add_column("plain", justify="right")
    table.add_column("through Forebay", justify="right", style="bold")
    table.add_column("", style="dim")
    for row in rows(comparison):
        table.add_row(row.name, row.plain, row.forebay, row.note)
    console.print()
    console.print(setting(comparison), highlight=False, style="dim")
    console.print(table)
    console.print(f"ratio plain ÷ Forebay: {spread_text(comparison.ratio)}", highlight=False)
    console.print(verdict(comparison.ratio), style="bold cyan", highlight=False)
    for name, digest in comparison.digests.items():
        console.print(
            f"[bold green]✓ same bytes[/] in all {2 * pairs} runs: {name}, "
            f"SHA-256 {digest[:16]}…{digest[-4:]}",
            highlight=False,
        )
    for line in untouched(comparison):
        console.print(f"left to the MPI: {line}", style="dim", highlight=False)


def show_files(console: Console, files: Sequence[tuple[str, Path]]) -> None:
    """Where everything was left."""
    console.print()
    for what, path in files:
        console.print(f"{what:<20} {path}", highlight=False, soft_wrap=True)
