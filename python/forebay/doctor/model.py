"""The findings of `forebay doctor`: one statement each, with a remedy if it is a problem."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from forebay.common.model.frozen import frozen


class Status(Enum):
    """The severity of a finding."""

    GOOD = "good"
    NOTE = "note"
    PROBLEM = "problem"


class Topic(Enum):
    """The subject of a finding. The report is in this order."""

    MPI = "MPI"
    LIBRARIES = "Interposer"
    FORWARDING = "Environment reaches ranks"
    PROGRAM = "Program"
    DIRECTORY = "Directory"
    MOUNT = "Mount over a directory (pool_mount)"
    MACHINE = "Machine"


@frozen
class Finding:
    """One statement. `remedy` says what to do; None if nothing is to be done."""

    topic: Topic
    status: Status
    subject: str
    detail: str
    remedy: str | None = None


def problems(findings: Sequence[Finding]) -> int:
    """The number of findings that are problems."""
    return sum(finding.status is Status.PROBLEM for finding in findings)
