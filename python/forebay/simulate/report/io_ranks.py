"""The output of `forebay simulate --io-ranks`."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from forebay.common.model.output_format import Format
from forebay.common.model.printable import printable
from forebay.common.model.units import counted, human_bytes
from forebay.common.report.output import json_pretty, plain
from forebay.simulate.model.io_ranks import OutputSimulation


def show_output_simulations(results: Sequence[OutputSimulation], form: Format) -> None:
    """Prints the results, at least one, on standard output."""
    if form is Format.JSON:
        schema = "forebay.simulations.io_ranks/1"
        print(json_pretty({"schema": schema, "results": plain(list(results))}))
        return
    one = results[0]
    print(
        f"{counted(one.steps, 'burst')} of {human_bytes(one.bytes // one.steps)} in "
        f"{counted(one.files, 'file')}, {one.interval:g} s of computing before each"
    )
    table = Table(box=None)
    table.add_column("variant")
    for column in (
        "ranks", "exposed, a burst", "of it waiting for room", "opening, closing",
        "written after the end",
    ):  # fmt: skip
        table.add_column(column, justify="right")
    for one in results:
        table.add_row(
            printable(one.variant),
            str(one.ranks),
            f"{one.exposed_each:.3f} s",
            f"{one.waited_for_room / one.steps:.3f} s",
            f"{one.metadata:.3f} s",
            f"{one.written_after:.3f} s",
        )
    Console().print(table)
    for one in results:
        if one.io_ranks > 0:
            print(
                f"{one.variant}: {counted(one.io_ranks, 'I/O rank')} in "
                f"{counted(one.spread, 'group')}, besides those that compute"
            )
    print("exposed: what the program took beyond its computing, without opening and closing")
