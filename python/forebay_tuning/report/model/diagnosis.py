"""Diagnoses a program's I/O: a list of the causes that cost time, the costliest first.

The evidence of a log gives waits (seconds of the run per file); rules turn waits into claims, each
with its proof; claims become the list. The seconds of a wait are shared out only once, so that the
list together never exceeds the run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from forebay.common.model.frozen import frozen
from forebay.common.model.units import counted, human_bytes, human_seconds
from forebay_tuning.model.program_io import FileIo, LibraryIo, ProgramIo, target_rates
from forebay_tuning.model.targets import SickTarget, sick_targets
from forebay_tuning.report.model import (
    causes,
    causes_layout,
    causes_library,
    causes_mpi,
    causes_ranks,
)
from forebay_tuning.report.model.claims import CauseKind, Claim, Rule
from forebay_tuning.report.model.waits import Part, Wait, waits_of

if TYPE_CHECKING:
    from forebay_tuning.model.portrait import Portrait

SHARE_LEAST = 0.05
"""Share of the run: I/O or a trouble that costs less is not worth any change."""
_SHARE_PROVEN = 0.02
"""The same for the causes in `_PROVEN`, where bytes that nobody asked for are hard evidence."""
_SECONDS_LEAST = 1.0
"""Seconds: smaller gains are not told of."""
_PROVEN = (CauseKind.READ_MODIFY_WRITE, CauseKind.SIEVING, CauseKind.SAME_BYTES)
KEEP_MOST = 0.20
"""Share of the run above which I/O without a known cause is not called healthy: only a portrait of
the file system could say so."""
_OFF_IT = (
    "Tell the administrators; until it is mended, keep files off it (a pool of OSTs without it, or "
    "`lfs setstripe -o` with other targets)."
)
_NOTHING_KNOWN = "The log does not say what I/O took, nor what held it back."
_RULES: tuple[Rule, ...] = (
    causes.syncs,
    causes_mpi.read_modify_write,
    causes_mpi.sieving,
    causes_library.chunks,
    causes.same_bytes,
    causes_layout.few_stripes,
    causes.small_calls,
    causes_ranks.root_writer,
    causes_ranks.aggregators,
    causes_ranks.late,
    causes_mpi.exchange,
    causes.locks,
    causes_ranks.uneven,
    causes.metadata,
    causes_mpi.views,
    causes_mpi.opening,
)
"""The rules in the order in which they take from a wait: a cause comes before its consequences, so
that a rank that is slow because it syncs is not reported as load imbalance, too."""


@frozen
class Trouble:
    """One entry of the list. `seconds` is an upper bound for its cost in the run; `proof` is the
    counter that shows it, with value, file and rank."""

    title: str
    detail: str
    action: str
    seconds: float
    kind: CauseKind = CauseKind.SICK
    proof: str = ""
    seconds_by_portrait: float | None = None
    """Seconds of the same calls by a portrait of the file system; None if there is none."""


@frozen
class ProgramDiagnosis:
    """The whole diagnosis. `verdict` is its summary in one or two sentences."""

    program: ProgramIo
    verdict: str
    troubles: tuple[Trouble, ...]
    sick: tuple[SickTarget, ...]
    notes: tuple[str, ...] = ()
    portrait: Portrait | None = None
    """The portrait of the file system, if the user gave one."""

    @property
    def seconds_lost(self) -> float:
        """Seconds that all troubles cost together; never more than the run."""
        return sum(one.seconds for one in self.troubles)


def diagnose(program: ProgramIo) -> ProgramDiagnosis:
    """The diagnosis of a program, from the evidence of a log or a record."""
    sick = sick_targets(target_rates(program.files))
    waits = waits_of(program)
    found = _listed(program, waits, sick)
    return ProgramDiagnosis(
        program=program,
        verdict=_verdict(program, found, _together(program, waits)),
        troubles=found,
        sick=sick,
        notes=(*_notes(program, waits), *(() if found else _hidden(program, waits))),
    )


def with_sick(diagnosis: ProgramDiagnosis, sick: tuple[SickTarget, ...]) -> ProgramDiagnosis:
    """`diagnosis` with slow targets that another source has found, first in the list. Their cost is
    an estimate: all I/O is assumed to wait for the stripes on them."""
    if not sick:
        return diagnosis
    left = diagnosis.program.seconds_io
    found = []
    for one in sick:
        seconds = left * (1 - 1 / one.slower)
        left -= seconds
        found.append(
            Trouble(
                title=f"target {one.target} is sick",
                detail=(
                    f"requests to this storage target (a server's disk array) took "
                    f"{one.slower:.1f} × as long as to the others."
                ),
                action=_OFF_IT,
                seconds=seconds,
                proof=f"slow_targets names target {one.target} in {counted(one.files, 'record')}",
            )
        )
    rest = []
    for other in diagnosis.troubles:
        seconds = min(other.seconds, left)
        left -= seconds
        if seconds >= SHARE_LEAST * diagnosis.program.seconds:
            rest.append(replace(other, seconds=seconds))
    return replace(
        diagnosis,
        verdict=f"What cost most: {found[0].title}.",
        troubles=(*found, *rest),
        sick=sick,
    )


def _verdict(program: ProgramIo, found: tuple[Trouble, ...], together: float = 0.0) -> str:
    """The summary. `together` are seconds in opening files together, if they are worth a note."""
    if program.seconds <= 0 and program.seconds_io > 0:
        worst = f"What cost most: {found[0].title}." if found else "No cause was found."
        return f"I/O took {human_seconds(program.seconds_io)} s of a run of unknown length. {worst}"
    share = min(1.0, program.seconds_io / program.seconds) if program.seconds > 0 else 0.0
    if found:
        return f"I/O took {share:.0%} of the run. What cost most: {found[0].title}."
    if not any(one.opens or one.bytes or one.seconds for one in program.files):
        return "The log tells of no I/O." if program.is_whole else _NOTHING_KNOWN
    if not program.is_whole and program.seconds_io <= 0:
        return _NOTHING_KNOWN
    if program.seconds <= 0:
        return "I/O took no time that the log tells of, in a run of unknown length."
    if not program.is_whole and share <= KEEP_MOST:
        return (
            f"What the log has of I/O took {share:.1%} of the run, and nothing held that back; but "
            "the log does not have all I/O."
        )
    if share < 0.05:
        return f"I/O took {share:.1%} of the run: keep everything as it is."
    if together > 0:
        return (
            f"I/O took {share:.0%} of the run, {human_seconds(together)} s of it in opening and "
            "closing files together; no cause found in the log."
        )
    if share <= KEEP_MOST:
        return (
            f"I/O took {share:.0%} of the run, and nothing in the log held it back: keep "
            "everything as it is."
        )
    return (
        f"I/O took {share:.0%} of the run; no cause found in the log. Only measurements of the "
        "file system say whether it can do better: `forebay probe`, then `forebay advise "
        "--portrait --darshan`."
    )


def _together(program: ProgramIo, waits: tuple[Wait, ...]) -> float:
    """Seconds in opening files together, 0 if these are not worth a note."""
    together = sum(one.seconds[Part.OPENING] for one in waits)
    return together if together >= SHARE_LEAST * program.seconds > 0 else 0.0


def _notes(program: ProgramIo, waits: tuple[Wait, ...]) -> Iterator[str]:
    together = _together(program, waits)
    if together > 0:
        early = ": ranks that came early waited there for the others"
        yield (
            f"{human_seconds(together)} s in opening files, closing them and setting views by "
            "MPI-IO, beyond what the file system took for it"
            f"{early if program.ranks > 1 else ''}"
        )


def _hidden(program: ProgramIo, waits: tuple[Wait, ...]) -> Iterator[str]:
    """A note on writing that could go on while the program computes, where it takes so much that no
    change of calls is known to shorten it."""
    writing = sum(one.seconds[Part.WRITE] for one in waits if _is_at_storage(one))
    meanwhile = min(writing, program.seconds - program.seconds_io)
    if program.pools or not program.is_whole or writing <= KEEP_MOST * program.seconds:
        return
    if meanwhile >= max(_SECONDS_LEAST, SHARE_LEAST * program.seconds):
        written = sum(one.write.bytes for one in program.files)
        yield (
            f"up to {human_seconds(meanwhile)} s of writing could go on while the program "
            "computes: `forebay run --pool FOLDER -- COMMAND` keeps what is written in memory of "
            f"the nodes, as far as it fits ({human_bytes(written)} in all), and writes it out "
            "meanwhile"
        )


def _is_at_storage(wait: Wait) -> bool:
    """Whether writes wait for storage: they are slower than memory, and the program does not ask
    to wait (fsync)."""
    layer = wait.storage
    if layer is None or layer.syncs:
        return False
    movers = 1 if wait.own else max(1, layer.effective_movers)
    return layer.write.bytes < causes.FAST * movers * wait.seconds[Part.WRITE]


def _listed(
    program: ProgramIo, waits: tuple[Wait, ...], sick: tuple[SickTarget, ...]
) -> tuple[Trouble, ...]:
    length = program.seconds or sum(one.total for one in waits)
    least = SHARE_LEAST * length
    kinds: dict[tuple[CauseKind, str], list[Trouble]] = {}
    left = sum(one.total for one in waits)
    for wait in waits:
        if left < least / 20:
            break  # all others together would not be listed
        left -= wait.total
        for one in _of_wait(wait, program, sick):
            name = one.title if one.kind is CauseKind.SICK else ""
            kinds.setdefault((one.kind, name), []).append(one)
    found = [_merged(same) for same in kinds.values()]
    found += _of_libraries(program, waits, sum(one.seconds for one in found))
    chosen = [
        one
        for one in found
        if one.seconds >= least > 0
        or (one.kind in _PROVEN and one.seconds >= _SHARE_PROVEN * length > 0)
    ]
    return tuple(sorted(chosen, key=lambda one: -one.seconds))


def _merged(same: list[Trouble]) -> Trouble:
    """One entry for the same cause in several files, or in reads and writes. Its words are those of
    the worst."""
    worst = max(same, key=lambda one: one.seconds)
    places = {one.proof.rpartition("(")[2] for one in same}
    more = f" ({counted(len(places) - 1, 'other file')} alike)" if len(places) > 1 else ""
    return replace(worst, seconds=sum(one.seconds for one in same), detail=f"{worst.detail}{more}")


def _of_wait(wait: Wait, program: ProgramIo, sick: tuple[SickTarget, ...]) -> Iterator[Trouble]:
    left = dict(wait.seconds)
    synced = 0.0
    if wait.own and sick:
        for trouble in _sickness(program, sick):
            moving = left[Part.WRITE] + left[Part.READ]
            taken = min(trouble.seconds, moving)
            for part in (Part.WRITE, Part.READ):
                left[part] -= taken * left[part] / moving if moving > 0 else 0.0
            yield replace(trouble, seconds=taken)
        return
    for one in _claims(wait, program):
        if one.kind is CauseKind.SMALL and synced >= 0.5:
            continue  # how many of the writes' seconds were no syncs is not known
        whole = wait.seconds[one.part] * (1 - (synced if one.kind is CauseKind.SMALL else 0.0))
        taken = min(left[one.part], max(0.0, one.share) * whole)
        if one.kind is CauseKind.SYNCS:
            synced = one.share
        left[one.part] -= taken
        if taken > 0:
            yield Trouble(
                title=one.title,
                detail=one.detail,
                action=one.action,
                seconds=taken,
                kind=one.kind,
                proof=one.proof,
            )


def _claims(wait: Wait, program: ProgramIo) -> list[Claim]:
    """All claims in the order of `_RULES`, but a single writer comes before its small calls if it
    explains more than they do."""
    found = [claim for rule in _RULES for claim in rule(wait, program)]
    roots = {one.part: one.share for one in found if one.kind is CauseKind.ROOT}
    later = [
        one for one in found if one.kind is CauseKind.SMALL and one.share < roots.get(one.part, 0.0)
    ]
    if not later:
        return found
    kept = [one for one in found if one not in later]
    at = max(n for n, one in enumerate(kept) if one.kind is CauseKind.ROOT) + 1
    return [*kept[:at], *later, *kept[at:]]


def _sickness(program: ProgramIo, sick: tuple[SickTarget, ...]) -> Iterator[Trouble]:
    alone = [one for one in program.files if len(one.targets) == 1 and one.rank is not None]
    for one in sick:
        there = [file for file in alone if file.targets[0] == one.target]
        others = [file.seconds for file in alone if file.targets[0] != one.target]
        if not there or not others:
            continue
        worst = max(there, key=lambda file: file.seconds)
        yield Trouble(
            title=f"target {one.target} is sick",
            detail=(
                f"files on this storage target (a server's disk array) took up to "
                f"{human_seconds(worst.seconds)} s, those on others a median of "
                f"{human_seconds(median(others))} s; it is {one.slower:.1f} × slower over "
                f"{counted(one.files, 'file')}."
            ),
            action=_OFF_IT,
            seconds=max(0.0, worst.seconds - median(others)),
            proof=(
                f"POSIX_F_WRITE_TIME + F_READ_TIME + F_META_TIME = {worst.seconds:.3f} "
                f"({_name(worst)}, rank {worst.rank}, target {one.target})"
            ),
        )


def _of_libraries(program: ProgramIo, waits: tuple[Wait, ...], lost: float) -> list[Trouble]:
    """Time in HDF5 or PnetCDF themselves: their seconds less those of all layers beneath, and at
    most what is left of the run."""
    beneath = sum(one.total for one in waits)
    found = []
    for one in program.libraries:
        seconds = min(one.seconds - beneath, program.seconds - max(lost, beneath))
        if seconds <= 0:
            continue
        found.append(_of_library(one, seconds, beneath))
        beneath += seconds
    return found


def _of_library(one: LibraryIo, seconds: float, beneath: float) -> Trouble:
    path, _, variable = one.costliest.partition(":")
    others = f" and {counted(one.variables - 1, 'other variable')}" if one.variables > 1 else ""
    where = f"{path.rpartition('/')[2]}:{variable}{others}, slowest is rank {one.slowest_rank}"
    return Trouble(
        title=f"{one.name} itself, not I/O beneath it",
        detail=(
            f"{counted(one.calls, 'call')} on {counted(one.variables, 'variable')} took "
            f"{human_seconds(one.seconds)} s of the slowest rank, files beneath them "
            f"{human_seconds(beneath)} s: conversion of types, filters, small selections."
        ),
        action=(
            "Store the type that is in memory, select larger blocks, choose chunks that "
            "selections fill."
        ),
        seconds=seconds,
        kind=CauseKind.LIBRARY,
        proof=(
            f"{one.module}_F_READ_TIME + F_WRITE_TIME + F_META_TIME = {one.seconds:.3f} ({where})"
        ),
    )


def _name(file: FileIo) -> str:
    return file.path.rpartition("/")[2] or file.path
