"""What held a program's I/O back: one list, the costliest first, and nothing in it that cost
nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from statistics import median

from forebay.common.model.frozen import frozen
from forebay.common.model.units import MIB, counted, exact_bytes, human_bytes, human_seconds
from forebay_tuning.model.portrait import SickTarget
from forebay_tuning.model.program_io import FileIo, ProgramIo, reads_all, target_rates
from forebay_tuning.model.targets import sick_targets

SHARE_LEAST = 0.05
"""Of the run: I/O that takes less, or a trouble that costs less, is not worth doing anything."""
_SMALL_CALL = 256 * 1024
_FEW_STRIPES_RANKS = 16
_UNEVEN = 1.5
_EVENLY = "Deal the data more evenly, or let ranks share the writing (collective calls)."
_OFF_IT = (
    "Tell the administrators; until it is mended, keep files off it (a pool without it, or "
    "`lfs setstripe -o` with other targets)."
)


@frozen
class Trouble:
    """One of the list. `seconds`: of the run, that it cost at most."""

    title: str
    detail: str
    action: str
    seconds: float


@frozen
class Diagnosis:
    """All of it. `verdict`: the whole in a sentence."""

    program: ProgramIo
    verdict: str
    troubles: tuple[Trouble, ...]
    sick: tuple[SickTarget, ...]


def diagnose(program: ProgramIo) -> Diagnosis:
    """From a log or a record."""
    sick = sick_targets(target_rates(program.files))
    least = SHARE_LEAST * program.seconds
    found = sorted(
        (
            replace(one, seconds=min(one.seconds, program.seconds))
            for one in _all(program, sick)
            if one.seconds >= least
        ),
        key=lambda one: -one.seconds,
    )
    share = program.seconds_io / program.seconds if program.seconds > 0 else 0.0
    if program.bytes == 0:
        verdict = "The program moved no bytes that the log tells of."
        found = []
    elif share < SHARE_LEAST and not found:
        verdict = f"I/O took {share:.1%} of the run: keep everything as it is."
    elif not found:
        verdict = (
            f"I/O took {share:.0%} of the run, and nothing in the log held it back: keep "
            "everything as it is."
        )
    else:
        verdict = f"I/O took {share:.0%} of the run. What cost most: {found[0].title}."
    return Diagnosis(program=program, verdict=verdict, troubles=tuple(found), sick=sick)


def with_sick(diagnosis: Diagnosis, sick: tuple[SickTarget, ...]) -> Diagnosis:
    """With targets that something else has found to be slow, first in the list: how much they
    cost is not known, but each stripe on them waits."""
    if not sick:
        return diagnosis
    found = tuple(
        Trouble(
            title=f"target {one.target} is sick",
            detail=f"its requests took {one.slower:.1f} × as long as the other targets'.",
            action=_OFF_IT,
            seconds=diagnosis.program.seconds_io * (1 - 1 / one.slower),
        )
        for one in sick
    )
    return replace(
        diagnosis,
        verdict=f"What cost most: {found[0].title}.",
        troubles=(*found, *diagnosis.troubles),
        sick=sick,
    )


def _all(program: ProgramIo, sick: tuple[SickTarget, ...]) -> Iterator[Trouble]:
    yield from _sickness(program, sick)
    if not sick:
        yield from _uneven(program)
        yield from _uneven_together(program)
    yield from _metadata(program)
    yield from _same_bytes(program)
    yield from _small_calls(program)
    yield from _few_stripes(program)


def _sickness(program: ProgramIo, sick: tuple[SickTarget, ...]) -> Iterator[Trouble]:
    alone = [one for one in program.files if len(one.targets) == 1 and one.rank is not None]
    for one in sick:
        there = [file.seconds for file in alone if file.targets[0] == one.target]
        others = [file.seconds for file in alone if file.targets[0] != one.target]
        if not there or not others:
            continue
        yield Trouble(
            title=f"target {one.target} is sick",
            detail=(
                f"files on it took up to {human_seconds(max(there))} s, those on other targets a "
                f"median of {human_seconds(median(others))} s; it is {one.slower:.1f} × slower "
                f"over {counted(one.files, 'file')}."
            ),
            action=_OFF_IT,
            seconds=max(there) - median(others),
        )


def _uneven(program: ProgramIo) -> Iterator[Trouble]:
    """Ranks that others waited for, where each has its file."""
    by_rank: dict[int, float] = {}
    moved: dict[int, int] = {}
    for file in program.files:
        if file.rank is not None and file.bytes >= MIB:
            by_rank[file.rank] = by_rank.get(file.rank, 0.0) + file.seconds
            moved[file.rank] = moved.get(file.rank, 0) + file.bytes
    if len(by_rank) < 4:
        return
    usual = median(by_rank.values())
    slowest = max(by_rank, key=lambda one: by_rank[one])
    if usual <= 0 or by_rank[slowest] < _UNEVEN * usual:
        return
    more = moved[slowest] / max(1.0, median(moved.values()))
    why = f"it moved {more:.1f} × as much" if more > _UNEVEN else "it moved no more than they"
    yield Trouble(
        title=f"others waited for rank {slowest}",
        detail=(
            f"it spent {human_seconds(by_rank[slowest])} s on I/O, the median rank "
            f"{human_seconds(usual)} s; {why}."
        ),
        action=(
            _EVENLY if more > _UNEVEN else "Look at its node, and at the targets of its files."
        ),
        seconds=by_rank[slowest] - usual,
    )


def _uneven_together(program: ProgramIo) -> Iterator[Trouble]:
    """Files that all ranks share, and in which one took much longer than the others. In collective
    calls the others' waiting counts as their own time."""
    for file in program.files:
        usual = file.seconds / max(1, file.ranks)
        if file.rank is not None or file.ranks < 4 or file.collective or file.bytes < MIB:
            continue
        if file.fastest_seconds <= 0 or file.slowest_seconds < _UNEVEN * usual:
            continue
        yield Trouble(
            title=f"others waited for one rank in {file.path}",
            detail=(
                f"of {file.ranks} ranks, the slowest spent {human_seconds(file.slowest_seconds)} s "
                f"on I/O there, the fastest {human_seconds(file.fastest_seconds)} s, and the mean "
                f"is {human_seconds(usual)} s."
            ),
            action=_EVENLY,
            seconds=file.slowest_seconds - usual,
        )


def _metadata(program: ProgramIo) -> Iterator[Trouble]:
    seconds = sum(one.seconds_meta for one in program.files) / max(1, program.ranks)
    opens = sum(one.opens for one in program.files)
    if opens == 0:
        return
    moving = sum(one.write.seconds + one.read.seconds for one in program.files)
    if seconds * program.ranks < 0.3 * (moving + seconds * program.ranks):
        return
    yield Trouble(
        title="opening and closing files",
        detail=(
            f"{opens} opens of {counted(program.file_count, 'file')} took each rank "
            f"{human_seconds(seconds)} s on average, more than a third of its I/O."
        ),
        action="Open files once, by few ranks: one shared file, or fewer I/O processes.",
        seconds=seconds,
    )


def _same_bytes(program: ProgramIo) -> Iterator[Trouble]:
    for file in program.files:
        if not reads_all(file):
            continue
        seconds = max(file.slowest_seconds, file.read.seconds / file.ranks)
        yield Trouble(
            title=f"all ranks read the same bytes of {_name(file)}",
            detail=(
                f"{file.ranks} ranks read {human_bytes(file.read.bytes)} of a file of "
                f"{human_bytes(file.extent)}."
            ),
            action="Let one rank of each node read it and pass it on; give the file more stripes.",
            seconds=seconds * (1 - 1 / file.ranks),
        )


def _small_calls(program: ProgramIo) -> Iterator[Trouble]:
    seconds, calls, files = 0.0, 0, []
    for file in program.files:
        for passing in (file.write, file.read):
            if (
                passing.calls
                and passing.bytes / passing.calls < _SMALL_CALL
                and not file.collective
            ):
                seconds += passing.seconds
                calls += passing.small_calls or passing.calls
                files.append(file)
    if not files:
        return
    largest = max(files, key=lambda one: one.seconds)
    shared = largest.rank is None
    count = sum(one.files for one in set(files))
    yield Trouble(
        title="small calls",
        detail=(
            f"{calls} calls of {counted(count, 'file')}, most of them in "
            f"{_name(largest)}, moved less than {exact_bytes(_SMALL_CALL)} on average."
        ),
        action=(
            "Use collective calls, so that few ranks write much at a time."
            if shared
            else "Collect them in larger buffers before they are written."
        ),
        seconds=seconds / max(1, program.ranks),
    )


def _few_stripes(program: ProgramIo) -> Iterator[Trouble]:
    for file in program.files:
        count = file.stripe_count
        if count is None or file.rank is not None or file.bytes < 1024 * MIB:
            continue
        if file.ranks <= _FEW_STRIPES_RANKS * count or count > 4:
            continue
        seconds = max(file.slowest_seconds, file.seconds / file.ranks)
        yield Trouble(
            title=f"{_name(file)} lies on {counted(count, 'target')}",
            detail=(
                f"{file.ranks} ranks share a file of {human_bytes(file.extent)} on so few; about "
                f"{_FEW_STRIPES_RANKS} ranks a target are what targets usually bear."
            ),
            action=(
                "Give its folder more stripes: `forebay layout set -c 16 FOLDER`; "
                "`forebay advise` says how many."
            ),
            seconds=seconds * 0.5,
        )


def _name(file: FileIo) -> str:
    return file.path.rpartition("/")[2] or file.path
