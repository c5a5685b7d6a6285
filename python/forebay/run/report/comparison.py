"""The result of a comparison of runs without and with Forebay, as text and as JSON."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from statistics import median
from typing import Any

from forebay.common.model.estimate import Ratio
from forebay.common.model.frozen import frozen
from forebay.common.model.printable import printable, printable_name
from forebay.common.model.units import counted, human_bytes, human_seconds
from forebay.common.report.output import plain
from forebay.pool.model.pool import EX_TEMPFAIL, PoolEnd
from forebay.pool.model.verdict import Judgement, verdict_of
from forebay.pool.report.text import durability_text, outcome_verdict
from forebay.pool.report.verdict_text import spoken
from forebay.run.model import (
    Contrast,
    FileDifference,
    RunSide,
    has_gained,
    speed_ratio,
    wait_without,
)
from forebay.run.report.summary import as_json, as_text
from forebay.run.use_case.compare_runs import RunComparison, RunFailure
from forebay.run.use_case.run_report import RunReport

DIFFERENCES_SHOWN_MAX = 10
_PAIRS_ADVICE = "--pairs 6"


@frozen
class _Waits:
    """Seconds for which the program waited for its files: with the pool, and about how many without
    it (None: not known)."""

    pool: float
    without: float | None
    processes: int


def comparison_as_json(found: RunComparison) -> Any:
    """The comparison in the schema forebay.run.compare/1."""
    ratio = speed_ratio(found.pairs) if found.pairs else None
    waits = _waits(found)
    last = found.reports[-1] if found.reports else None
    return {
        "schema": "forebay.run.compare/1",
        "status": found.status,
        "text": comparison_sentence(found),
        "failure": plain(found.failure),
        "pairs": plain(found.pairs),
        "ratio": ratio.estimate if ratio else None,
        "ratio_low": ratio.low if ratio else None,
        "ratio_high": ratio.high if ratio else None,
        "confidence": ratio.confidence if ratio else None,
        "waited_seconds": waits.pool if waits else None,
        "waited_seconds_without": waits.without if waits else None,
        "written": plain(found.written),
        "differences": plain(found.differences),
        "own_differences": plain(found.own),
        "unexplained": [one.name for one in found.unexplained],
        "kept": plain(found.kept),
        "run": None if last is None else as_json(last),
    }


def comparison_as_text(
    found: RunComparison, *, told: Collection[str] = (), with_summary: bool = False
) -> str:
    """The comparison as text for people; `with_summary`, that of its last run with Forebay, too.
    Warnings in `told` were printed before, and are left out."""
    return "\n".join(_lines(found, told, with_summary=with_summary))


def comparison_sentence(found: RunComparison) -> str:
    """The comparison in one sentence."""
    if found.failure is not None:
        return _failure_sentence(found, found.failure)
    waits = _waits(found)
    if waits is not None and waits.without is not None:
        said = (
            f"Your program waited about {spoken(waits.without)} for its files, "
            f"{spoken(waits.pool)} with the pool"
        )
    else:
        without = spoken(median(one.plain_seconds for one in found.pairs))
        with_it = spoken(median(one.forebay_seconds for one in found.pairs))
        said = f"Your program took {without} without Forebay, {with_it} with {_it(found)}"
    return f"{said}; {_bytes_text(found)}."


def _failure_sentence(found: RunComparison, failure: RunFailure) -> str:
    status = f"(status {failure.status})"
    if failure.side is RunSide.PLAIN:
        first = "" if found.reports else " There is nothing to compare."
        return f"Your program failed without Forebay {status}.{first}"
    pool = found.reports[-1].pool if found.reports else None
    if pool is not None and not pool.end.arrived:
        return f"Not all that your program wrote through the pool arrived {status}."
    if pool is not None and failure.status == EX_TEMPFAIL == pool.end.exit_status:
        return f"The pool's journal could not be written to the end {status}."
    before = ", and not without it" if found.plain_succeeded else ""
    return f"Your program failed with Forebay {status}{before}."


def _it(found: RunComparison) -> str:
    return "the pool" if _has_pool(found) else "it"


def _has_pool(found: RunComparison) -> bool:
    return any(one.pool is not None for one in found.reports)


def _waits(found: RunComparison) -> _Waits | None:
    """How long the program waited; None without a pool, or where its numbers do not tell."""
    verdicts = [
        verdict_of(one.pool.end, seconds=one.seconds)
        for one in found.reports
        if one.pool is not None and not one.reasons
    ]
    known = [one for one in verdicts if one.judgement is not Judgement.INCOMPLETE]
    if not known or not found.pairs:
        return None
    pool = median(one.waited_seconds for one in known)
    processes = max(one.processes for one in known)
    without = wait_without(found.pairs, waited=pool, processes=processes)
    return _Waits(pool=pool, without=without, processes=processes)


def _bytes_text(found: RunComparison) -> str:
    different = len(found.unexplained)
    if different:
        return f"{counted(different, 'file')} {'DIFFERS' if different == 1 else 'DIFFER'}"
    if found.differences:
        files = counted(len(found.differences), "file")
        is_one = len(found.differences) == 1
        how = "differs, as it does" if is_one else "differ, as they do"
        return f"{files} {how} without Forebay, too, and all else is the same"
    if not found.written.files:
        return "it wrote no file there, so that none was compared"
    files = counted(found.written.files, "file")
    return f"same bytes in {files} ({human_bytes(found.written.bytes)})"


def _lines(found: RunComparison, told: Collection[str], *, with_summary: bool) -> Iterator[str]:
    yield f"── forebay: compared {counted(len(found.pairs), 'pair')} of runs, status {found.status}"
    yield comparison_sentence(found)
    if found.pairs:
        yield from _time_lines(found)
    yield from _difference_lines(found)
    if found.reports:
        has_won = bool(found.pairs) and has_gained(found.pairs)
        yield from _report_lines(found.reports[-1], told, has_won=has_won)
    if found.failure is None and not found.written.files and not found.differences:
        yield (
            "If the program writes elsewhere, by a full name, say where: --output-dir DIR. "
            "Its contents are moved aside, and back at the end."
        )
    if found.kept is not None:
        yield (
            f"The files of these runs are in {printable_name(found.kept)}; remove that when you "
            "have seen them."
        )
    if with_summary and found.reports:
        yield "The last run with Forebay:"
        yield as_text(found.reports[-1], told=tuple(told), with_legend=True)


def _time_lines(found: RunComparison) -> Iterator[str]:
    without = median(one.plain_seconds for one in found.pairs)
    with_it = median(one.forebay_seconds for one in found.pairs)
    ratio = speed_ratio(found.pairs)
    median_of = "median elapsed time" if len(found.pairs) > 1 else "elapsed time"
    yield (
        f"  {median_of}: {human_seconds(without)} s without, {human_seconds(with_it)} s with "
        f"{_it(found)}: {ratio.estimate:.2f} times as fast{_certainty(ratio)}"
    )
    drained = [one.pool.end.seconds for one in found.reports if one.pool is not None]
    if drained:
        yield (
            "  with the pool, everything was with the file system "
            f"{human_seconds(median(drained))} s after the program's end"
        )
    waits = _waits(found)
    if waits is not None and waits.without is not None:
        yield (
            "  (Waits without the pool are not measured: they are what the run took longer, and "
            "what it waited with the pool.)"
        )
    elif waits is not None:
        together = ", all its processes together" if waits.processes > 1 else ""
        yield (
            f"  with the pool it waited {spoken(waits.pool)} for its files{together}; how long "
            "without it is not known, so elapsed times are compared"
        )
    else:
        yield "  (Waits without Forebay are not measured: elapsed times are compared.)"


def _certainty(ratio: Ratio) -> str:
    if ratio.low is not None:
        return f" ({ratio.confidence:.0%} interval {ratio.interval}, {ratio.pairs} pairs)"
    if ratio.pairs == 1:
        return f" (one pair; for an interval: {_PAIRS_ADVICE})"
    return (
        f" ({ratio.least:.2f} to {ratio.most:.2f} in {ratio.pairs} pairs; for an interval: "
        f"{_PAIRS_ADVICE})"
    )


def _difference_lines(found: RunComparison) -> Iterator[str]:
    own = set(found.differences) - set(found.unexplained)
    ranked = sorted(found.differences, key=lambda one: (one in own, one.name))
    for one in ranked[:DIFFERENCES_SHOWN_MAX]:
        also = " (without Forebay, too)" if one in own else ""
        yield f"  {printable_name(one.name)}: {_difference_text(one)}{also}"
    if len(ranked) > DIFFERENCES_SHOWN_MAX:
        more = counted(len(ranked) - DIFFERENCES_SHOWN_MAX, "more difference")
        yield f"  and {more} (all of them: --format json)"
    if not found.unexplained:
        return
    if found.own is None:
        yield (
            "A program that writes times or random numbers differs by itself. Whether this one "
            "does, two runs without Forebay tell: --pairs 2"
        )
    else:
        yield (
            "Runs without Forebay did not differ there. If the program does not write times or "
            "random numbers, do not use Forebay with it, and report this."
        )


def _difference_text(one: FileDifference) -> str:
    if one.contrast is Contrast.MISSING:
        return "written without Forebay only"
    if one.contrast is Contrast.ADDED:
        return "written with Forebay only"
    if one.contrast is Contrast.KIND:
        return "a file, folder or link in one run, and another one in the other"
    if one.contrast is Contrast.UNREADABLE:
        return "cannot be read, and so not compared"
    sizes = f"{one.first_bytes} bytes without Forebay, {one.other_bytes} with it"
    same = f"both have {one.first_bytes} bytes"
    size = same if one.first_bytes == one.other_bytes else sizes
    return f"differs from byte {one.offset} on; {size}"


def _report_lines(report: RunReport, told: Collection[str], *, has_won: bool) -> Iterator[str]:
    """The notes that a reader needs about the last run with Forebay. Where the runs have shown that
    the pool has won (`has_won`), its numbers do not say otherwise: they are estimates."""
    if report.reasons:
        what = "was recorded" if report.pool is None else "went through the pool"
        yield f"Forebay changed nothing, as far as is known (nothing {what}):"
        yield from (f"  - {printable(one)}" for one in report.reasons)
    elif report.pool is not None:
        verdict = verdict_of(report.pool.end, seconds=report.seconds)
        costs = verdict.judgement is Judgement.COST and not has_won
        if costs or verdict.judgement is Judgement.PAST:
            yield outcome_verdict(report.pool, seconds=report.seconds)
    if report.pool is not None:
        yield from _missing_lines(report.pool.end)
    yield from (f"warning: {printable(one)}" for one in report.warnings if one not in told)


def _missing_lines(end: PoolEnd) -> Iterator[str]:
    """The bytes that did not arrive, and why. Nothing is rescued: the run was only a trial."""
    if end.death is not None:
        yield f"The pool's daemon died ({printable(end.death)})."
    yield from (f"  it said: {printable(line)}" for line in end.messages)
    if end.status is None:
        return
    if end.status.durability_ended:
        yield durability_text(end.status)
    yield from (f"  {printable(note)}" for note in end.status.notes)
    for one in end.status.rescued:
        why = printable(one.error_text) or "the pool was told to end before"
        yield f"  did not arrive: {human_bytes(one.bytes)} of {printable_name(one.path)} ({why})"
