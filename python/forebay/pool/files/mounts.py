"""Starts and ends the FUSE mounts over pooled folders, a process for each folder."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from forebay.common.files.servers import ending_with_parent, is_ready, start_mount
from forebay.common.model.errors import MountRefusedError
from forebay.common.model.frozen import frozen
from forebay.common.model.newer_python import zip_of
from forebay.pool.files.daemon_start import death_of, messages_in
from forebay.pool.model.mounting import MountChoice

PROGRAM_NAME = "forebay-mount"
HELPER = "fusermount3"
_DEVICE = Path("/dev/fuse")
_PREFIX = f"{PROGRAM_NAME}: "
_READY_SECONDS_MAX = 60.0
_END_SECONDS_MAX = 5.0
Served = subprocess.Popen[bytes]


@frozen
class MountStart:
    """How mounts are started. `prepare` is called in each new process."""

    program: Path
    socket: Path
    choice: MountChoice
    prepare: Callable[[], object] | None = None


def obstacle_to_mount(program: Path, paths: Sequence[Path], choice: MountChoice) -> str | None:
    """Why the paths cannot be mounted over, or None if nothing that can be checked forbids it."""
    if not program.is_file():
        return f"{program} is missing: Forebay was built without libfuse"
    if not os.access(_DEVICE, os.R_OK | os.W_OK):
        return f"{_DEVICE} is missing, or not yours to use"
    if os.geteuid() != 0 and not choice.is_private and shutil.which(HELPER) is None:
        return (
            f"{HELPER} is not installed, and only root mounts without it; "
            "`forebay run --private` may do without"
        )
    files = [path for path in paths if not path.is_dir()]
    if files:
        return f"{files[0]} is no folder"
    return None


class LocalMounts:
    """The port PoolMount: a process for each folder; all end when this process dies."""

    def __init__(self, start: MountStart, paths: Sequence[Path], folder: Path) -> None:
        self._log = _log_of(start.socket)
        self._paths = paths
        self._processes = _mounted(start, paths)
        self._entry: tuple[str, ...] = ()
        if start.choice.is_private:
            first = str(self._processes[0].pid)
            self._entry = (str(start.program), "--enter", first, str(folder))
        self._before = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        # Enter the folder again by its name: the old working directory is the one below the mount.
        with contextlib.suppress(OSError):
            os.chdir(folder)

    def entering(self, words: Sequence[str]) -> Sequence[str]:
        """Those words, behind a program that enters private mounts."""
        return (*self._entry, *words)

    def finish(self) -> Sequence[str]:
        """Unmounts. Files that programs have open work until they are closed."""
        with contextlib.suppress(OSError):
            os.fchdir(self._before)
        os.close(self._before)
        told = list(self._complaints())
        _end(self._processes)
        return told

    def _complaints(self) -> Iterator[str]:
        for path, process in zip_of(self._paths, self._processes, strict=True):
            code = process.poll()
            if code:
                messages = " ".join(line.removeprefix(_PREFIX) for line in messages_in(self._log))
                yield (
                    f"the mount over {path} ended while the program ran ({PROGRAM_NAME}: "
                    f"{death_of(code)}): calls on its files failed from then on. {messages}"
                ).rstrip()


def mount_over(
    program: Path, paths: Sequence[Path], socket: Path, folder: Path, choice: MountChoice
) -> LocalMounts:
    """Mounts that end when this process dies. Raises MountRefusedError if one of them fails."""
    start = MountStart(
        program=program,
        socket=socket,
        choice=choice,
        prepare=ending_with_parent(),
    )
    return LocalMounts(start, paths, folder)


def mount_detached(program: Path, paths: Sequence[Path], socket: Path, choice: MountChoice) -> None:
    """Mounts that end when the daemon does. Raises MountRefusedError if one of them fails."""
    _mounted(MountStart(program=program, socket=socket, choice=choice), paths)


def _mounted(start: MountStart, paths: Sequence[Path]) -> Sequence[Served]:
    processes: list[Served] = []
    try:
        for path in paths:
            said = _said(start.socket)
            processes.append(_start(start, path, processes[0].pid if processes else None))
            if not is_ready(processes[-1], _READY_SECONDS_MAX):
                raise MountRefusedError(_reason(path, start.socket, since=said))
    except BaseException:
        _end(processes)
        raise
    return processes


def _end(processes: Sequence[Served]) -> None:
    """Unmounts, and waits a little for the processes, which end when no file of the mount is
    open."""
    for process in processes:
        process.terminate()
    for process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END_SECONDS_MAX)


def _options(start: MountStart, first: int | None) -> tuple[str, ...]:
    """The options of forebay-mount. Mounts of one run are in one namespace, that of the `first`."""
    usual: tuple[str, ...] = (
        "--socket",
        str(start.socket),
        "--timeout",
        str(start.choice.stopped_seconds),
    )
    if start.choice.captures:
        usual = (*usual, "--captured")
    if not start.choice.is_private:
        return usual
    return (*usual, "--private") if first is None else (*usual, "--within", str(first))


def _start(start: MountStart, path: Path, first: int | None) -> Served:
    try:
        with _log_of(start.socket).open("ab") as errors:
            words = [str(start.program), *_options(start, first), str(path)]
            return start_mount(words, errors, start.prepare)
    except OSError as error:
        raise MountRefusedError(
            f"cannot mount over {path} ({error.filename or start.program}: {error.strerror}). "
            "`forebay doctor` looks at the installation."
        ) from error


def _log_of(socket: Path) -> Path:
    return socket.parent / "mount.log"


def _said(socket: Path) -> int:
    """The length of the log in bytes."""
    with contextlib.suppress(OSError):
        return _log_of(socket).stat().st_size
    return 0


def _reason(path: Path, socket: Path, *, since: int) -> str:
    """The last message of forebay-mount behind byte `since` of the log."""
    with contextlib.suppress(OSError), _log_of(socket).open("rb") as log:
        log.seek(since)
        lines = log.read(1 << 16).decode("utf-8", "replace").splitlines()
        told = [line.removeprefix(_PREFIX) for line in lines if line.startswith(_PREFIX)]
        if told:
            return told[-1]
    return (
        f"cannot mount over {path} (forebay-mount ended, or did not begin). "
        "Say `--set pool_mount=never`."
    )
