"""Messages about lost bytes for the log of the system, as its sockets get them."""

import socket
import struct
from pathlib import Path

import pytest
from pool_test import FULL, status

from forebay.pool.files.system_log import send_messages
from forebay.pool.model.pool import Lost, PoolEnd, Rescued
from forebay.pool.model.system_message import (
    KEPT_ID,
    LOST_ID,
    MESSAGES_MAX,
    Severity,
    messages_of,
)

GONE = Rescued(
    path="/scratch/a\nb", error=28, error_text="No space left on device", bytes=7, file="",
    problem="no folder",
)  # fmt: skip


def received(log: socket.socket) -> list[bytes]:
    log.setblocking(False)
    found = []
    try:
        while True:
            found.append(log.recv(65536))
    except BlockingIOError:
        return found


def listening(path: Path) -> socket.socket:
    log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    log.bind(str(path))
    return log


def parsed(datagram: bytes) -> dict[str, str]:
    """The fields of a datagram, as systemd-journald reads them."""
    fields = {}
    while datagram:
        line, _, rest = datagram.partition(b"\n")
        name, equals, value = line.partition(b"=")
        if not equals:
            (length,) = struct.unpack("<Q", rest[:8])
            value, datagram = rest[8 : 8 + length], rest[8 + length + 1 :]
        else:
            datagram = rest
        fields[name.decode()] = value.decode()
    return fields


def test_lost_and_kept_bytes_come_to_the_journal(tmp_path: Path) -> None:
    end = PoolEnd(status=status(rescued=(FULL, GONE)), seconds=1.0)
    with listening(tmp_path / "journal") as log:
        send_messages(messages_of(end), journal=tmp_path / "journal", syslog=tmp_path / "no")
        kept, lost = map(parsed, received(log))
    assert (kept["MESSAGE_ID"], kept["PRIORITY"]) == (KEPT_ID, "4")
    assert kept["FOREBAY_RESCUE_FILE"] == FULL.file
    assert (lost["MESSAGE_ID"], lost["PRIORITY"]) == (LOST_ID, "3")
    assert (lost["FOREBAY_FILE"], lost["FOREBAY_BYTES"]) == ("/scratch/a\nb", "7")
    assert lost["SYSLOG_IDENTIFIER"] == "forebay"
    assert "LOST 7 bytes of /scratch/a" in lost["MESSAGE"]
    assert "\n" not in lost["MESSAGE"]


def test_where_there_is_no_journal_syslog_gets_them(tmp_path: Path) -> None:
    end = PoolEnd(status=None, seconds=0.0, death="killed", lost=(Lost(path="/x", bytes=9),))
    with listening(tmp_path / "log") as log:
        send_messages(messages_of(end), journal=tmp_path / "no", syslog=tmp_path / "log")
        (message,) = received(log)
    assert message.startswith(b"<11>forebay[")
    assert message.endswith(
        b": forebay: LOST at least 9 bytes of /x (the pool's daemon died: killed)"
    )


def test_without_a_log_or_without_losses_nothing_happens(tmp_path: Path) -> None:
    end = PoolEnd(status=status(rescued=(GONE,)), seconds=0.0)
    send_messages(messages_of(end), journal=tmp_path / "no", syslog=tmp_path / "no")
    assert messages_of(PoolEnd(status=status(), seconds=0.0)) == ()


def test_a_log_that_nobody_reads_is_not_waited_for(tmp_path: Path) -> None:
    end = PoolEnd(status=status(rescued=(GONE,) * 10), seconds=0.0)
    with listening(tmp_path / "journal"), pytest.MonkeyPatch.context() as patch:
        patch.setattr("forebay.pool.files.system_log._SECONDS_MAX", 0.01)
        for _ in range(100):
            send_messages(messages_of(end), journal=tmp_path / "journal")


def test_many_files_have_one_message_for_the_rest() -> None:
    lost = tuple(Lost(path=f"/{number}", bytes=1) for number in range(MESSAGES_MAX + 5))
    found = messages_of(PoolEnd(status=None, seconds=0.0, death="killed", lost=lost))
    assert len(found) == MESSAGES_MAX + 1
    assert "5 more files" in found[-1].text
    assert all(one.severity is Severity.ERROR for one in found)
