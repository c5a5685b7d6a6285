"""The output of `forebay simulate --independent`."""

from collections.abc import Iterator

from forebay.common.model.output_format import Format
from forebay.common.model.units import counted, human_bytes, human_rate
from forebay.common.report.output import json_pretty, plain
from forebay.simulate.model.independent import SCHEMA, IndependentSimulation


def show_independent_simulation(result: IndependentSimulation, form: Format) -> None:
    """Prints the result on standard output."""
    if form is Format.JSON:
        print(json_pretty({"schema": SCHEMA, **plain(result)}))
        return
    for line in _lines(result):
        print(line)


def _lines(one: IndependentSimulation) -> Iterator[str]:
    yield (
        f"{one.processes} process{'' if one.processes == 1 else 'es'} on "
        f"{counted(one.nodes, 'node')} {one.direction} {human_bytes(one.bytes)}, "
        f"{counted(one.files, 'file')} of {counted(one.stripe_count, 'stripe')}"
    )
    yield f"opening {one.seconds_open:.6f} s"
    yield f"moving  {one.seconds_moving:.6f} s: {human_rate(one.rate)}" + (
        f", {human_rate(one.steady_rate)} in between" if one.steady_rate > 0 else ""
    )
    yield f"closing {one.seconds_close:.6f} s"
    yield (
        f"{counted(one.requests, 'request')} of {human_bytes(one.request_bytes)} together; nodes "
        f"asked for {counted(one.locks_asked, 'lock')}, others lost {one.locks_lost} by that"
    )
