"""An ordinary user who may mount by fusermount3: this one, or, where the tests are root's, `nobody`
in a mount namespace of its own, in which /dev/fuse is everybody's, as udev has it on most
machines."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from suite import mounted as mo
from suite import mpi as m
from suite.file_systems import NOBODY
from suite.verdict import ensure

IS_ROOT = os.geteuid() == 0
_DEVICE = Path("/dev/fuse")
_CONFIGURATION = Path("/etc/fuse.conf")
_NAMESPACE = """
set -e
mknod "$1/fuse" c 10 229
chmod "$2" "$1/fuse"
mount --bind "$1/fuse" /dev/fuse
echo "$3" > "$1/fuse.conf"
[ ! -e /etc/fuse.conf ] || mount --bind "$1/fuse.conf" /etc/fuse.conf
echo ready
exec sleep infinity
"""


@dataclass(frozen=True, kw_only=True)
class OrdinaryUser:
    """Runs commands as that user. `folder` is the user's; `holder` has its mount namespace, and
    `python` is one that the user may run."""

    folder: Path
    holder: int | None = None
    python: str = sys.executable

    @property
    def forebay(self) -> tuple[str, ...]:
        """The command `forebay`."""
        return (self.python, "-m", "forebay")

    def words(self, *words: str | Path, as_root: bool = False) -> list[str]:
        """The command that has `words` run by the user, or by root in the same namespace."""
        told = [str(word) for word in words]
        if self.holder is None:
            return told
        enter = ["nsenter", f"--target={self.holder}", "--mount", f"--wd={self.folder}", "--"]
        user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        return [*enter, *([] if as_root else user), *told]

    def environment(self, **more: str) -> dict[str, str]:
        return {
            **m.clean_environment(),
            "LC_ALL": "C.UTF-8",
            "HOME": str(self.folder),
            "PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",  # others may be root's alone
            # The packages that it needs are those of this process.
            "PYTHONPATH": f"{m.ROOT / 'python'}:{sysconfig.get_path('purelib')}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "FOREBAY_LIBDIR": str(m.LIBRARIES),
            **more,
        }

    def run(
        self,
        *words: str | Path,
        as_root: bool = False,
        check: bool = True,
        environment: Mapping[str, str] | None = None,
        within: Path | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """To its end, for a bounded time, in the user's folder or the one `within`."""
        place: list[str | Path] = ["env", "-C", within or self.folder]
        done = subprocess.run(
            self.words(*place, *words, as_root=as_root),
            capture_output=True,
            text=True,
            timeout=mo.SECONDS_MAX,
            check=False,
            cwd=self.folder,
            env=self.environment(**(environment or {})),
        )
        ensure(
            not check or done.returncode == 0,
            f"{' '.join(map(str, words))[:200]} ended with {done.returncode}:\n"
            f"{done.stdout[-500:]}{done.stderr[-1500:]}",
        )
        return done

    def start(self, *words: str | Path, within: Path | None = None) -> subprocess.Popen[str]:
        """In the background, in a session of its own; its input and both outputs are pipes."""
        return subprocess.Popen(
            self.words("env", "-C", within or self.folder, *words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env=self.environment(),
            start_new_session=True,
        )

    def seen(self, path: Path) -> Path:
        """The name by which this process reaches the user's `path`."""
        return path if self.holder is None else Path(f"/proc/{self.holder}/root{path}")

    def is_mounted(self, folder: Path) -> bool:
        """By the kernel's list: the mount itself may not answer."""
        return mo.is_mounted(folder, process=self.holder or os.getpid())

    def new_folder(self, name: str) -> Path:
        path = self.folder / name
        path.mkdir()
        if IS_ROOT:
            os.chown(path, NOBODY, NOBODY)
        return path


def _able(user: OrdinaryUser) -> OrdinaryUser:
    """The user, with a Python that it may run."""
    if user.run("test", "-x", mo.PROGRAM, check=False).returncode != 0:
        pytest.skip(f"nobody may not run {mo.PROGRAM}. Put it where all may read.")
    for python in (sys.executable, "/usr/bin/python3"):
        if user.run("test", "-x", python, check=False).returncode == 0:
            return replace(user, python=python)
    pytest.skip("nobody may run no Python here. Install python3.")


@contextlib.contextmanager
def ordinary_user(*, configuration: str = "", mode: str = "666") -> Iterator[OrdinaryUser]:
    """With this /etc/fuse.conf, and this mode of /dev/fuse, where the tests are root's."""
    if not mo.PROGRAM.exists() or not _DEVICE.exists() or shutil.which("fusermount3") is None:
        pytest.skip("no forebay-mount, fusermount3 or /dev/fuse. Build it, install fuse3.")
    with tempfile.TemporaryDirectory(prefix="user.", dir="/tmp") as made:
        folder = Path(made)
        if not IS_ROOT:
            if configuration or mode != "666":
                pytest.skip("only root gives another /etc/fuse.conf or /dev/fuse")
            if not os.access(_DEVICE, os.R_OK | os.W_OK):
                pytest.skip("you may not open /dev/fuse. Be root.")
            yield OrdinaryUser(folder=folder)
            return
        os.chown(folder, NOBODY, NOBODY)
        with tempfile.TemporaryDirectory(prefix="user.", dir="/tmp") as kept:
            words = ["unshare", "--mount", "--propagation=private", "sh", "-c", _NAMESPACE, "sh"]
            holder = subprocess.Popen(
                [*words, kept, mode, configuration], stdout=subprocess.PIPE, text=True
            )
            try:
                if not holder.stdout or holder.stdout.readline() != "ready\n":
                    pytest.skip("cannot make a mount namespace with a device. Be root.")
                yield _able(OrdinaryUser(folder=folder, holder=holder.pid))
            finally:
                holder.kill()
                holder.wait()
                if holder.stdout:
                    holder.stdout.close()


@contextlib.contextmanager
def served(
    user: OrdinaryUser, folder: Path, *options: str | Path
) -> Iterator[subprocess.Popen[str]]:
    """A mount of the user's over the folder; it is gone behind."""
    process = user.start(mo.PROGRAM, *options, folder)
    try:
        line = process.stdout.readline() if process.stdout else ""
        if not line:
            _, said = process.communicate(timeout=mo.SECONDS_MAX)
            ensure(False, f"forebay-mount does not mount:\n{said}")
        yield process
    finally:
        if user.is_mounted(folder):
            user.run("fusermount3", "-u", "-z", folder, check=False)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        if process.poll() is None:
            process.kill()
            process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe:
                pipe.close()
