"""Messages for the log of the system, about bytes that are lost or did not arrive: those who look
after a machine see them there, though the programs are not theirs."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from forebay.common.model.frozen import frozen
from forebay.pool.model.pool import PoolEnd

LOST_ID = "16e21e4c99074f279272817f9b53d57e"
KEPT_ID = "dcc5188e8f06400eb6e0ee9731ca4251"
"""Identifiers of the two kinds of messages (MESSAGE_ID), by which journalctl finds them."""
MESSAGES_MAX = 20
"""Files that have a message of their own; one more says how many others there are."""


class Severity(Enum):
    """The severity, as syslog has it."""

    ERROR = 3
    WARNING = 4


@frozen
class SystemMessage:
    """One message. `fields` are further ones by their names in the journal."""

    severity: Severity
    text: str
    fields: Mapping[str, str]


def messages_of(end: PoolEnd) -> tuple[SystemMessage, ...]:
    """The messages about the end of a daemon; none if everything arrived."""
    found = [
        _lost(one.path, one.bytes, f"the pool's daemon died: {end.death}", least="at least ")
        for one in end.lost
    ]
    if end.death is not None and not end.lost:
        found.append(_died(end.death))
    for one in end.status.rescued if end.status else ():
        why = one.error_text or "it was told to end before"
        if one.file:
            found.append(_kept(one.path, one.bytes, why, one.file))
        else:
            found.append(_lost(one.path, one.bytes, f"{why}; {one.problem}"))
    if len(found) > MESSAGES_MAX:
        more = len(found) - MESSAGES_MAX
        text = f"forebay: and bytes of {more} more files are lost or did not arrive"
        last = SystemMessage(severity=Severity.ERROR, text=text, fields={"MESSAGE_ID": LOST_ID})
        found = [*found[:MESSAGES_MAX], last]
    return tuple(found)


def _lost(path: str, count: int, why: str, *, least: str = "") -> SystemMessage:
    return SystemMessage(
        severity=Severity.ERROR,
        text=f"forebay: LOST {least}{count} bytes of {path} ({why})",
        fields={"MESSAGE_ID": LOST_ID, "FOREBAY_FILE": path, "FOREBAY_BYTES": str(count)},
    )


def _died(death: str) -> SystemMessage:
    return SystemMessage(
        severity=Severity.ERROR,
        text=f"forebay: a pool's daemon died ({death}); it had no file open",
        fields={"MESSAGE_ID": LOST_ID},
    )


def _kept(path: str, count: int, why: str, rescue: str) -> SystemMessage:
    return SystemMessage(
        severity=Severity.WARNING,
        text=f"forebay: {count} bytes of {path} did not arrive ({why}); they are in {rescue}",
        fields={
            "MESSAGE_ID": KEPT_ID,
            "FOREBAY_FILE": path,
            "FOREBAY_BYTES": str(count),
            "FOREBAY_RESCUE_FILE": rescue,
        },
    )
