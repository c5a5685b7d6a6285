"""Messages between a program and the daemon of its node, as bytes:
src/pool/protocol/messages.hpp in Python.
Both sides are on one machine, so numbers are as they lie in memory."""

import struct
from enum import IntEnum

from forebay.common.model.frozen import frozen

FORMAT = 0x666F72656261790F
PATH_BYTES = 256
_QUESTION = struct.Struct(f"=QIIIIqQQ{PATH_BYTES}s")
_REPLY = struct.Struct("=QIiIIIIq")
QUESTION_BYTES = _QUESTION.size
REPLY_BYTES = _REPLY.size


class Ask(IntEnum):
    """The requests of a process that is no client."""

    WATCH = 2
    STATUS = 9
    DRAIN = 10
    STOP = 11


@frozen
class Reply:
    """An answer. `error` is an errno; `number` depends on the question."""

    ask: int
    error: int
    number: int


def question(ask: Ask) -> bytes:
    """A question that is about no file."""
    return _QUESTION.pack(FORMAT, ask, 0, 0, 0, 0, 0, 0, b"")


def reply(data: bytes) -> Reply | None:
    """The reply in the bytes from the socket; None: it is no reply, or one of another version."""
    if len(data) != _REPLY.size:
        return None
    form, ask, error, _client, _slot, _generation, _state, number = _REPLY.unpack(data)
    return Reply(ask=ask, error=error, number=number) if form == FORMAT else None


@frozen
class DirectoryShape:
    """Where in a daemon's directory things lie, in bytes; the daemon's ready line says it."""

    files: int
    files_max: int
    file_bytes: int
    state: int
    taken: int
    drained: int
    path: int
    path_bytes: int

    @property
    def bytes(self) -> int:
        """How much of the directory has to be mapped to see all files."""
        return self.files + self.files_max * self.file_bytes
