"""Use case: diagnose a program from a Darshan log or a Forebay record."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from forebay.common.model.errors import EvidenceError
from forebay.common.model.frozen import frozen
from forebay_tuning.model.program_io import ProgramIo
from forebay_tuning.report.model.diagnosis import ProgramDiagnosis, diagnose, with_sick

if TYPE_CHECKING:
    from forebay.ports import Records
    from forebay_tuning.model.portrait import Portrait


class Logs(Protocol):
    """The port to logs of other tools."""

    def read(self, path: Path) -> ProgramIo:
        """The log as evidence. Raises EvidenceError if it cannot be read, and SetupError if the
        reader is missing."""


@frozen
class Sources:
    """The readers of evidence: logs and records."""

    logs: Logs
    records: Records


def diagnose_file(
    path: Path, sources: Sources, *, portrait: Portrait | None = None
) -> ProgramDiagnosis:
    """The diagnosis of a Darshan log, which is known by its name, or of a record; with a portrait,
    also what opening its files costs by that, and whether it explains the log's seconds."""
    found = diagnose(sources.logs.read(path)) if _is_log(path) else _diagnose_record(path, sources)
    if portrait is None:
        return found
    from forebay_tuning.report.model.against_portrait import held_against
    from forebay_tuning.report.model.prices import priced

    return held_against(priced(found, portrait), portrait)


def _diagnose_record(path: Path, sources: Sources) -> ProgramDiagnosis:
    from forebay_tuning.report.model.from_record import program_of, sick_in  # not for a log

    record = sources.records.read(path, offset=0)
    if not record.files and record.damaged_lines:
        raise EvidenceError(
            f"{path} is neither a Darshan log nor a record (line {record.damaged_lines[0]} is no "
            "record's line). Give a file of `forebay run --record`, or a .darshan."
        )
    program = program_of(record, source=f"record {path}")
    return with_sick(diagnose(program), sick_in(record))


def diagnose_all(
    paths: Sequence[Path], sources: Sources
) -> tuple[list[ProgramDiagnosis], list[str]]:
    """The diagnoses of the files that can be read, and for the others the reasons why not."""
    found, refused = [], []
    for path in paths:
        try:
            found.append(diagnose_file(path, sources))
        except EvidenceError as error:
            refused.append(str(error))
    return found, refused


def _is_log(path: Path) -> bool:
    return path.suffix == ".darshan" or path.name.endswith((".darshan.gz", ".darshan_partial"))
