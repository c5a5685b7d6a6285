"""Summarises samples: medians, paired ratios, distances to the machine's limits, verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from statistics import median

from evaluation.model import (
    MEBIBYTE,
    STACKS,
    Against,
    Case,
    Limit,
    Metric,
    Operation,
    Outcome,
    Sample,
    Stack,
)
from evaluation.suites import Suite
from forebay.common.model.estimate import Ratio, Spread, paired_ratio, spread
from forebay.common.model.frozen import frozen

PAIRS_MIN = 2
"""A single pair decides nothing."""


class Verdict(StrEnum):
    """A result compared with its goal: certain if the whole interval is on one side, else open."""

    MET = "met"
    MISSED = "missed"
    OPEN = "open"
    NONE = "-"


@frozen
class StackSummary:
    """A stack in a case. The value is in the unit of the suite's metric: MiB/s, ms or MiB."""

    stack: str
    value: Spread | None
    seconds: Spread | None
    note: str
    """Why there is no value, or what is wrong with the data; empty if nothing is."""


@frozen
class Comparison:
    """A Forebay stack and its reference. Ratios are of speeds, above 1 if Forebay is faster."""

    forebay: StackSummary
    reference: str
    ratio: Ratio | None
    whole_ratio: Ratio | None
    """The ratio including open, view, sync and close."""
    grown_more: float | None
    """For the metric MEMORY: MiB by which the largest rank grew more than in the reference."""
    verdict: Verdict


@frozen
class CaseSummary:
    """One row of the result."""

    case: Case
    incumbents: tuple[StackSummary, ...]
    best: StackSummary | None
    """The incumbent with the best median."""
    comparisons: tuple[Comparison, ...]
    chosen: Comparison | None
    """The Forebay stack with the best median."""
    limit: float | None
    """MiB/s of the same work on all cores without MPI: gather and write, or read and scatter."""


def seconds_of(metric: Metric, sample: Sample) -> float:
    """The time that the suite compares, for one launch: the median of its repetitions."""
    if metric is Metric.OPEN_CLOSE:
        return median(one.open_seconds + one.close_seconds for one in sample.measured)
    return median(one.call_seconds for one in sample.measured)


def summarise(
    suite: Suite, cases: Iterable[Case], samples: Sequence[Sample], limits: Sequence[Limit]
) -> tuple[CaseSummary, ...]:
    """One summary for each case that has samples."""
    rows = []
    for case in cases:
        mine = [one for one in samples if one.case == case.name]
        if mine:
            rows.append(_case_summary(suite, case, mine, limits))
    return tuple(rows)


def _case_summary(
    suite: Suite, case: Case, samples: Sequence[Sample], limits: Sequence[Limit]
) -> CaseSummary:
    by_stack: dict[str, list[Sample]] = {}
    for one in samples:
        by_stack.setdefault(one.stack, []).append(one)
    summaries = {
        name: _stack_summary(suite.metric, name, by_stack[name])
        for name in STACKS
        if name in by_stack
    }
    incumbents = tuple(one for name, one in summaries.items() if not STACKS[name].forebay)
    best = _best(suite.metric, incumbents)
    comparisons = tuple(
        _comparison(suite, case, one, best, by_stack)
        for name, one in summaries.items()
        if STACKS[name].forebay
    )
    chosen = _best(suite.metric, [one.forebay for one in comparisons])
    return CaseSummary(
        case=case,
        incumbents=incumbents,
        best=best,
        comparisons=comparisons,
        chosen=next((one for one in comparisons if one.forebay is chosen), None),
        limit=_limit(case, limits) if suite.metric is Metric.RATE else None,
    )


def _stack_summary(metric: Metric, name: str, samples: Sequence[Sample]) -> StackSummary:
    good = [one for one in samples if one.outcome is Outcome.OK]
    bad = [one for one in samples if one.outcome is not Outcome.OK]
    notes = []
    if bad:
        notes.append(f"{len(bad)} of {len(samples)} {bad[0].outcome}")
        if bad[0].outcome is Outcome.TIMEOUT:
            notes = [f"> {bad[0].seconds:.0f} s"]
    wrong = sum(rep.wrong_words for one in good for rep in one.repetitions)
    gaps = sum(rep.wrong_gap_words for one in good for rep in one.repetitions)
    if wrong:
        notes.append("wrong data")
    if gaps:
        notes.append("gaps destroyed")
    return StackSummary(
        stack=name,
        value=spread([_value(metric, one) for one in good]) if good else None,
        seconds=spread([seconds_of(metric, one) for one in good]) if good else None,
        note=", ".join(notes),
    )


def _value(metric: Metric, sample: Sample) -> float:
    if metric is Metric.MEMORY:
        return max(one.grown_mebibytes for one in sample.measured)
    if metric is Metric.OPEN_CLOSE:
        return 1000 * seconds_of(metric, sample)
    return sample.measured[0].moved_bytes / MEBIBYTE / seconds_of(metric, sample)


def _best(metric: Metric, stacks: Iterable[StackSummary]) -> StackSummary | None:
    known = [(one.value.median, one) for one in stacks if one.value is not None]
    if not known:
        return None
    pick = max if metric is Metric.RATE else min
    return pick(known, key=lambda pair: pair[0])[1]


def _plain(stack: Stack) -> str:
    return stack.mpi.name


def _comparison(
    suite: Suite,
    case: Case,
    forebay: StackSummary,
    best: StackSummary | None,
    by_stack: dict[str, list[Sample]],
) -> Comparison:
    reference = _plain(STACKS[forebay.stack])
    if suite.against is Against.BEST and best is not None:
        reference = best.stack
    pairs = _pairs(by_stack[forebay.stack], by_stack.get(reference, []))
    ratio = whole = grown_more = None
    if pairs:
        ratio = paired_ratio(
            [seconds_of(suite.metric, theirs) for _, theirs in pairs],
            [seconds_of(suite.metric, ours) for ours, _ in pairs],
        )
        whole = paired_ratio(
            [_whole(theirs) for _, theirs in pairs], [_whole(ours) for ours, _ in pairs]
        )
        grown_more = median(
            _value(Metric.MEMORY, ours) - _value(Metric.MEMORY, theirs) for ours, theirs in pairs
        )
    return Comparison(
        forebay=forebay,
        reference=reference,
        ratio=ratio,
        whole_ratio=whole,
        grown_more=grown_more,
        verdict=_verdict(case, forebay, ratio),
    )


def _whole(sample: Sample) -> float:
    return median(one.whole_seconds for one in sample.measured)


def _pairs(ours: Sequence[Sample], theirs: Sequence[Sample]) -> list[tuple[Sample, Sample]]:
    """Pairs of successful samples of the same block."""
    other = {one.block: one for one in theirs if one.outcome is Outcome.OK}
    return [
        (one, other[one.block]) for one in ours if one.outcome is Outcome.OK and one.block in other
    ]


def _verdict(case: Case, forebay: StackSummary, ratio: Ratio | None) -> Verdict:
    goal, verdicts = case.target, []
    if forebay.note:
        return Verdict.MISSED  # wrong data, a failure or a time-out never meets a goal
    if goal.ratio_min is not None and ratio is not None:
        low = ratio.least if ratio.low is None else ratio.low
        high = ratio.most if ratio.high is None else ratio.high
        sure = ratio.pairs >= PAIRS_MIN
        verdicts.append(_placed(low, high, goal.ratio_min) if sure else Verdict.OPEN)
    if goal.seconds_max is not None and forebay.seconds is not None:
        verdicts.append(_placed(-forebay.seconds.most, -forebay.seconds.least, -goal.seconds_max))
    if goal.mebibytes_max is not None and forebay.value is not None:
        verdicts.append(_placed(-forebay.value.most, -forebay.value.least, -goal.mebibytes_max))
    for verdict in (Verdict.MISSED, Verdict.OPEN, Verdict.MET):
        if verdict in verdicts:
            return verdict
    return Verdict.NONE


def _placed(low: float, high: float, least: float) -> Verdict:
    if low >= least:
        return Verdict.MET
    return Verdict.MISSED if high < least else Verdict.OPEN


def _limit(case: Case, limits: Sequence[Limit]) -> float | None:
    """The machine's limit for the case: the median over the blocks, with all cores."""
    name = "assembled" if case.operation is Operation.WRITE else "scattered"
    of_storage = [one for one in limits if one.storage == case.storage and one.name == name]
    if not of_storage:
        return None
    threads = max(one.threads for one in of_storage)
    pieces = {one.piece_bytes for one in of_storage}
    piece = max((p for p in pieces if p <= case.region), default=min(pieces))
    return median(
        one.mebibytes_per_second
        for one in of_storage
        if one.piece_bytes == piece and one.threads == threads
    )
