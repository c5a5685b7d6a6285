"""The findings of `forebay doctor`: one statement each, and a remedy where it is a problem."""

from collections.abc import Sequence
from enum import Enum

from forebay.common.model.frozen import frozen


class Status(Enum):
    """How a finding is to be taken."""

    GOOD = "good"
    NOTE = "note"
    PROBLEM = "problem"


class Topic(Enum):
    """The subject of a finding; the report is in this order."""

    MPI = "MPI"
    LIBRARIES = "Interposer"
    FORWARDING = "Environment reaches ranks"
    PROGRAM = "Program"
    DIRECTORY = "Directory"
    MACHINE = "Machine"


@frozen
class Finding:
    """One statement. `remedy` says what to do next."""

    topic: Topic
    status: Status
    subject: str
    detail: str
    remedy: str | None = None


def problems(findings: Sequence[Finding]) -> int:
    """How many findings are problems."""
    return sum(finding.status is Status.PROBLEM for finding in findings)
