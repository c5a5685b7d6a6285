"""Explains why nothing went through the pool of a run: the certain reason, or else likely ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from forebay.common.model.frozen import frozen
from forebay.common.model.program import Linkage, ProgramFacts
from forebay.common.model.units import counted
from forebay.pool.use_case.run_pool import PoolOutcome

_NAMED_MAX = 3
_THROUGH = "written through"
"""A text in the daemon's notes that says that it takes no more deposits
(src/pool/daemon/requests/dispatcher*.cpp)."""


@frozen
class Traces:
    """The traces of a run that put nothing into its pool. `written` are files that were written
    meanwhile, by MPI-IO or otherwise; `ending` says how the program failed, None if it did not;
    `is_ours`: we started the program directly, and not a launcher or a script."""

    written: tuple[Path, ...]
    programs: tuple[ProgramFacts, ...]
    ending: str | None
    is_ours: bool
    is_mounted: bool = False
    """Whether the kernel brought the calls of every program to the pool."""


def is_empty(outcome: PoolOutcome) -> bool:
    """Whether nothing went through the pool: its daemon ended normally, nothing was read ahead, and
    no file below its paths was written, as far as the daemon knows."""
    status = outcome.end.status
    if status is None or outcome.end.death or status.files_dropped or status.read_ahead:
        return False
    return not any(file.taken or file.error or file.past_the_pool for file in status.files)


def reasons_for_an_empty_pool(outcome: PoolOutcome, traces: Traces) -> tuple[str, ...]:
    """The reasons, for the user. If it is known where the program wrote, that is the only one."""
    status = outcome.end.status
    if given_up := [note for note in (status.notes if status else ()) if _THROUGH in note]:
        return tuple(given_up)
    paths = ", ".join(str(path) for path in outcome.paths)
    if traces.is_mounted:
        return _reasons_in_a_mount(outcome, traces, paths)
    unseen = [one for one in traces.written if _is_below(one, outcome.paths)]
    elsewhere = [one for one in traces.written if one not in unseen]
    beyond_reach = [
        str(program.obstacle)
        for program in traces.programs
        if program.linkage is Linkage.STATIC or program.is_privileged
    ]
    if beyond_reach:
        return tuple(beyond_reach)
    if unseen:
        return (
            f"{_listed(unseen)} written below {paths}, but by a program that the pool does not "
            "see: it is statically linked, or a launcher or script in between took LD_PRELOAD or "
            "FOREBAY_* out. `forebay doctor --program FILE` looks at an executable.",
        )
    if elsewhere:
        return (
            f"{_listed(elsewhere)} written meanwhile, which is not below {paths}. "
            f"Say --pool {_folder_of(elsewhere)} to have {'it' if len(elsewhere) == 1 else 'them'} "
            "go through the pool.",
        )
    reasons = []
    if traces.ending is not None:
        reasons.append(f"The program {traces.ending}, maybe before it wrote anything.")
    if outcome.end.status is not None and outcome.end.status.files:
        reasons.append(f"Files below {paths} were opened, and nothing was written to them.")
        return tuple(reasons)
    reasons.append(f"The program opened no file below {paths}.")
    if not traces.is_ours:
        reasons.append(
            "LD_PRELOAD or FOREBAY_* did not reach the program (a launcher or script in between "
            "took them out), or it is statically linked."
        )
    return tuple(reasons)


def _reasons_in_a_mount(outcome: PoolOutcome, traces: Traces, paths: str) -> tuple[str, ...]:
    """A mount sees every program, and keeps small files from the pool
    (src/pool/mount/files/pool_route.hpp)."""
    written = [one for one in traces.written if _is_below(one, outcome.paths)]
    if written:
        return (
            f"{_listed(written)} written below {paths}, and a file goes into a mounted pool when "
            "256 KiB were written to it: smaller ones are with the file system at once, and gain "
            "nothing.",
        )
    failed = (f"The program {traces.ending}, maybe before it wrote anything.",)
    return (*(failed if traces.ending else ()), f"The program wrote no file below {paths}.")


def _is_below(path: Path, paths: Sequence[Path]) -> bool:
    return any(path.is_relative_to(one) for one in paths)


def _listed(paths: Sequence[Path]) -> str:
    some = ", ".join(str(path) for path in paths[:_NAMED_MAX])
    if len(paths) > _NAMED_MAX:
        some += f" and {counted(len(paths) - _NAMED_MAX, 'more file')}"
    return f"{some} {'was' if len(paths) == 1 else 'were'}"


def _folder_of(paths: Sequence[Path]) -> str:
    folders = {path.parent for path in paths}
    return str(folders.pop()) if len(folders) == 1 else "FOLDER, for each of their folders"
