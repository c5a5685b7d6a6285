"""Messages between a program and the daemon of its node, as bytes. Their fields are in
schema/pool_messages.toml, from which C++ is made, too. Both sides are on one machine, so numbers
are as they lie in memory."""

import struct
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from forebay.common.model.frozen import frozen


class Ask(StrEnum):
    """The requests of a process that is no client."""

    WATCH = "watch"
    STATUS = "status"
    DRAIN = "drain"
    STOP = "stop"


@frozen
class Reply:
    """An answer. `error` is an errno; `number` depends on the question."""

    ask: int
    error: int
    number: int


@frozen
class MessageLayout:
    """The fields of a message in their order, and `form`: what they are to `struct`."""

    names: tuple[str, ...]
    form: str

    @property
    def length(self) -> int:
        """How long the message is."""
        return struct.calcsize(self.form)

    def pack(self, given: Mapping[str, Any]) -> bytes:
        """A message in which all that is not given is zero."""
        empty = struct.unpack(self.form, bytes(self.length))
        values = dict(zip(self.names, empty, strict=True))
        return struct.pack(self.form, *{**values, **given}.values())

    def unpack(self, data: bytes) -> Mapping[str, Any]:
        """The fields of a message of the right length."""
        return dict(zip(self.names, struct.unpack(self.form, data), strict=True))


@frozen
class PoolMessages:
    """Everything about messages that a build of Forebay has settled. `asks` and `states` are
    numbers by name; a question with another `format` is of another version."""

    format: int
    question_layout: MessageLayout
    reply_layout: MessageLayout
    asks: Mapping[str, int]
    states: Mapping[str, int]

    def question(self, ask: Ask) -> bytes:
        """A question that is about no file."""
        return self.question_layout.pack({"format": self.format, "ask": self.asks[ask]})

    def reply(self, data: bytes) -> Reply | None:
        """The reply in the bytes from the socket; None: it is no reply, or one of another
        version."""
        if len(data) != self.reply_layout.length:
            return None
        said = self.reply_layout.unpack(data)
        if said["format"] != self.format:
            return None
        return Reply(ask=said["ask"], error=said["error"], number=said["number"])

    def numbers_of(self, states: Sequence[str]) -> frozenset[int]:
        """States of a file as they are in the directory."""
        return frozenset(self.states[name] for name in states)


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
