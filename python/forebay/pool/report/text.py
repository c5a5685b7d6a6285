"""Reports what became of the bytes in the pool, as text and as JSON."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from forebay.common.model.printable import printable, printable_name, shell_words
from forebay.common.model.units import counted, human_bytes, human_seconds
from forebay.common.report.output import plain
from forebay.common.report.text_table import aligned
from forebay.pool.model.pool import Lost, PoolEnd, PoolFile, PoolStatus, Rescued
from forebay.pool.model.verdict import Judgement, verdict_of
from forebay.pool.report.drain_progress import hang_text
from forebay.pool.report.verdict_text import ended_text, verdict_text
from forebay.pool.use_case.run_pool import PoolOutcome

FILES_SHOWN_MAX = 20
_COLUMNS = ("taken", "most held", "waited", "file system", "hidden", "MiB/s", "file")
_GONE = " (renamed or removed since)"
_LEGEND = """\
  taken        bytes that programs gave to the pool
  most held    the most of these that were in the pool at a time
  waited       seconds that processes waited, added up: for room, for the file system, and for the
               pool's answers when they opened, synced or truncated the file
  file system  seconds with at least one request of the file at the file system
  hidden       the part of these seconds that nobody waited for (file system - waited)
  MiB/s        of these requests, while the file system had any"""
STATUS_COLUMNS = (
    "taken",
    "to go",
    "age",
    "waited",
    "file system",
    "MiB/s",
    "state",
    "file",
)


def file_as_json(file: PoolFile) -> Any:
    """A file in the schema forebay.pool/1, with values that are derived from it."""
    return {
        **plain(file),
        "hidden_seconds": file.hidden_seconds,
        "hidden": file.hidden,
        "past_the_pool": file.past_the_pool,
    }


def outcome_as_json(
    outcome: PoolOutcome | None, *, seconds: float | None = None, status: int = 0
) -> Any:
    """The member `pool` of the schema forebay.run/1. `seconds` is how long the program ran, and
    `status` is that of the run."""
    if outcome is None:
        return None
    end = end_as_json(outcome.end, seconds=seconds)
    text = outcome_verdict(outcome, seconds=seconds, status=status)
    return {
        "paths": plain(outcome.paths),
        "gone": sorted(outcome.gone),
        **end,
        "verdict": {**end["verdict"], "text": text},
    }


def end_as_json(end: PoolEnd, *, seconds: float | None = None) -> dict[str, Any]:
    """How a daemon ended, as JSON. `seconds` is how long the program ran; None if not known."""
    status = end.status
    return {
        "verdict": plain(verdict_of(end, seconds=seconds)),
        "arrived": end.arrived,
        "death": end.death,
        "drain_seconds": end.seconds,
        "taken": status.taken if status else None,
        "cap": status.cap if status else None,
        "high": status.high if status else None,
        "memory": status.memory if status else None,
        "memory_limit_file": status.memory_limit_file if status else None,
        "storage_seconds": status.storage_seconds if status else None,
        "clients_high": status.clients_high if status else None,
        "read_ahead": status.read_ahead if status else None,
        "read_from_nodes": status.read_from_nodes if status else None,
        "files": [file_as_json(file) for file in status.files] if status else [],
        "files_dropped": status.files_dropped if status else 0,
        "notes": list(status.notes) if status else [],
        "durability_ended": status.durability_ended if status else "",
        "rescued": [
            {**plain(one), "command": list(one.next_step)}
            for one in (status.rescued if status else ())
        ],
        "lost": plain(end.lost),
        "messages": list(end.messages),
    }


def outcome_verdict(outcome: PoolOutcome, *, seconds: float | None, status: int = 0) -> str:
    """One line that says whether the pool paid. `seconds` is how long the program ran. Where it
    failed (`status`), the line begins with what became of its bytes."""
    end = outcome.end
    verdict = verdict_of(end, seconds=seconds)
    has_failed = status not in (0, end.exit_status)  # else it is the pool's status, if any
    if not has_failed or not end.arrived or end.status is None or not end.status.taken:
        return verdict_text(verdict)
    whose = "it" if verdict.judgement is Judgement.FINE else "your program"
    return (
        f"{ended_text(status)}; all that it had written through the pool is in its files. "
        f"{verdict_text(verdict, whose=whose)}"
    )


def stopped_verdict(end: PoolEnd) -> str:
    """As `outcome_verdict`, of a pool that was there for several programs."""
    return verdict_text(verdict_of(end, seconds=None), whose="programs", its="their")


def outcome_lines(
    outcome: PoolOutcome, *, is_empty: bool = False, with_legend: bool = False
) -> Iterator[str]:
    """The lines about the pool after a run. With `is_empty`, the reader already knows that nothing
    went through it. `with_legend` explains the columns."""
    status = outcome.end.status
    if not is_empty:
        yield ""
    if status is not None and not is_empty:
        yield headline(status, outcome.end, since="the program's end")
        if status.read_ahead:
            passed = human_bytes(status.read_from_nodes)
            whence = f", {passed} of it from other nodes" if status.read_from_nodes else ""
            yield f"  {human_bytes(status.read_ahead)} were read ahead{whence}"
        yield from files_lines(status.files, gone=outcome.gone, with_legend=with_legend)
        if status.files_dropped:
            yield f"  and {counted(status.files_dropped, 'more file')} that nobody kept count of"
    yield from end_lines(outcome.end)


def headline(status: PoolStatus, end: PoolEnd, *, since: str) -> str:
    """One line for all files together."""
    files = counted(sum(file.taken > 0 for file in status.files), "file")
    return (
        f"through the pool: {human_bytes(status.taken)} of {files}, drained "
        f"{human_seconds(end.seconds)} s after {since}; memory reserved: at most "
        f"{human_bytes(status.high)} of {human_bytes(status.cap)}{_memory_text(status)}"
    )


def _memory_text(status: PoolStatus) -> str:
    """The limit that the pool's memory is a part of: the node's or a control group's."""
    if not status.memory:
        return ""
    if not status.memory_limit_file:
        return f" (of the node's {human_bytes(status.memory)})"
    return (
        f" (programs and pool together have {human_bytes(status.memory)}: "
        f"{printable(status.memory_limit_file)})"
    )


def files_lines(
    files: Sequence[PoolFile],
    *,
    gone: Collection[str] = frozenset(),
    with_legend: bool = False,
) -> Iterator[str]:
    """A table of the files that programs waited for, longest first, and a list of those that went
    past the pool and are not in the table. Files that were only read are left out. `gone` are names
    that do not exist any more."""
    through = [file for file in files if file.taken or file.error]
    ranked = sorted(
        through, key=lambda one: (not one.error, -one.waited_seconds, -one.taken, one.path)
    )
    shown = ranked[:FILES_SHOWN_MAX]
    if shown:
        rows = [(*_cells(file)[:-1], _name(file, gone)) for file in shown]
        yield from aligned([_COLUMNS, *rows], left={6}, indent="  ")
        if with_legend:
            yield _LEGEND
    yield from _more_than(shown, through, indent="  ")
    in_table = {file.path for file in shown}
    past = [file for file in files if file.past_the_pool and file.path not in in_table]
    if past:
        yield "  went past the pool, from then on or all the time:"
        named = past[:FILES_SHOWN_MAX]
        lines = [(printable_name(file.path), str(file.past_the_pool)) for file in named]
        yield from aligned(lines, left={0, 1}, indent="    ")
        yield from _more_than(named, past, indent="    ")


def _name(file: PoolFile, gone: Collection[str]) -> str:
    """The file's name, and what else the reader has to know about it."""
    past = f" (went past the pool, too: {file.past_the_pool})" if file.past_the_pool else ""
    return printable_name(file.path) + _GONE * (file.path in gone) + past


def _more_than(
    shown: Sequence[PoolFile], all_: Sequence[PoolFile], *, indent: str
) -> Iterator[str]:
    hidden = len(all_) - len(shown)
    if hidden:
        yield f"{indent}and {counted(hidden, 'more file')} (all of them: --format json)"


def _cells(file: PoolFile) -> tuple[str, ...]:
    rate = file.rate / (1 << 20)
    return (
        human_bytes(file.taken),
        human_bytes(file.high),
        f"{human_seconds(file.waited_seconds)} s",
        f"{human_seconds(file.storage_seconds)} s",
        "–" if file.hidden is None else f"{100 * file.hidden:.0f} %",
        f"{rate:.1f}" if 0 < rate < 1000 else f"{rate:.0f}",
        printable_name(file.path),
    )


def end_lines(end: PoolEnd) -> Iterator[str]:
    """The bytes that did not reach their files, and what to do about them."""
    if end.death is not None:
        yield (
            f"THE POOL'S DAEMON DIED ({printable(end.death)}). What it had taken and not yet "
            "written is lost, and what programs wrote in its last moments. (With "
            "pool_durability=node it is in the journal: the next daemon with the same "
            "pool_journal writes it.) Of these files:"
        )
        yield from (_lost_line(one) for one in end.lost)
        if not end.lost:
            yield "  no file was open or waited to be drained"
        yield "Run the program again, or from its last complete output."
        yield from (f"  it said: {printable(line)}" for line in end.messages)
    if end.status is not None and end.status.durability_ended:
        yield durability_text(end.status)
    for note in end.status.notes if end.status else ():
        yield f"  {printable(note)}"
    for one in end.status.rescued if end.status else ():
        yield from _rescued_lines(one)


def durability_text(status: PoolStatus) -> str:
    """The consequences of a failed journal, for users."""
    return (
        f"DURABILITY ENDED BEFORE THE PROGRAM DID: {printable(status.durability_ended)} What "
        "writes and fsync had said until then was true. From then on everything was written to the "
        "files themselves, where a crash of the node loses what was not synced."
    )


def _lost_line(one: Lost) -> str:
    return f"  at least {human_bytes(one.bytes)} of {printable_name(one.path)}"


def _rescued_lines(one: Rescued) -> Iterator[str]:
    what = f"{human_bytes(one.bytes)} of {printable_name(one.path)}"
    why = printable(one.error_text) or "it was told to end before"
    if not one.file:
        yield f"LOST: {what} ({why}), since they could not be kept ({printable(one.problem)})"
        return
    yield f"DID NOT ARRIVE: {what} ({why}). They are kept; when that is mended, write them by"
    yield f"  {shell_words(one.next_step)}"


def status_lines(status: PoolStatus, place: str) -> Iterator[str]:
    """The present status of a daemon, as lines of text."""
    state = ", draining" if status.closing else ""
    up = human_seconds(status.uptime_seconds)
    yield f"daemon {status.process} at {printable_name(place)}, up {up} s{state}"
    clients = counted(len(status.clients), "program")
    yield (
        f"  memory reserved: {human_bytes(status.leased)} of {human_bytes(status.cap)}"
        f"{_memory_text(status)}, at most {human_bytes(status.high)} so far; "
        f"{human_bytes(status.outstanding)} to go, the oldest "
        f"{human_seconds(status.oldest_seconds)} s old; {clients}, "
        f"{counted(status.lag, 'write')} to be looked at"
    )
    if hang := hang_text(status):
        yield f"  {hang}"
    if status.durability_ended:
        yield f"  {durability_text(status)}"
    for note in status.notes:
        yield f"  {printable(note)}"
    ranked = sorted(status.files, key=lambda one: (not one.error, -one.outstanding, -one.taken))
    chosen = ranked[:FILES_SHOWN_MAX]
    shown = [file for file in status.files if file in chosen]
    if shown:
        rows = [STATUS_COLUMNS, *(status_cells(file) for file in shown)]
        yield from aligned(rows, left={6, 7}, indent="  ")
    if len(shown) < len(status.files):
        hidden = len(status.files) - len(shown)
        yield f"  and {counted(hidden, 'more file')} (all of them: --format json)"


def status_cells(file: PoolFile) -> tuple[str, ...]:
    """The cells of a file below STATUS_COLUMNS."""
    taken, _, waited, storage, _, rate, path = _cells(file)
    state = file.state if not file.reason else f"{file.state} ({file.reason})"
    state = f"{state}, {printable(file.error_text)}" if file.error else state
    age = f"{human_seconds(file.oldest_seconds)} s" if file.outstanding else "–"
    return (taken, human_bytes(file.outstanding), age, waited, storage, rate, state, path)
