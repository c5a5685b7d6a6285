"""Tiers on this machine: starts forebay-mount with a fast place, asks it by extended attributes,
and runs forebay-tier where no mount has the place."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from forebay.common.files.decoding import decoded
from forebay.common.files.servers import ending_with_parent, is_ready, start_mount
from forebay.common.model.errors import SetupError, TierError
from forebay.ports import LibraryFinder
from forebay.tier.model import (
    FileState,
    TierEnd,
    TierEnds,
    TierOrder,
    TierStart,
    TierStatus,
    TierTotals,
)

MOUNT_NAME = "forebay-mount"
TOOL_NAME = "forebay-tier"
_ORDER = "user.forebay.order"
_STATE = "user.forebay.state"
_STATUS = "user.forebay.status"
_LOG = "mount.log"
_READY_SECONDS_MAX = 600.0  # setting right what an earlier tier has left may take long
_FILES_A_COMMAND = 200  # of PATH_MAX each, they fit a command line
_NO_TIER = {errno.ENODATA, errno.EOPNOTSUPP, errno.ENOSYS}


class LocalTiers:
    """The tiers of this machine."""

    def __init__(self, libraries: LibraryFinder) -> None:
        self._libraries = libraries

    @contextlib.contextmanager
    def around(self, starts: Sequence[TierStart], folder: Path) -> Iterator[TierEnds]:
        """Tiers that end behind it, or when this process dies; this process is in `folder`."""
        ends = TierEnds()
        before = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        started: list[TierStart] = []
        try:
            for one in starts:
                self.start(one, prepare=ending_with_parent())
                started.append(one)
            # The old working directory may be below a mount now.
            with contextlib.suppress(OSError):
                os.chdir(folder)
            yield ends
        finally:
            os.fchdir(before)
            os.close(before)
            for one in reversed(started):
                totals = self._totals(one)
                ends.add(TierEnd(messages=self.stop(one.folder).messages, totals=totals))

    def start(self, order: TierStart, *, prepare: Callable[[], object] | None = None) -> None:
        """Mounts over the folder, in a process that goes on; `prepare` is called in it. Raises
        TierError if it cannot."""
        log = order.fast / _LOG
        try:
            order.fast.mkdir(mode=0o700, parents=True, exist_ok=True)
            log.unlink(missing_ok=True)
            opened = log.open("xb")
        except OSError as error:
            raise TierError(
                f"cannot start a tier over {order.folder} ({error.strerror}: {error.filename}). "
                "Name a folder of fast storage with --fast that you may write to."
            ) from error
        words = [*self._words(order), str(order.folder.resolve())]
        with opened as errors:
            process = start_mount(words, errors, prepare)
        if is_ready(process, _READY_SECONDS_MAX):
            return
        process.terminate()
        said = messages_of(log)
        raise TierError(
            said[-1]
            if said
            else f"cannot start a tier over {order.folder} ({MOUNT_NAME} ended). See {log}."
        )

    def stop(self, folder: Path, *, seconds_max: float | None = None) -> TierEnd:
        """Unmounts, and waits until everything is moved and the process has ended."""
        path = folder.resolve()
        server = server_of(path)
        if server is None:
            raise _no_tier(folder)
        log = _log_of(server)
        handle = os.pidfd_open(server)
        try:
            os.kill(server, signal.SIGTERM)
            ended = select.select([handle], [], [], seconds_max)[0]
        finally:
            os.close(handle)
        if not ended:
            raise TierError(
                f"cannot wait for the end of the tier over {folder} (it still moves files, or "
                "programs have files open). Run the command again."
            )
        return TierEnd(messages=tuple(messages_of(log)) if log else ())

    def _totals(self, tier: TierStart) -> tuple[TierTotals, ...]:
        try:
            status = self.status(tier.folder)
        except TierError:  # it has died: stop() says more
            return ()
        return (TierTotals(folder=tier.folder, fast=tier.fast, status=status),)

    def status(self, folder: Path) -> TierStatus:
        """The status of everything below the folder."""
        return decoded(TierStatus, _asked(folder, _STATUS))

    def state(self, file: Path) -> FileState:
        """The state of one file."""
        return decoded(FileState, _asked(file, _STATE))

    def give(self, path: Path, order: TierOrder) -> None:
        """Carries an order out, and returns when that is done."""
        _asked(path, _STATUS)  # an order to a file that is in no tier would stay on it
        try:
            os.setxattr(path, _ORDER, order.value.encode())
        except OSError as error:
            raise TierError(_refusal(path, order, error)) from error

    def tool(self, *words: str) -> str:
        """Runs forebay-tier, and returns what it printed. Raises TierError with what it said."""
        program = self._program(TOOL_NAME)
        done = subprocess.run([str(program), *words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            prefix = f"{TOOL_NAME}: "
            told = [line.removeprefix(prefix) for line in done.stderr.splitlines()]
            raise TierError(" ".join(told) or f"{TOOL_NAME} ended with {done.returncode}")
        return done.stdout

    def fill(self, place: TierStart, files: Sequence[Path]) -> None:
        """Copies files to a fast place that no tier has. Raises TierError with what was not copied,
        behind all others."""
        try:
            place.fast.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise TierError(
                f"cannot fill {place.fast} ({error.strerror}). Name a folder of fast storage with "
                "--fast that you may write to."
            ) from error
        where = (str(place.fast.resolve()), str(place.folder.resolve()))
        failed: list[str] = []
        for first in range(0, len(files), _FILES_A_COMMAND):
            names = (str(file.resolve()) for file in files[first : first + _FILES_A_COMMAND])
            try:
                self.tool("preload", *where, *names)
            except TierError as error:
                failed.append(str(error))
        if failed:
            raise TierError(" ".join(failed))

    def _words(self, order: TierStart) -> Sequence[str]:
        private = ("--private",) if order.is_private else ()
        shared = ("--shared",) if order.is_shared else ()
        place = ("--fast", str(order.fast.resolve()), "--policy", order.policy)
        wait = ("--wait", str(order.wait_seconds))
        end = ("--end", str(order.job_end)) if order.job_end > 0 else ()
        room: tuple[str, ...] = ("--high", str(order.room.high), "--low", str(order.room.low))
        if order.room.bytes > 0:
            room = ("--room", str(order.room.bytes), *room)
        return (str(self._program(MOUNT_NAME)), *place, *wait, *end, *room, *shared, *private)

    def _program(self, name: str) -> Path:
        program = self._libraries.find().folder / name
        if not program.is_file():
            lacks = "SQLite" if name == TOOL_NAME else "libfuse"
            raise SetupError(
                f"cannot use a tier ({program} is missing: Forebay was built without {lacks}). "
                f"Install {lacks}, and build it again."
            )
        return program


def server_of(folder: Path) -> int | None:
    """The process that serves the topmost mount of Forebay over that folder; None: there is none.
    By the kernel's list: the mount itself may not answer."""
    found = None
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        words = line.split()
        kind, name = words[words.index("-") + 1 : words.index("-") + 3]
        if words[4] == str(folder) and kind == "fuse.forebay":
            found = int(name.rpartition(":")[2])
    return found


def messages_of(log: Path) -> Sequence[str]:
    """The messages of forebay-mount."""
    prefix = f"{MOUNT_NAME}: "
    with contextlib.suppress(OSError):
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        return [line.removeprefix(prefix) for line in lines if line.startswith(prefix)]
    return ()


def _log_of(server: int) -> Path | None:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{server}/fd/2").readlink()
    return None


def _no_tier(path: Path) -> TierError:
    return TierError(
        f"cannot ask a tier about {path} (none is mounted there). Start one: forebay tier start"
    )


def _asked(path: Path, name: str) -> dict[str, Any]:
    try:
        value: dict[str, Any] = json.loads(os.getxattr(path, name))
    except OSError as error:
        if error.errno in _NO_TIER:
            raise _no_tier(path) from error
        raise TierError(f"cannot look at {path} ({error.strerror}). Is its name right?") from error
    return value


def _refusal(path: Path, order: TierOrder, error: OSError) -> str:
    why, then = {
        errno.EBUSY: ("it has bytes that the file lacks, or is being written", "Sync it first"),
        errno.ENOSPC: (
            "fast storage has no room for it, or its policy leaves it out",
            "Evict others",
        ),
        errno.EIO: ("it could not be moved, or was changed by somebody else", "See the tier's log"),
    }.get(error.errno or 0, (error.strerror or "unknown", "Is it a file of the tier"))
    return f"cannot {order.value} {path} ({why}). {then}."
