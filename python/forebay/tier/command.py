"""`forebay tier …`: parses the command line, asks or starts a tier, prints what came of it."""

import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Optional

import typer

from forebay.common.files.batch_job import job_end_of
from forebay.common.model.errors import TierError, UsageError
from forebay.common.model.named_path import named_path
from forebay.common.model.output_format import Format
from forebay.common.model.printable import printable
from forebay.common.model.units import counted, human_bytes, human_seconds, parse_bytes
from forebay.common.options import FormatOption, option
from forebay.common.report.output import json_pretty, plain
from forebay.tier import SHORT_HELP
from forebay.tier.files import LocalTiers
from forebay.tier.model import FileState, TierOrder, TierRoom, TierStart, TierStatus
from forebay.world import real_world

HELP = """Keep files in fast storage while they are hot, under their own names.

A mount over a folder of the parallel file system gives the bytes of new files to a folder of fast
storage (a node's disk, tmpfs), and moves them to the file when it is closed. All programs find them
under their names as ever, with the right size and time. If fast storage is full, nothing is lost:
the program goes on with the file itself. fsync makes bytes durable in fast storage.

\b
Three lines in a job script:
  forebay tier start /scratch/me --fast /local/nvme/me
  mpiexec -n 8 ./program
  forebay tier stop /scratch/me

\b
A folder's policy is words on the folder, which outlive the job:
  write          new files go to fast storage first
  preload        files that are read are copied there
  off            neither
  move=close     moved when closed (usual); move=idle:60s, move=size:1GiB, move=job, move=manual
  live=7d        a replica that nobody has used for so long goes
  largest=4GiB   larger files are left alone
  only=*.nc      only files of such names; except=*.tmp all but these
  pin            never evicted for lack of room
"""

_STATUSES = """
\b
Exit status:
  0  done
  1  not done: the message says why
  2  wrong option
"""
START_HELP = f"""Start a tier over DIR: mount over it, and return when that is done.

Needs Linux 6.6, and root or fusermount3. FAST is a folder of your own that nobody else may write
to; it is made if it is missing. One tier has it at a time. What a tier that was killed has left
there is set right first, and moved. A shell that is in DIR already has to enter it again: cd .

If others use FAST's file system, too, say how much of it the tier may have: --room 100GiB. Else it
makes way when the file system is full, whoever has filled it.

Before the end of a batch job of Slurm, or TIME, all is moved that waits, but with move=manual: as
early as the slowest move so far makes it seem needed, and a minute more (in a short job a tenth of
what is left of it). New files are written to the parallel file system when there is no time left.

\b
Examples:
  forebay tier start /scratch/me --fast /local/nvme/me
  forebay tier start . --fast /dev/shm/me --policy "write preload move=job"

\b
On each node of a job, with fast storage that the nodes share or of their own:
  srun --ntasks-per-node=1 sh -c \\
    'forebay tier start /scratch/me --fast /bb/me/$SLURMD_NODENAME --shared'
{_STATUSES}"""
STOP_HELP = f"""End a tier: unmount DIR, move what is in fast storage, and return when all is there.

It waits for programs that have files open. What could not be moved is named, and stays in fast
storage; so does what a policy leaves to you (move=manual), and everything with --leave:
`forebay tier finish` moves it.
{_STATUSES}"""
STATUS_HELP = f"""Say what lies in fast storage below a folder, and what was done.

\b
In its output:
  waiting    files whose bytes are in fast storage only
  taken over files that were moved for tiers of other nodes that have died
  given up   files that went on at the parallel file system, since fast storage had no room
  rescued    replicas of files that somebody else has changed meanwhile; they are in FAST/rescue
{_STATUSES}"""
SHOW_HELP = f"""Show a folder's own policy.
{_STATUSES}"""
SET_HELP = f"""Give a folder a policy, for its files and those of folders below that have none.

\b
Examples:
  forebay tier policy set /scratch/me/restart write move=job
  forebay tier policy set /scratch/me/input preload live=7d
  forebay tier policy set /scratch/me/logs off
{_STATUSES}"""
PRELOAD_HELP = f"""Copy files to fast storage, eight at a time, and return when they are there.

Programs go on meanwhile; one that opens a file that is being copied waits for this file only.

With --fast and --dir it fills fast storage before a tier is started over DIR with it: in a job that
only copies, say. Then no tier may have FAST meanwhile.

\b
Examples:
  forebay tier preload /scratch/me/input
  forebay tier preload --dir /scratch/me --fast /bb/me /scratch/me/input
{_STATUSES}"""
SYNC_HELP = f"""Move files whose newest bytes are in fast storage only, and wait for that.

A folder stands for all files below it.
{_STATUSES}"""
EVICT_HELP = f"""Remove the replicas of files.

A folder stands for all files below it. A replica that is still needed stays.
{_STATUSES}"""
STAT_HELP = f"""Say where the bytes of files are.

none: there is no replica; clean: in both places; dirty: in fast storage only; moving: on the way.
Of a file whose newest bytes are in fast storage only, also since when, what it waits for, and why
it could not be moved, if that was tried.
{_STATUSES}"""
CHECK_HELP = f"""Set right what a tier has left in FAST, and say what is there. Nothing is moved.

The list of replicas is made anew from the replicas and their files, so that a damaged or lost one
costs nothing. Each replica gets the state that it would have had if the tier had not been killed;
one without newer bytes whose file has changed is removed. Bytes of files that somebody else has
changed meanwhile are named: they are in FAST/rescue, with a note. No tier may have FAST meanwhile.
{_STATUSES}"""
FINISH_HELP = f"""Move what a tier that was killed, or ended with --leave, has left in FAST.

No tier may have FAST meanwhile.

Bytes of files that somebody else has changed meanwhile are not moved, but named: they are in
FAST/rescue, with a note.
{_STATUSES}"""

_PERCENT_MAX = 100
_FILLS_AT_A_TIME = 8
_WAITS_FOR = {
    "close": "waits until no program has it open for writing",
    "idle": "waits until nobody has written for some time (move=idle)",
    "size": "waits until more of it waits (move=size)",
    "job": "waits for the end of the job (move=job)",
    "order": "waits for `forebay tier sync` (move=manual)",
    "turn": "waits for its turn",
    "move": "is on the way",
    "retry": "is tried again",
}
_Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder.", parser=named_path)]
_Paths = Annotated[
    list[Path], typer.Argument(metavar="PATH...", help="Files or folders.", parser=named_path)
]
_Fast = Annotated[Path, option("--fast", "FAST", "Fast storage's folder.", parser=named_path)]


def _tiers() -> LocalTiers:
    return LocalTiers(real_world().libraries)


def _room_of(size: str, high: int, low: int) -> TierRoom:
    count = parse_bytes(size)
    if count is None:
        raise UsageError(f'cannot use --room "{size}" (it is no size). Say 100GiB, or 0 for all.')
    if not low < high <= _PERCENT_MAX:
        raise UsageError(
            f"cannot use --low {low} and --high {high} (replicas make way above the high one, down "
            "to the low one). Say --low 70 --high 90, for example."
        )
    return TierRoom(bytes=count, high=high, low=low)


def _job_end() -> int:
    world = real_world()
    return job_end_of(world.environment, world.processes)


def start(
    folder: _Folder,
    fast: _Fast,
    policy: Annotated[
        str, option("--policy", "WORDS", "Policy of folders that have none of their own.")
    ] = "write",
    shared: Annotated[
        bool, typer.Option("--shared", help="Tiers of other nodes are over DIR, too.")
    ] = False,
    wait: Annotated[
        int,
        option(
            "--wait", "SECONDS", "How long an open waits for bytes that another node has.", min=1
        ),
    ] = 60,
    end: Annotated[
        Optional[int],
        option(
            "--end",
            "TIME",
            "When the batch job ends, in seconds since the epoch; 0: never. Slurm says it itself.",
            min=0,
        ),
    ] = None,
    room: Annotated[
        str,
        option("--room", "SIZE", "What replicas may take of FAST; 0: all of its file system."),
    ] = "0",
    high: Annotated[
        int, option("--high", "PERCENT", "Above that of the room, replicas make way …", min=1)
    ] = 90,
    low: Annotated[
        int, option("--low", "PERCENT", "… until no more than that is used.", min=0)
    ] = 70,
) -> None:
    """Starts a tier."""
    _tiers().start(
        TierStart(
            folder=folder,
            fast=fast,
            policy=policy,
            is_shared=shared,
            wait_seconds=wait,
            job_end=_job_end() if end is None else end,
            room=_room_of(room, high, low),
        )
    )


def stop(
    folder: _Folder,
    leave: Annotated[
        bool, typer.Option("--leave", help="Leave in fast storage what is there.")
    ] = False,
) -> None:
    """Ends a tier."""
    tiers = _tiers()
    if leave:
        tiers.give(folder, TierOrder.LEAVE)
    end = tiers.stop(folder)
    for message in end.messages:
        print(f"forebay: {printable(message)}", file=sys.stderr)
    if end.lacks_files:
        raise typer.Exit(1)


def status(
    folder: _Folder = Path(),
    form: FormatOption = Format.TEXT,
    watch: Annotated[bool, typer.Option("--watch", help="Again each second.")] = False,
) -> None:
    """Says what lies in fast storage."""
    tiers = _tiers()
    while True:
        found = tiers.status(folder)
        if form is Format.JSON:
            print(json_pretty({"schema": "forebay.tier.status/1", **plain(found)}))
        else:
            print("\n".join(_lines(found)))
        if not watch:
            return
        time.sleep(1)


def show_policy(folder: _Folder) -> None:
    """Shows a policy."""
    print(_tiers().tool("policy", "show", str(folder)), end="")


def set_policy(
    folder: _Folder,
    words: Annotated[list[str], typer.Argument(metavar="WORD...", help="Words, as in `--help`.")],
) -> None:
    """Sets a policy."""
    print(_tiers().tool("policy", "set", str(folder), *words), end="")


def preload(
    paths: _Paths,
    fast: Annotated[
        Optional[Path],
        option("--fast", "FAST", "Where no tier runs: fast storage's folder.", parser=named_path),
    ] = None,
    folder: Annotated[
        Optional[Path],
        option(
            "--dir",
            "DIR",
            "Where no tier runs: the folder over which one will be.",
            parser=named_path,
        ),
    ] = None,
) -> None:
    """Copies files to fast storage."""
    files = _files_below(paths)
    if fast is None and folder is None:
        _give(files, TierOrder.FILL, at_a_time=_FILLS_AT_A_TIME)
    elif fast is None or folder is None:
        raise UsageError("cannot use one of --fast and --dir alone. Say both.")
    else:
        _tiers().fill(TierStart(folder=folder, fast=fast, policy=""), files)


def sync(paths: _Paths) -> None:
    """Moves files."""
    _give(paths, TierOrder.MOVE)


def evict(paths: _Paths) -> None:
    """Removes replicas."""
    _give(paths, TierOrder.EVICT)


def stat(paths: _Paths, form: FormatOption = Format.TEXT) -> None:
    """Says where bytes are."""
    tiers = _tiers()
    found = [(path, tiers.state(path)) for path in paths]
    if form is Format.JSON:
        rows = [{"path": str(path), **plain(state)} for path, state in found]
        print(json_pretty({"schema": "forebay.tier.stat/1", "files": rows}))
        return
    for path, state in found:
        print("\n".join(_state_lines(path, state, time.time())))


def check(folder: _Folder, fast: _Fast) -> None:
    """Sets what a tier has left right."""
    print(_tiers().tool("check", str(fast.resolve()), str(folder.resolve())), end="")


def finish(folder: _Folder, fast: _Fast) -> None:
    """Moves what a tier has left."""
    print(_tiers().tool("finish", str(fast.resolve()), str(folder.resolve())), end="")


def attach(app: typer.Typer) -> None:
    """Adds `tier` with its subcommands to `app`."""
    group = typer.Typer(help=HELP, no_args_is_help=True, rich_markup_mode=None)
    group.command("start", help=START_HELP, short_help="Mount over a folder.")(start)
    group.command("stop", help=STOP_HELP, short_help="Move everything, and unmount.")(stop)
    group.command("status", help=STATUS_HELP, short_help="Show what is in fast storage.")(status)
    group.command("preload", help=PRELOAD_HELP, short_help="Copy files to fast storage.")(preload)
    group.command("sync", help=SYNC_HELP, short_help="Move files now, and wait.")(sync)
    group.command("evict", help=EVICT_HELP, short_help="Remove replicas, to make room.")(evict)
    group.command("stat", help=STAT_HELP, short_help="Show where a file's bytes are.")(stat)
    group.command("check", help=CHECK_HELP, short_help="Set right what an earlier tier has left.")(
        check
    )
    group.command("finish", help=FINISH_HELP, short_help="Move what an earlier tier has left.")(
        finish
    )
    policies = typer.Typer(
        help="See and set the policies of folders.", no_args_is_help=True, rich_markup_mode=None
    )
    policies.command("show", help=SHOW_HELP, short_help="Show a folder's own policy.")(show_policy)
    policies.command("set", help=SET_HELP, short_help="Give a folder a policy.")(set_policy)
    group.add_typer(policies, name="policy", short_help="Show and set the policies of folders.")
    app.add_typer(group, name="tier", short_help=SHORT_HELP)


def _give(paths: Sequence[Path], order: TierOrder, *, at_a_time: int = 1) -> None:
    """Carries an order out for all paths, also behind one that fails."""
    tiers = _tiers()

    def give(path: Path) -> Optional[TierError]:
        try:
            tiers.give(path, order)
        except TierError as error:
            return error
        return None

    with ThreadPoolExecutor(at_a_time) as threads:
        failed = [error for error in threads.map(give, paths) if error is not None]
    if failed:
        raise TierError(" ".join(str(error) for error in failed))


def _files_below(paths: Sequence[Path]) -> Sequence[Path]:
    found: list[Path] = []
    for path in paths:
        below = sorted(one for one in path.rglob("*") if one.is_file() and not one.is_symlink())
        found += below if path.is_dir() else [path]
    return found


def _state_lines(path: Path, state: FileState, now: float) -> Sequence[str]:
    size = f", {human_bytes(state.bytes)} in fast storage" if state.state != "none" else ""
    since = ""
    failed: tuple[str, ...] = ()
    if state.is_waiting:
        age = human_seconds(max(now - state.newer_since, 0))
        since = f", newer there for {age}; {_WAITS_FOR.get(state.waits_for, state.waits_for)}"
        failed = (f"  the last attempt: {printable(state.failure)}",) if state.failure else ()
    word = "moving" if state.moving else state.state
    return (f"{printable(str(path))}: {word}{size}{since}", *failed)


def _lines(found: TierStatus) -> Sequence[str]:
    return (
        f"{counted(found.replicas, 'replica')} of {human_bytes(found.bytes)}",
        f"waiting: {counted(found.waiting, 'file')} of {human_bytes(found.waiting_bytes)}",
        f"since the start: {human_bytes(found.taken_bytes)} written by programs, "
        f"{found.hits} of {counted(found.hits + found.misses, 'file')} read there",
        f"and {found.made} made, {found.filled} preloaded, {found.moved} moved "
        f"({human_bytes(found.moved_bytes)}), {found.evicted} evicted, {found.given_up} given up, "
        f"{found.taken_over} taken over, "
        f"{found.rescued} rescued, {found.failed} moves failed and are tried again",
    )
