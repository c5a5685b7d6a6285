"""Rules that find the cause of a wait in where files lie: on few storage targets.

On Lustre, ROMIO has one aggregator per stripe: its driver ad_lustre. The thresholds are heuristics,
checked on the labelled logs of docs/tuning.md."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from forebay.common.model.units import GIB, counted, human_bytes, human_seconds
from forebay_tuning.model.point import Direction
from forebay_tuning.model.program_io import FileIo, ProgramIo
from forebay_tuning.report.model.claims import CauseKind, Claim, name_of, place
from forebay_tuning.report.model.waits import PART_OF, Wait

_RANKS = 16
"""Ranks per target: with more of them, a file has too few stripes."""
_RANKS_LARGE = 4
"""The same where each target has `_LARGE` bytes or more."""
_LARGE = 16 * GIB
_STRIPES_USUAL = 16
"""More stripes than these are not recommended from a log alone."""
_CROWDED = 2.0
"""Bytes and files of a target ÷ the mean of all targets from which on it is crowded."""
_SLOWER = 1.5
"""Seconds of files there ÷ those of files on other targets."""
_LET_CHOOSE = (
    "Let the file system choose targets (no `lfs setstripe -o` or `-i` on the folder), so that "
    "files are spread over all of them."
)
_MOST = 4
"""Stripes: files on more of them are not reported, unless they are huge."""
_MOST_OF_HUGE = 8
_HUGE = 64 * GIB
"""Bytes on each target from which on a file that is shared by `_RANKS` for each is huge."""


def few_stripes(wait: Wait, program: ProgramIo) -> Iterator[Claim]:
    """A large shared file has few stripes (Lustre OSTs), or the files of many ranks lie on few."""
    if wait.own:
        yield from _files_together(wait, program)
        return
    file, mpi = wait.file, wait.mpi
    count = file.stripe_count
    if count is None or count > _MOST_OF_HUGE:
        return
    moved = max(one.bytes for one in (mpi, wait.storage) if one is not None)
    together = mpi is not None and mpi.write.collective_calls + mpi.read.collective_calls > 0
    ranks = file.ranks if together else _moving(wait)
    is_huge = min(moved, file.extent or moved) >= _HUGE * count and ranks >= _RANKS * count
    if count > _MOST and not is_huge:
        return
    want = _wanted(ranks, count, moved)
    if want <= count:
        return
    for direction in Direction:
        yield Claim(
            kind=CauseKind.STRIPES,
            part=PART_OF[direction],
            share=1 - count / want,
            title=f"{name_of(file)} lies on {counted(count, 'target')}",
            detail=(
                f"{counted(ranks, 'rank')} share {human_bytes(moved)} on "
                f"{counted(count, 'storage target')} (a server's disk array)"
                + (
                    ", and ROMIO has one aggregator (a rank that does the I/O of others) a stripe: "
                    f"of {file.ranks} ranks, {count} {'moves' if count == 1 else 'move'} all bytes."
                    if together
                    else f"; {want} are usual for so many ranks and bytes."
                )
            ),
            action=(
                f"Give its folder more stripes: `forebay layout set -c {want} FOLDER`; "
                "`forebay advise` says how many."
                if file.write.bytes
                else f"Copy it into a folder with more stripes (`forebay layout set -c {want} "
                "FOLDER`, then cp): a file keeps the layout that it was made with."
            ),
            proof=f"LUSTRE_COMP_STRIPE_COUNT = {count} {place(file)}",
        )


def _moving(wait: Wait) -> int:
    """The ranks that move the file's bytes; all if the log does not say."""
    found = [one.effective_movers for one in (wait.mpi, wait.storage) if one is not None]
    return max(found, default=0) or wait.file.ranks


def _wanted(ranks: int, count: int, moved: int) -> int:
    """The number of targets that is usual for so many ranks and bytes, or `count` if that is not
    too few."""
    if moved < GIB:
        return count
    large = moved >= _LARGE * count
    each = _RANKS_LARGE if large else _RANKS
    if ranks < each * count or (not large and ranks == each * count):
        return count
    return max(2 * count, min(_STRIPES_USUAL, ranks // each, moved // GIB))


def _crowded(known: list[FileIo]) -> Iterator[Claim]:
    """Many of the files of single ranks lie on one of several targets, and are slower there. (That
    a target is sick, which is slow whatever lies there, is found before.)"""
    alone = [one for one in known if len(one.targets) == 1 and one.bytes]
    bytes_on: dict[int, int] = {}
    for one in alone:
        bytes_on[one.targets[0]] = bytes_on.get(one.targets[0], 0) + one.bytes
    if len(bytes_on) < 2:
        return
    most = max(bytes_on, key=lambda target: bytes_on[target])
    usual = sum(bytes_on.values()) / len(bytes_on)
    there = [one for one in alone if one.targets[0] == most]
    others = [one for one in alone if one.targets[0] != most]
    seconds, elsewhere = (median(one.seconds for one in files) for files in (there, others))
    more = len(there) * len(bytes_on) >= _CROWDED * len(alone)  # more files, not larger ones
    if not more or bytes_on[most] < _CROWDED * usual or seconds < _SLOWER * elsewhere:
        return
    worst = max(there, key=lambda one: one.seconds)
    for direction in Direction:
        yield Claim(
            kind=CauseKind.STRIPES,
            part=PART_OF[direction],
            share=1 - usual / bytes_on[most],
            title=f"{len(there)} of {counted(len(alone), 'file')} lie on target {most}",
            detail=(
                f"this storage target (a server's disk array) has {human_bytes(bytes_on[most])}, "
                f"and the mean of {len(bytes_on)} targets is {human_bytes(round(usual))}; files "
                f"there took a median of {human_seconds(seconds)} s, those on others "
                f"{human_seconds(elsewhere)} s."
            ),
            action=_LET_CHOOSE,
            proof=f"LUSTRE_COMP_OST_ID = {most} ({name_of(worst)} and {len(there) - 1} more files)",
        )


def _files_together(wait: Wait, program: ProgramIo) -> Iterator[Claim]:
    """Each rank has files of its own, but all of these lie on few targets."""
    known = [one for one in program.files if one.rank is not None and one.targets]
    if not known or 2 * len(known) < sum(one.rank is not None for one in program.files):
        return
    yield from _crowded(known)
    targets = {target for one in known for target in one.targets}
    ranks = len({one.rank for one in known})
    moved = sum(one.bytes for one in known)
    want = min(_wanted(ranks, len(targets), moved), ranks)
    if len(targets) > _MOST or want <= len(targets):
        return
    worst: FileIo = max(known, key=lambda one: one.seconds)
    for direction in Direction:
        yield Claim(
            kind=CauseKind.STRIPES,
            part=PART_OF[direction],
            share=1 - len(targets) / want,
            title=f"files of {ranks} ranks lie on {counted(len(targets), 'target')}",
            detail=(
                f"{counted(len(known), 'file')} with {human_bytes(moved)} share "
                f"{counted(len(targets), 'storage target')} (a server's disk array)."
            ),
            action=_LET_CHOOSE,
            proof=(
                f"LUSTRE_COMP_OST_ID = {', '.join(map(str, sorted(targets)))} "
                f"({name_of(worst)} and {counted(len(known) - 1, 'other file')}, {ranks} ranks)"
            ),
        )
