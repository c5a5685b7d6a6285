"""Holds a log against a portrait of the file system: whether it explains the log's seconds, and how
long storage would take with Forebay."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from forebay_tuning.model.coverage import log_interval_of_seconds, response_of
from forebay_tuning.model.evidence import Workload
from forebay_tuning.model.placement import point_of_forebay
from forebay_tuning.model.point import Direction
from forebay_tuning.model.portrait import Portrait
from forebay_tuning.model.present import disagreement, present_point, usual_nodes
from forebay_tuning.model.program_io import LayerIo, ProgramIo
from forebay_tuning.model.program_workloads import workloads_of
from forebay_tuning.report.model.diagnosis import ProgramDiagnosis
from forebay_tuning.report.model.waits import Wait

_LONGER = (
    "Something held this run up that probes did not meet (other load, a slow target, waiting for "
    "other ranks), or the portrait is of another machine."
)
_SHORTER = (
    "A cache may have taken it in, or the portrait is of another machine, or of a busier hour."
)


def held_against(diagnosis: ProgramDiagnosis, portrait: Portrait) -> ProgramDiagnosis:
    """`diagnosis` with the portrait, and a note for each direction whose seconds that does not
    explain."""
    program = diagnosis.program
    nodes = program.nodes or usual_nodes(program.ranks, portrait)
    notes = (note for one in workloads_of(program, nodes=nodes) for note in _notes(one, portrait))
    return replace(diagnosis, notes=(*diagnosis.notes, *notes), portrait=portrait)


def _notes(workload: Workload, portrait: Portrait) -> Iterator[str]:
    response = response_of(portrait, workload.direction, files=workload.files)
    if response is None:
        return
    predicted = response.seconds(present_point(workload, portrait, response))
    differs = disagreement(workload, predicted)
    if differs and workload.seconds:
        yield f"{differs}. {_LONGER if workload.seconds > predicted else _SHORTER}"


def storage_seconds(
    wait: Wait, mpi: LayerIo, direction: Direction, program: ProgramIo, portrait: Portrait
) -> tuple[float, float] | None:
    """The interval of the seconds that storage takes by the portrait if Forebay's aggregators move
    the bytes of the wait's collective calls; None if the direction was not probed."""
    response = response_of(portrait, direction)
    passing, file = mpi.passing(direction), wait.file
    if response is None or passing.bytes == 0:
        return None
    ranks = max(1, mpi.ranks)
    call = max(1, passing.bytes // passing.calls)
    nodes = program.nodes or usual_nodes(program.ranks, portrait)
    workload = Workload(
        direction=direction,
        ranks=ranks,
        nodes=min(nodes, ranks),
        file_bytes=passing.bytes,
        transfer_bytes=call,
        call_bytes=call * ranks,
        collective=True,
        stripe_count=file.stripe_count,
        stripe_bytes=file.stripe_bytes,
    )
    identity = portrait.identity
    point = point_of_forebay(
        workload, stripe_count=identity.stripe_count, stripe_bytes=identity.stripe_bytes
    )
    seconds = response.seconds_moving(point)
    doubt = math.exp(log_interval_of_seconds(point, response))
    return seconds / doubt, seconds * doubt
