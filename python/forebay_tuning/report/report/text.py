"""Prints a report: as text for people, and as JSON with stable keys."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from forebay.common.model.printable import printable, printable_name
from forebay.common.model.units import counted, human_bytes, human_seconds
from forebay.common.report.output import plain
from forebay_tuning.model.point import Direction
from forebay_tuning.report.model.diagnosis import ProgramDiagnosis
from forebay_tuning.report.model.takeover import takeovers
from forebay_tuning.report.report.words import Explained

if TYPE_CHECKING:
    from forebay.common.model.record import PoolRecord
    from forebay_tuning.model.program_io import FileIo, ProgramIo

_FILES_SHOWN = 8
_FULL = 0.95
_REST_LEAST = 0.01
"""Share of the I/O: less without a cause is not told."""
_BRIEF = 1.0
"""Seconds: what costs less is told to be little."""


def as_text(diagnosis: ProgramDiagnosis, *, is_ascii: bool = False) -> str:
    """The report as text for people. `is_ascii`: time lines are to be of ASCII."""
    program = diagnosis.program
    explained = Explained()
    lines = [
        f"{printable(program.command)[:200] or program.source}",
        f"{counted(program.ranks, 'rank')}, {length_text(program.seconds)}, started "
        f"{program.started or 'at an unknown time'}; {_moved(diagnosis)}",
        *_metadata(program.metadata_share),
        *(line for pool in program.pools for line in pool_lines(pool)),
        "",
        explained(diagnosis.verdict),
    ]
    for number, one in enumerate(diagnosis.troubles, start=1):
        lines += [
            f"{number}. {explained(one.title)} (up to {human_seconds(one.seconds)} s)",
            f"   {explained(one.detail)}",
            f"   {explained(one.action)}",
            f"   proof: {one.proof}" if one.proof else "",
        ]
    lines += map(explained, _sum(diagnosis))
    lines += _takeover(diagnosis)
    files = sorted(program.files, key=lambda one: -_seconds(one, program))[:_FILES_SHOWN]
    if files:
        lines += ["", f"{'seconds':>10}  {'written':>10}  {'read':>10}  {'ranks':>6}  file"]
        lines += [
            f"{_seconds(one, program):>10.3f}  "
            f"{human_bytes(one.write.bytes):>10}  {human_bytes(one.read.bytes):>10}  "
            f"{one.ranks:>6}  {_path(one)}"
            for one in files
        ]
        left = program.file_count - sum(one.files for one in files)
        if left > 0:
            lines.append(f"and {counted(left, 'more file')}; seconds are of the slowest rank")
    if program.courses:
        from forebay_tuning.report.report.course import course_lines

        lines += course_lines(program.courses, is_ascii=is_ascii)
        lines.append("")
    lines += [f"not known: {text}" for text in program.gaps]
    return "\n".join(lines)


def _path(file: FileIo) -> str:
    """The path, or the words that stand for many files."""
    return file.path if file.files > 1 else printable_name(file.path)


def _seconds(file: FileIo, program: ProgramIo) -> float:
    """Seconds of the file's slowest rank, which are no longer than the run."""
    found = max(file.slowest_seconds, file.seconds / file.ranks)
    return min(found, program.seconds) if program.seconds > 0 else found


def pool_lines(pool: PoolRecord) -> list[str]:
    """Lines on the bytes that went through the pool, and on those that did not."""
    on = f" on {counted(pool.nodes, 'node')}" if pool.nodes > 1 else ""
    lines = [
        f"pool: {human_bytes(pool.taken)} taken{on}; processes waited "
        f"{human_seconds(pool.waited_seconds)} s for it, all together; "
        f"{human_seconds(pool.drain_seconds)} s from the program's end until all was written out"
    ]
    if not pool.arrived:
        lines.append("pool: NOT ALL BYTES ARRIVED: the summary of the run says which, and why")
    if pool.cap and pool.high >= _FULL * pool.cap:
        lines.append(
            f"pool: its memory was full at times ({human_bytes(pool.high)} of "
            f"{human_bytes(pool.cap)} reserved); with more (setting pool_cap), less is waited for"
        )
    past = [one for one in pool.files if one.past_the_pool]
    lines += [
        f"past the pool: {printable_name(one.path)}: {one.past_the_pool}"
        for one in past[:_FILES_SHOWN]
    ]
    if past[_FILES_SHOWN:]:
        lines.append(f"past the pool: {counted(len(past) - _FILES_SHOWN, 'more file')}")
    return lines


def length_text(seconds: float) -> str:
    """The length of a run in words; 0 is unknown, as in records not made by `forebay run`."""
    return f"{human_seconds(seconds)} s" if seconds > 0 else "a run of unknown length"


def _sum(diagnosis: ProgramDiagnosis) -> list[str]:
    program = diagnosis.program
    lines = [f"also: {text}" for text in diagnosis.notes]
    if diagnosis.troubles:
        rest = max(0.0, program.seconds_io - diagnosis.seconds_lost)
        lost = diagnosis.seconds_lost
        together = f"Together {human_seconds(lost)} s of {length_text(program.seconds)}"
        if rest >= _REST_LEAST * (lost + rest):
            together += f"; for {human_seconds(rest)} s more of I/O the log shows no cause"
        brief = ""
        if lost < _BRIEF and program.seconds > 0:
            brief = (
                " That is less than a second: only if the program runs often is it worth a change."
            )
        lines.insert(0, f"{together}.{brief}")
    return lines


def _takeover(diagnosis: ProgramDiagnosis) -> list[str]:
    """Lines that estimate what Forebay would gain; none of it is measured."""
    found = takeovers(diagnosis.program, diagnosis.portrait)
    if not found:
        return []
    storage = ""
    if diagnosis.portrait is not None and any(one.is_by_portrait for one in found):
        storage = f"; storage takes what the portrait {diagnosis.portrait.identity.name} predicts"
    log = shlex.quote(diagnosis.program.source.removeprefix("Darshan log "))
    return [
        "",
        "Forebay would take over (an estimate: each call is assumed to take 0.1 to 2.5 ms"
        f"{storage}):",
        *(f"- {one.text}" for one in found),
        "To prove it (DIR is for the program's output, COMMAND starts it):",
        f"  forebay advise --darshan {log} -o advice.json",
        "  forebay verify advice.json --output-dir DIR -- COMMAND",
    ]


def _metadata(share: float | None) -> list[str]:
    return [] if share is None else [f"opening, closing and the like: {share:.0%} of the I/O time"]


def _moved(diagnosis: ProgramDiagnosis) -> str:
    files = diagnosis.program.files
    told = [
        f"{human_bytes(total)} {'written' if direction is Direction.WRITE else 'read'}"
        for direction in Direction
        if (total := sum(one.passing(direction).bytes for one in files))
    ]
    moved = " and ".join(told) or "nothing moved"
    return f"{moved} in {counted(diagnosis.program.file_count, 'file')}"


def as_json(diagnosis: ProgramDiagnosis) -> Any:
    """The report in the schema forebay.report/1 (schema/report.md)."""
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
        "forebay_would_take_over": plain(takeovers(program, diagnosis.portrait)),
        "sick_targets": plain(diagnosis.sick),
        "pools": plain(program.pools),
        "files": program.file_count,
        "bytes_written": sum(one.write.bytes for one in program.files),
        "bytes_read": sum(one.read.bytes for one in program.files),
        "gaps": list(program.gaps),
    }
