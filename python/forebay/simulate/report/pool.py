"""The output of `forebay simulate --pool`."""

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from forebay.common.model.output_format import Format
from forebay.common.model.units import counted, human_bytes
from forebay.common.report.output import json_pretty, plain
from forebay.simulate.model.pool import PoolSimulation


def show_pool_simulation(result: PoolSimulation, form: Format) -> None:
    """Prints the result on standard output."""
    if form is Format.JSON:
        print(json_pretty({"schema": "forebay.simulation.pool/1", **plain(result)}))
        return
    print(
        f"{counted(result.ranks, 'rank')} on {counted(result.nodes, 'node')}: "
        f"{counted(result.steps, 'burst')} of {human_bytes(result.bytes // result.steps)}, "
        f"{result.interval:g} s of computing before each"
    )
    table = Table(box=None)
    table.add_column("")
    for column in ("waited", "of it collecting", "longest burst", "whole program", "requests"):
        table.add_column(column, justify="right", no_wrap=True)
    for name, way in (("without", result.plain), ("pool", result.pooled)):
        seconds = (way.exposed, way.gathered, way.longest, way.seconds)
        table.add_row(name, *(f"{one:.3f} s" for one in seconds), str(way.requests))
    Console().print(table)
    for line in _lines(result):
        print(line)


def _lines(one: PoolSimulation) -> Iterator[str]:
    if one.hidden < 0:
        yield "hidden: nothing, the program waits longer through the pool"
    else:
        yield f"hidden: {100 * one.hidden:.1f} % of the waiting"
    yield (
        f"memory: {human_bytes(one.high_bytes)} at most on a node (cap "
        f"{human_bytes(one.cap_bytes)}), {human_bytes(one.file_high_bytes)} of a file (window "
        f"{human_bytes(one.window_bytes)})"
    )
    if one.plain.input_bytes > 0:
        yield (
            f"input: {human_bytes(one.plain.input_bytes)} came from the file system in "
            f"{one.plain.reading:.3f} s, through the pool {human_bytes(one.pooled.input_bytes)} in "
            f"{one.pooled.reading:.3f} s"
        )
    if one.pooled.passed_bytes > 0:
        yield f"nodes passed {human_bytes(one.pooled.passed_bytes)} of it on to each other"
    if one.waited_for_room >= 0.0005:
        yield f"a writer waited {one.waited_for_room:.3f} s for room in the pool"
    if one.drained_after > 0:
        yield f"all was with the file system {one.drained_after:.3f} s after the program's end"
    else:
        yield "all was with the file system before the program's end"
    if one.closed_early:
        past = human_bytes(one.bytes_past)
        yield f"the pool closed before the end of the batch job; {past} went past it"
    if one.nodes > 1:
        yield (
            f"{counted(one.messages, 'message')} between daemons for "
            f"{counted(one.opened, 'opened file')}"
        )
