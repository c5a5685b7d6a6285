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
    KERNEL = "Kernel"
    LIMITS = "Limits of this process"
    SLURM = "Slurm"
    FILE_SYSTEMS = "File systems of this node"
    SITE = "Settings of the site"


@frozen
class DoctorFinding:
    """One statement. `remedy` says what to do; None if nothing is to be done."""

    topic: Topic
    status: Status
    subject: str
    detail: str
    remedy: str | None = None


def problems(findings: Sequence[DoctorFinding]) -> int:
    """The number of findings that are problems."""
    return sum(finding.status is Status.PROBLEM for finding in findings)


def good_finding(topic: Topic, subject: str, detail: str) -> DoctorFinding:
    """A finding that all is well."""
    return DoctorFinding(topic=topic, status=Status.GOOD, subject=subject, detail=detail)


def note_finding(
    topic: Topic, subject: str, detail: str, remedy: str | None = None
) -> DoctorFinding:
    """A finding that is worth knowing."""
    return DoctorFinding(
        topic=topic, status=Status.NOTE, subject=subject, detail=detail, remedy=remedy
    )


def problem_finding(topic: Topic, subject: str, detail: str, remedy: str) -> DoctorFinding:
    """A finding that something has to be repaired."""
    return DoctorFinding(
        topic=topic, status=Status.PROBLEM, subject=subject, detail=detail, remedy=remedy
    )
