"""`forebay report`: parse → diagnose → render."""

from pathlib import Path
from typing import Annotated, Any

import typer

from forebay.common.files.record_file import RecordFiles
from forebay.common.model.errors import EvidenceError
from forebay.common.model.printable import printable, printable_lines, printable_name
from forebay.common.model.units import counted, human_bytes, human_seconds
from forebay.common.options import option
from forebay.common.report.output import Format, FormatOption, json_pretty, plain
from forebay_tuning.model.point import Direction
from forebay_tuning.report.files.darshan_log import DarshanLogs
from forebay_tuning.report.model.diagnosis import Diagnosis
from forebay_tuning.report.report.page import ReportPages
from forebay_tuning.report.use_case import Sources, diagnose_file

HELP = """Say what a program's I/O was, and what held it back.

FILE is a Darshan log (.darshan; needs `pip install darshan`), or a record of `forebay run`. The
answer is one list, the costliest first; what cost less than a twentieth of the run is not in it.

\b
Examples:
  forebay report job.darshan
  forebay report run.jsonl --html run.html     with time lines and sizes
  forebay report --format json job.darshan

What to set is for `forebay advise --darshan job.darshan --portrait scratch.toml`.

\b
Exit status:
  0    reported (whatever there is to report)
  1    the file cannot be read, or tells of no I/O
  2    wrong option
  125  PyDarshan, or what --html draws with, is missing
"""

_FILES_SHOWN = 8


def report(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .darshan log or a record.")],
    html: Annotated[Path | None, option("--html", "FILE", "A page with pictures.")] = None,
    form: FormatOption = Format.TEXT,
) -> None:
    """Reads and reports."""
    pages = ReportPages()
    if html is not None:
        pages.check(html)
    if not file.is_file():
        raise EvidenceError(
            f"there is no file {file} (or it is a directory). Name a log or record."
        )
    diagnosis = diagnose_file(file, Sources(logs=DarshanLogs(), records=RecordFiles()))
    if form is Format.JSON:
        print(json_pretty(as_json(diagnosis)))
    else:
        print(printable_lines(as_text(diagnosis)))
    if html is not None:
        pages.write(diagnosis, html)


def as_text(diagnosis: Diagnosis) -> str:
    """For people."""
    program = diagnosis.program
    lines = [
        f"{printable(program.command)[:200] or program.source}",
        f"{counted(program.ranks, 'rank')}, {human_seconds(program.seconds)} s, started "
        f"{program.started or 'at an unknown time'}; {_moved(diagnosis)}",
        *_metadata(program.metadata_share),
        "",
        diagnosis.verdict,
    ]
    for number, one in enumerate(diagnosis.troubles, start=1):
        lines += [
            f"{number}. {one.title} (up to {human_seconds(one.seconds)} s)",
            f"   {one.detail}",
            f"   {one.action}",
            f"   proof: {one.proof}" if one.proof else "",
        ]
    lines += _sum(diagnosis)
    files = sorted(program.files, key=lambda one: -one.seconds)[:_FILES_SHOWN]
    if files:
        lines += ["", f"{'seconds':>10}  {'written':>10}  {'read':>10}  {'ranks':>6}  file"]
        lines += [
            f"{one.seconds / one.ranks:>10.3f}  {human_bytes(one.write.bytes):>10}  "
            f"{human_bytes(one.read.bytes):>10}  {one.ranks:>6}  {printable_name(one.path)}"
            for one in files
        ]
        left = program.file_count - sum(one.files for one in files)
        if left > 0:
            lines.append(f"and {counted(left, 'more file')}; seconds are of a rank, on average")
    lines += [f"not known: {text}" for text in program.gaps]
    return "\n".join(lines)


def _sum(diagnosis: Diagnosis) -> list[str]:
    program = diagnosis.program
    lines = [f"also: {text}" for text in diagnosis.notes]
    if diagnosis.troubles:
        rest = max(0.0, program.seconds_io - diagnosis.seconds_lost)
        lines.insert(
            0,
            f"Together {human_seconds(diagnosis.seconds_lost)} s of "
            f"{human_seconds(program.seconds)} s; for {human_seconds(rest)} s more of I/O the log "
            "shows no cause.",
        )
    return lines


def _metadata(share: float | None) -> list[str]:
    return [] if share is None else [f"opening, closing and the like: {share:.0%} of the I/O time"]


def _moved(diagnosis: Diagnosis) -> str:
    files = diagnosis.program.files
    told = [
        f"{human_bytes(total)} {'written' if direction is Direction.WRITE else 'read'}"
        for direction in Direction
        if (total := sum(one.passing(direction).bytes for one in files))
    ]
    moved = " and ".join(told) or "nothing moved"
    return f"{moved} in {counted(diagnosis.program.file_count, 'file')}"


def as_json(diagnosis: Diagnosis) -> Any:
    """The schema forebay.report/1."""
    program = diagnosis.program
    return {
        "schema": "forebay.report/1",
        "source": program.source,
        "command": program.command,
        "ranks": program.ranks,
        "seconds": program.seconds,
        "seconds_io": program.seconds_io,
        "metadata_share": program.metadata_share,
        "started": program.started,
        "verdict": diagnosis.verdict,
        "seconds_lost": diagnosis.seconds_lost,
        "troubles": plain(diagnosis.troubles),
        "notes": list(diagnosis.notes),
        "sick_targets": plain(diagnosis.sick),
        "files": program.file_count,
        "bytes_written": sum(one.write.bytes for one in program.files),
        "bytes_read": sum(one.read.bytes for one in program.files),
        "gaps": list(program.gaps),
    }


def attach(app: typer.Typer) -> None:
    """Puts `report` into the command."""
    app.command("report", help=HELP, short_help="What a program's I/O was, and what held it back.")(
        report
    )
