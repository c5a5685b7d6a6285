"""Starts and ends the FUSE mounts over pooled folders, a process for each folder."""

import contextlib
import ctypes
import os
import select
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from forebay.common.model.errors import PoolStartError
from forebay.common.model.launcher import PRELOAD_VARIABLE

PROGRAM_NAME = "forebay-mount"
_DEVICE = Path("/dev/fuse")
_HELPER = "fusermount3"
_PREFIX = f"{PROGRAM_NAME}: "
_READY_SECONDS_MAX = 60.0
_END_SECONDS_MAX = 5.0
_PR_SET_PDEATHSIG = 1


def obstacle_to_mount(program: Path, paths: Sequence[Path]) -> str | None:
    """Why the paths cannot be mounted over, or None if nothing that can be checked forbids it."""
    if not program.is_file():
        return f"{program} is missing: Forebay was built without libfuse"
    if not os.access(_DEVICE, os.R_OK | os.W_OK):
        return f"{_DEVICE} is missing, or not yours to use"
    if os.geteuid() != 0 and shutil.which(_HELPER) is None:
        return f"{_HELPER} is not installed, and only root mounts without it"
    files = [path for path in paths if not path.is_dir()]
    if files:
        return f"{files[0]} is no folder"
    return None


class LocalMounts:
    """The port PoolMount: a process for each folder; all end when this process dies."""

    def __init__(self, processes: Sequence[subprocess.Popen[bytes]], folder: Path) -> None:
        self._processes = processes
        self._before = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        # Enter the folder again by its name: the old working directory is the one below the mount.
        with contextlib.suppress(OSError):
            os.chdir(folder)

    def finish(self) -> None:
        """Unmounts. Files that programs have open work until they are closed."""
        with contextlib.suppress(OSError):
            os.fchdir(self._before)
        os.close(self._before)
        _end(self._processes)


def mount_over(program: Path, paths: Sequence[Path], socket: Path, folder: Path) -> LocalMounts:
    """Mounts that end when this process dies. Raises PoolStartError if one of them fails."""
    prctl = ctypes.CDLL(None).prctl
    return LocalMounts(
        _mounted(program, paths, socket, lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)), folder
    )


def mount_detached(program: Path, paths: Sequence[Path], socket: Path) -> None:
    """Mounts that end when the daemon does. Raises PoolStartError if one of them fails."""
    _mounted(program, paths, socket, None)


def _mounted(
    program: Path, paths: Sequence[Path], socket: Path, prepare: Callable[[], object] | None
) -> Sequence[subprocess.Popen[bytes]]:
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for path in paths:
            said = _said(socket)
            processes.append(_start(program, path, socket, prepare))
            if not _is_ready(processes[-1]):
                raise PoolStartError(_reason(path, socket, since=said))
    except BaseException:
        _end(processes)
        raise
    return processes


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Unmounts, and waits a little for the processes, which end when no file of the mount is
    open."""
    for process in processes:
        process.terminate()
    for process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END_SECONDS_MAX)


def _start(
    program: Path, path: Path, socket: Path, prepare: Callable[[], object] | None
) -> subprocess.Popen[bytes]:
    kept = {name: text for name, text in os.environ.items() if name != PRELOAD_VARIABLE}
    try:
        with _log_of(socket).open("ab") as errors:
            return subprocess.Popen(
                [str(program), "--socket", str(socket), str(path)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=kept,
                start_new_session=True,
                preexec_fn=prepare,
            )
    except OSError as error:
        raise PoolStartError(
            f"cannot mount over {path} ({error.filename or program}: {error.strerror}). "
            "`forebay doctor` looks at the installation."
        ) from error


def _is_ready(process: subprocess.Popen[bytes]) -> bool:
    """Whether it has mounted; waits until it has, or has ended."""
    assert process.stdout is not None
    with process.stdout as output:
        came = select.select([output], [], [], _READY_SECONDS_MAX)[0]
        return bool(came and os.read(output.fileno(), 1 << 12))


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
