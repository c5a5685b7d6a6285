"""A layout as text and JSON."""

import sys
from collections.abc import Iterator
from typing import Any, Union

from rich.console import Console
from rich.table import Table
from rich.text import Text

from forebay.common.model.printable import printable
from forebay.common.model.units import counted, exact_bytes
from forebay.common.report.output import plain
from forebay.layout.model import Component, Layout, LayoutChange


def layout_as_json(value: Union[Layout, LayoutChange]) -> Any:
    """The layout in the schema forebay.layout/1."""
    layout = value.layout if isinstance(value, LayoutChange) else value
    made: dict[str, Any] = {"made": False, "complaint": None}
    if isinstance(value, LayoutChange):
        made = {"made": value.made, "complaint": value.complaint}
    fields = {{"origin": "from"}.get(key, key): one for key, one in plain(layout).items()}
    return {"schema": "forebay.layout/1", **fields, **made}


def print_layout(layout: Layout) -> None:
    """Prints a layout, and a table of its components if it has several."""
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    console.print(Text(printable(layout.path), style="bold"))
    for line in _lines(layout):
        console.print(Text("  " + line))
    if len(layout.components) > 1:
        console.print(_table(layout))


def _lines(layout: Layout) -> Iterator[str]:
    if not layout.is_known:
        yield "one target: its file system tells of no stripes"
        return
    stripe = exact_bytes(layout.stripe_bytes) if layout.stripe_bytes else "the default size"
    targets = "all targets" if layout.targets is None else counted(layout.targets, "target")
    new = "new files: " if layout.is_directory else ""
    yield f"{layout.file_system}: {new}{targets}, stripes of {stripe}"
    if layout.is_directory:
        yield f"from: {printable(layout.origin) or 'the default of the file system'}"
    if len(layout.components) == 1:
        yield from _details(layout.components[0])


def _details(one: Component) -> Iterator[str]:
    if one.placement != "striped":
        yield f"its data are {_PLACES.get(one.placement, one.placement)}"
    if one.object_bytes:
        yield f"objects of {exact_bytes(one.object_bytes)}, each on an OSD of CephFS's choice"
    if one.osts:
        yield f"OSTs {', '.join(str(index) for index in one.osts)}"
    if one.pool:
        yield f"pool {printable(one.pool)}"


_PLACES = {
    "metadata": "with the metadata",
    "released": "in the archive only",
    "foreign": "outside of the file system",
}


def _table(layout: Layout) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("", "from", "to", "targets", "stripe", "OSTs", "pool", ""):
        table.add_column(name, no_wrap=True)
    for one in layout.components:
        table.add_row(
            "  *" if one.chosen else "   ",
            exact_bytes(one.begin),
            "end" if one.end is None else exact_bytes(one.end),
            "all" if one.stripe_count < 0 else str(one.stripe_count),
            exact_bytes(one.stripe_bytes),
            ",".join(str(index) for index in one.osts),
            printable(one.pool),
            ", ".join(_remarks(one)),
        )
    return table


def _remarks(one: Component) -> Iterator[str]:
    if one.placement != "striped":
        yield _PLACES.get(one.placement, one.placement)
    if one.role != "data":
        yield one.role
    if one.mirror:
        yield f"mirror {one.mirror}"
    if one.stale:
        yield "stale"
    if not one.initialised and one.role == "data":
        yield "not used yet"
