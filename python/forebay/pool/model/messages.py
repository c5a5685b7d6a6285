"""Encodes and decodes the messages between a process and the daemon of its node. Their fields are
in schema/pool_messages.toml, from which the C++ structs are generated, too. Both ends are on one
machine, so numbers are in native byte order."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

from forebay.common.model.frozen import frozen
from forebay.common.model.newer_python import StrEnum, zip_of


class QuestionKind(StrEnum):
    """The requests of a process that is not a client of the pool."""

    WATCH = "watch"
    STATUS = "status"
    DRAIN = "drain"
    STOP = "stop"


@frozen
class Reply:
    """A reply. `error` is an errno or 0; the meaning of `number` depends on the request."""

    ask: int
    error: int
    number: int


@frozen
class MessageLayout:
    """The fields of a message in their order; `form` is their format for the module `struct`."""

    names: tuple[str, ...]
    form: str

    @property
    def length(self) -> int:
        """The length of the message in bytes."""
        return struct.calcsize(self.form)

    def pack(self, given: Mapping[str, Any]) -> bytes:
        """The message with the fields in `given`; all others are zero."""
        empty = struct.unpack(self.form, bytes(self.length))
        values = dict(zip_of(self.names, empty, strict=True))
        return struct.pack(self.form, *{**values, **given}.values())

    def unpack(self, data: bytes) -> Mapping[str, Any]:
        """The fields of a message, whose length must be right."""
        return dict(zip_of(self.names, struct.unpack(self.form, data), strict=True))


@frozen
class PoolMessages:
    """The message formats of one build of Forebay. `asks` and `states` map names to numbers;
    `format` is a version number, which every message carries."""

    format: int
    question_layout: MessageLayout
    reply_layout: MessageLayout
    asks: Mapping[str, int]
    states: Mapping[str, int]

    def question(self, ask: QuestionKind) -> bytes:
        """A request that concerns no particular file."""
        return self.question_layout.pack({"format": self.format, "ask": self.asks[ask]})

    def reply(self, data: bytes) -> Reply | None:
        """The reply in the bytes from the socket, or None if they are no reply, or one of another
        version."""
        if len(data) != self.reply_layout.length:
            return None
        said = self.reply_layout.unpack(data)
        if said["format"] != self.format:
            return None
        return Reply(ask=said["ask"], error=said["error"], number=said["number"])

    def numbers_of(self, states: Sequence[str]) -> frozenset[int]:
        """The numbers that stand for these states of a file in the directory."""
        return frozenset(self.states[name] for name in states)


@frozen
class DirectoryShape:
    """Byte offsets of the fields in a daemon's directory, as its ready line gives them."""

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
        """The length of the directory that has to be mapped to see all files."""
        return self.files + self.files_max * self.file_bytes
