"""The summary of a run, as text and as JSON."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from forebay.common.model.printable import printable, printable_name, shell_words
from forebay.common.model.record import ErrorNote, FileSummary, JobRecord, PassedThrough, Traffic
from forebay.common.model.units import counted, human_bytes, human_seconds
from forebay.common.report.output import plain
from forebay.common.report.text_table import aligned
from forebay.pool.report.text import outcome_as_json, outcome_lines, outcome_verdict
from forebay.run.use_case.run_report import RunReport
from forebay.tier.model import TierTotals

FILES_SHOWN_MAX = 20
ERRORS_SHOWN_MAX = 5
_NUMBER = re.compile(r"\d+")
_COLUMNS = (
    "calls",
    "bytes",
    "MiB/s",
    "seconds",
    "exchange",
    "storage",
    "wait",
    "requests",
    "bypassed",
)


def as_json(report: RunReport) -> Any:
    """The summary in the schema forebay.run/1: the report, and MiB/s of each direction."""
    files = []
    for file in report.files:
        value = plain(file)
        for name, traffic in (("write", file.write), ("read", file.read)):
            value[name]["mib_per_second"] = traffic.mib_per_second
        files.append(value)
    return {
        "schema": "forebay.run/1",
        "status": report.status,
        "seconds": report.seconds,
        "command": list(report.command),
        "record": plain(report.record),
        "jobs": plain(report.jobs),
        "files": files,
        "io_ranks": plain(report.worlds),
        "pool": outcome_as_json(report.pool, seconds=report.seconds, status=report.status),
        "tiers": [
            {"folder": str(one.folder), "fast": str(one.fast), **plain(one.status)}
            for one in report.tiers
        ],
        "warnings": list(report.warnings),
        "nothing_recorded": list(report.reasons),
    }


def as_text(report: RunReport, *, told: Sequence[str] = (), with_legend: bool = False) -> str:
    """The summary as text for people. Warnings in `told` were printed before the run, and are left
    out. `with_legend` explains the columns of the pool's table."""
    return "\n".join(_lines(report, told, with_legend=with_legend))


def _lines(report: RunReport, told: Sequence[str], *, with_legend: bool) -> Iterator[str]:
    yield f"── forebay: {_first_words(report)}"
    for cut, count in Counter(report.worlds).items():
        times = "" if count == 1 else f", {count} times"
        seen = counted(cut.ranks - cut.io_ranks, "rank")
        yield f"I/O ranks: {cut.io_ranks} of {cut.ranks}; the program saw {seen}{times}"
    for line, count in Counter(_job_line(job) for job in report.jobs).items():
        yield line if count == 1 else f"{count} jobs, each: {line}"
    if report.reasons:
        what = "was recorded" if report.pool is None else "went through the pool"
        if set(report.reasons) <= set(told):
            yield f"Nothing {what}: why is said above."
        elif len(report.reasons) == 1:
            yield f"Nothing {what}. {printable(report.reasons[0])}"
        else:
            yield f"Nothing {what}. Why that may be:"
            yield from (f"  - {printable(reason)}" for reason in report.reasons)
    shown = _shown(report.files)
    for file in shown:
        yield from _file_lines(file)
    hidden = [file for file in report.files if file not in shown]
    if hidden:
        moved = human_bytes(sum(file.bytes_moved for file in hidden))
        yield f"and {counted(len(hidden), 'more file')} with {moved} (all of them: --format json)"
    if report.pool is not None:
        yield from outcome_lines(
            report.pool, is_empty=bool(report.reasons), with_legend=with_legend
        )
    for tier in report.tiers:
        yield _tier_line(tier)
    if report.record is not None:
        yield _record_line(report, report.record)
    for warning in (warning for warning in report.warnings if warning not in told):
        yield f"warning: {printable(warning)}"


def _first_words(report: RunReport) -> str:
    """Whether the pool paid, if there was one; the program's seconds and status."""
    facts = f"{human_seconds(report.seconds)} s, status {report.status}"
    if report.pool is None or report.reasons:
        return facts
    verdict = outcome_verdict(report.pool, seconds=report.seconds, status=report.status)
    return f"{verdict} ({facts})"


def _tier_line(tier: TierTotals) -> str:
    found = tier.status
    moved = f"{counted(found.moved, 'file')} moved ({human_bytes(found.moved_bytes)})"
    left = f"{found.waiting} left for the end ({human_bytes(found.waiting_bytes)})"
    hits = f"{found.hits} of {counted(found.hits + found.misses, 'file')} read there"
    return (
        f"tier of {printable_name(str(tier.folder))}: {human_bytes(found.taken_bytes)} written to "
        f"fast storage; {moved}, {left}, {found.evicted} evicted; {hits}"
    )


def _record_line(report: RunReport, record: Path) -> str:
    name = printable_name(str(record))
    if report.files or (report.pool is not None and not report.reasons):
        return f"record: {name}; what is in it: forebay report {shell_words([str(record)])}"
    return f"record: {name} has nothing but the length of this run: no file was recorded"


def _shown(files: Sequence[FileSummary]) -> Sequence[FileSummary]:
    """The files with errors or warnings, and those that moved most, in the order of the report."""
    ranked = sorted(files, key=lambda file: (not file.errors, not file.warnings, -file.bytes_moved))
    chosen = ranked[:FILES_SHOWN_MAX]
    return [file for file in files if file in chosen]


def _job_line(job: JobRecord) -> str:
    ranks, nodes = counted(job.ranks, "rank"), counted(job.nodes, "node")
    version = " ".join(job.mpi.split(",")[0].replace(" Version:", "").split())
    return f"{ranks} on {nodes}, {printable(version)}: {printable(job.command)}"


def _file_lines(file: FileSummary) -> Iterator[str]:
    yield ""
    yield printable_name(file.path)
    yield "  " + ", ".join(_circumstances(file))
    if file.write.calls or file.read.calls:
        yield from _traffic_lines(file)
    else:
        yield "  no call was taken over"
    yield from _found_lines(file)
    if file.passed_through:
        yield "  passed through to the MPI untouched:"
        yield from _passed_lines(file.passed_through)
    yield from _error_lines(file)
    for warning in file.warnings[:ERRORS_SHOWN_MAX]:
        yield f"  warning: {printable(warning)}"


def _error_lines(file: FileSummary) -> Iterator[str]:
    """Errors that differ only in numbers (a full disk at another offset) are printed once."""
    alike: dict[tuple[str, str], list[ErrorNote]] = {}
    for error in file.errors:
        text = _NUMBER.sub("0", error.message)
        alike.setdefault((error.error_class, text), []).append(error)
    groups = list(alike.values())
    for first, *others in groups[:ERRORS_SHOWN_MAX]:
        more = f" ({counted(len(others), 'more error')} like it)" if others else ""
        yield f"  error: {first.call}: {first.error_class}: {printable(first.message)}{more}"
    hidden = sum(len(group) for group in groups[ERRORS_SHOWN_MAX:])
    if hidden:
        yield f"  and {counted(hidden, 'more error')} of other kinds"


def _found_lines(file: FileSummary) -> Iterator[str]:
    for name, traffic in (("writes", file.write), ("reads", file.read)):
        if traffic.found_requests_in_flight:
            count = traffic.found_requests_in_flight
            noun = "request per target was" if count == 1 else "requests per target were"
            yield f"  {name}: {count} {noun} best"
    for slow in file.slow_targets:
        rate, usual = human_bytes(round(slow.rate)), human_bytes(round(slow.usual_rate))
        yield (
            f"  slow target: {slow.target} of {file.targets} ({slow.direction}) gives {rate}/s, "
            f"the others {usual}/s. Tell your administrators, or avoid it by another layout."
        )


def _circumstances(file: FileSummary) -> Iterator[str]:
    yield f"{counted(file.ranks, 'rank')} on {counted(file.nodes, 'node')}"
    if file.aggregators:
        some = ", ".join(str(rank) for rank in file.aggregators[:8])
        more = ", …" if len(file.aggregators) > 8 else ""
        name = "rank" if len(file.aggregators) == 1 else "ranks"
        yield f"{counted(len(file.aggregators), 'aggregator')} ({name} {some}{more})"
    else:
        yield "no aggregator"
    stripe = f" of {human_bytes(file.stripe_bytes)} stripes" if file.stripe_bytes else ""
    yield f"{counted(file.targets, 'target')}{stripe}"
    if file.opened > 1:
        yield f"opened {file.opened} times"
    if file.closed < file.opened:
        yield "not closed by the program"
    yield f"open {human_seconds(file.seconds_open)} s"


def _traffic_lines(file: FileSummary) -> list[str]:
    directions = (("write", file.write), ("read", file.read))
    rows = [("  " + name, *_cells(traffic)) for name, traffic in directions if traffic.calls]
    return aligned([("", *_COLUMNS), *rows], left={0})


def _cells(traffic: Traffic) -> Iterator[str]:
    yield str(traffic.calls)
    yield human_bytes(traffic.bytes)
    rate = traffic.mib_per_second
    yield "–" if rate is None else f"{rate:.1f}" if rate < 1000 else f"{rate:.0f}"
    yield human_seconds(traffic.seconds)
    yield human_seconds(traffic.seconds_exchange)
    yield human_seconds(traffic.seconds_storage)
    yield human_seconds(traffic.seconds_wait)
    yield str(traffic.requests)
    yield str(traffic.bypassed_calls)


def _passed_lines(notes: Sequence[PassedThrough]) -> list[str]:
    return aligned(
        [
            (
                "    " + note.call,
                counted(note.calls, "call"),
                "" if note.bytes is None else human_bytes(note.bytes),
                printable(note.reason),
            )
            for note in notes
        ],
        left={0, 3},
    )
