"""Sends messages to the log of the system: to systemd's journal by its own protocol, else to
syslog's socket, else nowhere. It says nothing where that fails, since the user is told in any
case."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from forebay.common.model.printable import printable
from forebay.pool.model.system_message import SystemMessage

JOURNAL = Path("/run/systemd/journal/socket")
SYSLOG = Path("/dev/log")
_NAME = "forebay"
_USER_FACILITY = 1 << 3
_SECONDS_MAX = 1.0


def send_messages(
    messages: Sequence[SystemMessage], *, journal: Path = JOURNAL, syslog: Path = SYSLOG
) -> None:
    """Sends all messages to the first of the two that is there. Each takes a second at most, where
    the log's own process does not read."""
    if not messages:
        return
    place, form = (journal, _journal_form) if journal.exists() else (syslog, _syslog_form)
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.settimeout(_SECONDS_MAX)
        sender.connect(str(place))
        for message in messages:
            sender.send(form(message))


def _journal_form(message: SystemMessage) -> bytes:
    """systemd's native protocol: NAME=VALUE lines; a value with line ends comes behind its length
    (systemd.io/JOURNAL_NATIVE_PROTOCOL)."""
    fields = {
        "MESSAGE": printable(message.text),
        "PRIORITY": str(message.severity.value),
        "SYSLOG_IDENTIFIER": _NAME,
        "SYSLOG_PID": str(os.getpid()),
        **message.fields,
    }
    return b"".join(_journal_lines(fields))


def _journal_lines(fields: Mapping[str, str]) -> Iterator[bytes]:
    for name, text in fields.items():
        value = text.encode("utf-8", "surrogateescape")
        if b"\n" in value:
            yield name.encode() + b"\n" + struct.pack("<Q", len(value)) + value + b"\n"
        else:
            yield name.encode() + b"=" + value + b"\n"


def _syslog_form(message: SystemMessage) -> bytes:
    """As syslog(3) sends it, but without the time, which the receiver adds."""
    text = printable(message.text).encode("utf-8", "replace")
    return b"<%d>%s[%d]: %s" % (
        _USER_FACILITY | message.severity.value,
        _NAME.encode(),
        os.getpid(),
        text,
    )
