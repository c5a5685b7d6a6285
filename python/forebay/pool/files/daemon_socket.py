"""The client's end of a daemon's Unix socket: requests and replies (schema/pool_messages.toml)."""

from __future__ import annotations

import contextlib
import mmap
import os
import socket
import struct
import sys
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from forebay.common.files.safe_files import folder_problem
from forebay.common.model.errors import PoolError
from forebay.common.model.frozen import frozen
from forebay.pool.files.daemon_document import decode_status
from forebay.pool.files.message_table import pool_messages
from forebay.pool.model.messages import DirectoryShape, QuestionKind, Reply

if TYPE_CHECKING:
    from forebay.pool.model.pool import Lost, PoolStatus

ANSWER_SECONDS_MAX = 30.0
CONNECT_SECONDS_MAX = 5.0
_DESCRIPTORS_MAX = 4
_CREDENTIALS = struct.Struct("=iII")
_HOLDING = ("pooled", "leaving")


@frozen
class Answer:
    """A reply, and the descriptors that came with it (SCM_RIGHTS). The caller has to close them."""

    reply: Reply
    descriptors: tuple[int, ...]


class PoolSocket:
    """One connection to a daemon. It answers requests in their order."""

    def __init__(self, path: Path, *, daemon: int | None = None) -> None:
        """Connects to the daemon at `path`. `daemon` is the process id that has to listen there, if
        known. Raises PoolError if nobody listens there, or the listener is not trusted."""
        self._path = path
        self._messages = pool_messages()
        if not os.path.lexists(path):  # a missing socket is reported before a bad folder
            raise _unreachable(path, "nobody listens there")
        problem = folder_problem(path.parent)
        if problem is not None:
            raise _mistrusted(path, f"its folder is not safe: {problem}")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(CONNECT_SECONDS_MAX)  # connect blocks if the backlog is full
        try:
            self._socket.connect(str(path))
        except OSError as error:
            self._socket.close()
            why = "nobody listens there" if _is_nobody(error) else error.strerror or str(error)
            raise _unreachable(path, why) from error
        problem = _listener_problem(self._socket, daemon)
        if problem is not None:
            self._socket.close()
            raise _mistrusted(path, problem)

    def __enter__(self) -> PoolSocket:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection. Requests that were sent are carried out all the same."""
        self._socket.close()

    def ask(self, what: QuestionKind) -> None:
        """Sends a request and does not wait. Raises PoolError if the daemon is gone."""
        self._socket.settimeout(ANSWER_SECONDS_MAX)
        try:
            self._socket.send(self._messages.question(what), socket.MSG_NOSIGNAL)
        except OSError as error:
            raise self._gone(error.strerror) from error

    def answer(self, seconds_max: float) -> Answer | None:
        """The next answer, or None if it did not come in time. Raises PoolError if the daemon is
        gone."""
        self._socket.settimeout(seconds_max)
        try:
            length = self._messages.reply_layout.length
            data, descriptors, flags, _ = socket.recv_fds(
                self._socket, length + 1, _DESCRIPTORS_MAX, socket.MSG_CMSG_CLOEXEC
            )
        except (TimeoutError, BlockingIOError):
            return None
        except OSError as error:
            raise self._gone(error.strerror) from error
        if not data:
            raise self._gone("it has hung up")
        said = self._messages.reply(data)
        if said is None or flags & socket.MSG_CTRUNC:
            close_all(descriptors)
            raise self._gone("what it says is no answer: it may be of another version")
        return Answer(reply=said, descriptors=tuple(descriptors))

    def status(self) -> PoolStatus:
        """The daemon's status. Raises PoolError if it does not answer in time."""
        self.ask(QuestionKind.STATUS)
        status = self.status_answer(ANSWER_SECONDS_MAX)
        if status is None:
            raise self._gone(f"nothing for {ANSWER_SECONDS_MAX:.0f} s")
        return status

    def status_answer(self, seconds_max: float) -> PoolStatus | None:
        """The answer to a request for the status, or None if it did not come in time."""
        answer = self.answer(seconds_max)
        if answer is None:
            return None
        try:
            if answer.reply.error or not answer.descriptors:
                raise self._gone(os.strerror(answer.reply.error or 0))
            data = b""
            while more := os.pread(answer.descriptors[0], 1 << 20, len(data)):
                data += more
            return decode_status(data.decode("utf-8", "replace"))
        finally:
            close_all(answer.descriptors)

    def watch(self, shape: DirectoryShape) -> DirectoryWatch:
        """Maps the daemon's directory, which can be read even after the daemon has died."""
        self.ask(QuestionKind.WATCH)
        answer = self.answer(ANSWER_SECONDS_MAX)
        if answer is None:
            raise self._gone(f"nothing for {ANSWER_SECONDS_MAX:.0f} s")
        try:
            if answer.reply.error or not answer.descriptors:
                raise self._gone("it does not pass its directory")
            return DirectoryWatch(answer.descriptors[0], shape)
        finally:
            close_all(answer.descriptors)

    def _gone(self, why: str | None) -> PoolError:
        return PoolError(
            f"the daemon of the pool at {self._path} does not answer ({why or 'unknown'}). "
            "See in its messages what happened to it."
        )


def close_all(descriptors: list[int] | tuple[int, ...]) -> None:
    """Closes the descriptors that came with an answer."""
    for one in descriptors:
        with contextlib.suppress(OSError):
            os.close(one)


def _listener_problem(connected: socket.socket, daemon: int | None) -> str | None:
    """Why the listener must not be trusted, or None. The kernel reports process 0 for a listener in
    another PID namespace; then only its user is checked."""
    said = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    process, user, _group = _CREDENTIALS.unpack(said)
    if user != os.geteuid():
        return "another user listens there"
    if daemon and process and process != daemon:
        return f"process {process} listens there, not the daemon, process {daemon}"
    return None


def _unreachable(path: Path, why: str) -> PoolError:
    return PoolError(
        f"cannot reach a daemon of the pool at {path} ({why}). "
        "Start one by `forebay pool start PATH`, or name another by --socket."
    )


def _mistrusted(path: Path, why: str) -> PoolError:
    return PoolError(
        f"cannot trust what is at {path} ({why}). Nothing was told to it. "
        "Start a pool of your own by `forebay pool start PATH`, or name another by --socket."
    )


def _is_nobody(error: OSError) -> bool:
    return isinstance(error, (FileNotFoundError, ConnectionRefusedError))


class DirectoryWatch:
    """A daemon's directory of files, mapped read-only: it shows which deposits were lost when the
    daemon died."""

    def __init__(self, descriptor: int, shape: DirectoryShape) -> None:
        self._shape = shape
        length = min(shape.bytes, os.fstat(descriptor).st_size)
        self._memory = mmap.mmap(descriptor, length, mmap.MAP_SHARED, mmap.PROT_READ)

    def outstanding(self) -> tuple[Lost, ...]:
        """Pooled files, with the bytes that the daemon had taken and not drained. These are lower
        bounds: it may not have looked at the newest deposits."""
        from forebay.pool.model.pool import Lost

        found: dict[str, int] = {}
        holding = pool_messages().numbers_of(_HOLDING)
        for slot in range(self._shape.files_max):
            at = self._shape.files + slot * self._shape.file_bytes
            if self._number(at + self._shape.state, 4) not in holding:
                continue
            taken = self._number(at + self._shape.taken, 8)
            rest = taken - self._number(at + self._shape.drained, 8)
            path = self._text(at + self._shape.path)
            found[path] = found.get(path, 0) + max(rest, 0)
        return tuple(Lost(path=path, bytes=count) for path, count in found.items())

    def close(self) -> None:
        """Unmaps the directory."""
        self._memory.close()

    def _number(self, at: int, length: int) -> int:
        return int.from_bytes(self._memory[at : at + length], sys.byteorder, signed=True)

    def _text(self, at: int) -> str:
        return os.fsdecode(self._memory[at : at + self._shape.path_bytes].partition(b"\0")[0])
