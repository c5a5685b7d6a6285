"""`forebay layout show|set`: parses the command line, reads or sets a layout, prints it."""

import sys
from pathlib import Path
from typing import Annotated, Optional

import typer

from forebay.common.model.errors import UsageError
from forebay.common.model.named_path import named_path
from forebay.common.model.output_format import Format
from forebay.common.model.printable import printable
from forebay.common.model.units import parse_bytes
from forebay.common.options import FormatOption, option
from forebay.common.report.output import json_pretty
from forebay.layout import SHORT_HELP
from forebay.layout.model import WantedLayout
from forebay.layout.report import layout_as_json, print_layout
from forebay.world import real_world

HELP = """See and set how files lie over storage targets (Lustre, CephFS).

A file's bytes go round over its targets, one stripe after the other: more targets give a large file
more bandwidth, and cost every small file more messages. A file's layout is fixed when it gets its
first byte, so it is chosen before: for a new file, or for a directory and all files to come in it.

\b
Examples:
  forebay layout show /scratch/me/restart.nc
  forebay layout set -c 8 -S 4m /scratch/me/restarts     a directory, for new files in it
  forebay layout set -c 8 /scratch/me/new.nc             a new file, made empty

A program can ask by itself: MPI_Info striping_factor and striping_unit take effect when it creates
a file, and so do `forebay run --set striping_factor=8 --set striping_unit=4m`.
"""

SHOW_HELP = """Show the layout of a file, or the one that new files in a directory get.

\b
In its output:
  targets, stripe    what Forebay takes for the whole file
  from               of a directory: where its layout comes from
  components         ranges of a file that are striped differently (Lustre's progressive layouts);
                     * marks the one that stands for the whole file: of an empty file the last, else
                     the one that holds most of it

\b
Examples:
  forebay layout show .
  forebay layout show --format json /scratch/me/restart.nc

\b
Exit status:
  0  shown (a file system without stripes is shown as one target)
  1  there is no such path, or its layout cannot be read
"""

SET_HELP = """Give a new or empty file, or a directory, a layout, and read back what came of it.

A missing PATH is made, as an empty file. A file that has bytes keeps its layout; copy it to a new
one. What is not said stays as it is.

\b
Examples:
  forebay layout set -c 4 -S 1m new.nc      4 targets, stripes of 1 MiB
  forebay layout set -c all big.nc          all targets (Lustre)
  forebay layout set -c 8 -S 4m restarts/   for new files in a directory
  forebay layout set -c 2 --pool flash f    in a pool

\b
Exit status:
  0  set, and read back as asked for
  1  not set, or not as asked for: the message says why
  2  wrong option, or a number out of range
"""

_ALL = "all"
_TARGETS_MAX = 65536
_FIRST_MAX = 65534
_STRIPE_MAX = (4 << 30) - 1
_DIGITS_MAX = 20  # longer numbers are out of range, so they are not converted


Where = Annotated[
    Path, typer.Argument(metavar="PATH", help="A file or a directory.", parser=named_path)
]


def show(path: Where, form: FormatOption = Format.TEXT) -> None:
    """Shows a layout."""
    layout = real_world().layouts.show(path)
    if form is Format.JSON:
        print(json_pretty(layout_as_json(layout)))
    else:
        print_layout(layout)


def set_(
    path: Where,
    count: Annotated[
        Optional[str], option("-c --striping-factor", "N", "Targets of a file; `all` on Lustre.")
    ] = None,
    unit: Annotated[
        Optional[str], option("-S --striping-unit", "SIZE", "Stripe size, as in 4m.")
    ] = None,
    first: Annotated[int, option("-i --first-ost", "INDEX", "First target (Lustre).")] = -1,
    pool: Annotated[str, option("-p --pool", "NAME", "Pool.")] = "",
    form: FormatOption = Format.TEXT,
) -> None:
    """Sets a layout."""
    wanted = WantedLayout(
        stripe_count=_count(count), stripe_bytes=_bytes(unit), first_ost=_first(first), pool=pool
    )
    if not wanted.says_something:
        raise UsageError("cannot set a layout (none is asked for). Give -c, -S, -i or -p.")
    change = real_world().layouts.set(path, wanted)
    if form is Format.JSON:
        print(json_pretty(layout_as_json(change)))
    else:
        print_layout(change.layout)
    if change.complaint is not None:
        print(f"forebay: {printable(change.complaint)}", file=sys.stderr)
        raise typer.Exit(1)


def attach(app: typer.Typer) -> None:
    """Adds `layout` with its subcommands to `app`."""
    group = typer.Typer(help=HELP, no_args_is_help=True, rich_markup_mode=None)
    group.command("show", help=SHOW_HELP, short_help="Show how a file lies over targets.")(show)
    group.command(
        "set",
        help=SET_HELP,
        short_help="Choose the layout of a new file, or of new files in a directory.",
    )(set_)
    app.add_typer(group, name="layout", short_help=SHORT_HELP)


def _count(text: Optional[str]) -> int:
    if text is None:
        return 0
    if text == _ALL:
        return -1
    is_number = text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX
    if not is_number or not 1 <= int(text) <= _TARGETS_MAX:
        raise UsageError(
            f'cannot use -c "{text}" (not a count of targets). Give 1 to {_TARGETS_MAX}, or all.'
        )
    return int(text)


def _first(index: int) -> int:
    if not -1 <= index <= _FIRST_MAX:
        raise UsageError(
            f"cannot use -i {index} (no target has such an index). Give 0 to {_FIRST_MAX}, "
            "or -1 for any."
        )
    return index


def _bytes(text: Optional[str]) -> int:
    if text is None:
        return 0
    size = parse_bytes(text) if len(text) <= 2 * _DIGITS_MAX else None
    if not size or size > _STRIPE_MAX:
        raise UsageError(
            f'cannot use -S "{text}" (not a size of stripes). Give one from 64k to below 4g.'
        )
    return size
