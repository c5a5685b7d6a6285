"""The workloads that the I/O of a program makes: what advice is given for."""

from __future__ import annotations

import math
from collections.abc import Sequence

from forebay_tuning.model.evidence import Workload
from forebay_tuning.model.point import Direction
from forebay_tuning.model.program_io import FileIo, ProgramIo, reads_all

_SHARE_THAT_COUNTS = 0.2
"""Share of the program's bytes: directions with less are ignored."""


def workloads_of(program: ProgramIo, *, nodes: int | None) -> tuple[Workload, ...]:
    """The workload of each direction, by the kind of files with most of its bytes. A direction with
    less than a fifth of all bytes is left out."""
    found = []
    on = min(program.ranks, program.nodes or nodes or 1)
    for direction in Direction:
        total = sum(one.passing(direction).bytes for one in program.files)
        if total == 0 or total < _SHARE_THAT_COUNTS * program.bytes:
            continue
        found.append(_workload(program, direction, on))
    return tuple(found)


def _workload(program: ProgramIo, direction: Direction, nodes: int) -> Workload:
    groups: dict[tuple[bool, bool], list[FileIo]] = {}
    for one in program.files:
        if one.passing(direction).bytes:
            same = direction is Direction.READ and reads_all(one)
            groups.setdefault((one.rank is None, same), []).append(one)
    (shared, same), files = max(
        groups.items(), key=lambda item: sum(one.passing(direction).bytes for one in item[1])
    )
    moved = sum(one.passing(direction).bytes for one in files)
    ranks = program.ranks if shared else len({one.rank for one in files})
    largest = max(files, key=lambda one: (one.files == 1, one.passing(direction).bytes))
    passing = largest.passing(direction)
    calls = sum(one.passing(direction).calls for one in files)
    count = sum(one.files for one in files)
    return Workload(
        direction=direction,
        ranks=max(1, ranks),
        nodes=max(1, min(nodes, ranks)),
        file_bytes=max(1, largest.extent if same else moved // count),
        files=count,
        shared=shared,
        transfer_bytes=passing.usual_transfer or max(1, moved // max(1, calls)),
        call_bytes=_call_bytes(largest, direction),
        collective=largest.collective,
        same_bytes=same,
        stripe_count=largest.stripe_count,
        stripe_bytes=largest.stripe_bytes,
        file_system=largest.file_system,
        directory=largest.path.rpartition("/")[0] or None,
        seconds=min(_longest(files), program.seconds or math.inf) or None,
        run_seconds=program.seconds or None,
        seconds_meta=sum(one.seconds_meta for one in files) / max(1, ranks),
        source=program.source,
    )


def _call_bytes(file: FileIo, direction: Direction) -> int | None:
    """The mean bytes of all ranks together in one collective call; None if not known."""
    passing = file.passing(direction)
    if not file.collective or not passing.collective_calls or not passing.collective_bytes:
        return None
    return max(1, passing.collective_bytes * file.ranks // passing.collective_calls)


def _longest(files: Sequence[FileIo]) -> float:
    """The longest time: of one shared file, or of all files that a single rank has for itself."""
    alone: dict[int, float] = {}
    for one in files:
        if one.rank is not None:
            alone[one.rank] = alone.get(one.rank, 0.0) + one.slowest_seconds
    shared = (one.slowest_seconds for one in files if one.rank is None)
    return max([*shared, *alone.values()], default=0.0)
