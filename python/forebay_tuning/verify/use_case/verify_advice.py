"""Use case: test whether advice helps, by pairs of runs inside one allocation, with it and without,
in random order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from forebay.bench.model.comparison import Side
from forebay.common.model.errors import BenchError, ForebayError
from forebay.common.model.frozen import frozen
from forebay.common.model.record import summarise
from forebay.layout.model import Layout
from forebay.ports import World
from forebay_tuning.advise.model.advice import Advice
from forebay_tuning.advise.model.ready import chosen
from forebay_tuning.apply.use_case import (
    PLACE,
    Effect,
    Folders,
    advised_plan,
    effects_of_settings,
    placed,
    restore_layout,
    set_layout,
)
from forebay_tuning.verify.model import (
    Verdict,
    Verification,
    interim_test,
    is_look,
    order,
)


class Timed(Protocol):
    """The port that runs a program and measures it."""

    def __call__(self, words: Sequence[str], environment: Mapping[str, str]) -> tuple[int, float]:
        """The exit status, and the seconds (or a number of which smaller is better)."""


@frozen
class VerifyRequest:
    """The input. The test ends after `pairs_max` pairs at the latest."""

    advice: tuple[Advice, ...]
    command: tuple[str, ...]
    directory: Path
    pairs_max: int
    margin: float
    seed: int


@frozen
class Verified:
    """The result. `undone` says that the layout is the previous one; `trouble` says why there are
    no more pairs, or why the layout could not be restored; `missing` are settings that did not take
    effect in an advised run, so that the verdict is not about all of the advice."""

    verification: Verification | None
    firsts: tuple[Side, ...]
    undone: bool
    trouble: str = ""
    missing: tuple[Effect, ...] = ()
    not_applied: bool = False
    """Whether nothing of the advice took effect, so that the pairs say nothing about it."""


def verify_advice(
    request: VerifyRequest,
    world: World,
    folders: Folders,
    *,
    timed: Timed,
    told: Callable[[int, Verification], None],
) -> Verified:
    """Runs the pairs. Raises UsageError if the advice cannot be tested, and BenchError if a run of
    the first pair failed."""
    one = chosen(request.advice)
    default: list[float] = []
    advised: list[float] = []
    firsts: list[Side] = []
    trouble = ""
    verification: Verification | None = None
    folders.make(request.directory)
    before: Layout | None = None
    effects: list[Effect] = []
    try:
        for first, second in order(request.pairs_max, request.seed):
            pair: dict[Side, float] = {}
            for side in (first, second):
                seconds, layout, seen = _run(side, one, request, world, folders, timed)
                before = before or layout
                effects += seen
                pair[side] = seconds
            firsts.append(first)
            default.append(pair[Side.A])
            advised.append(pair[Side.B])
            verification = interim_test(default, advised, margin=request.margin)
            told(len(default), verification)
            if is_look(len(default), request.pairs_max) and (
                verification.verdict is not Verdict.INCONCLUSIVE
            ):
                break
    except ForebayError as error:
        if verification is None:
            restore_layout(before, request.directory, world)
            raise
        trouble = str(error)
    missing = tuple(dict.fromkeys(one for one in effects if not one.took))
    not_applied = bool(missing) and not any(one.took for one in effects)
    improved = verification is not None and verification.verdict is Verdict.IMPROVED
    keeps = improved and not not_applied
    undone = not keeps or PLACE in " ".join(request.command)
    if undone:
        trouble = trouble or restore_layout(before, request.directory, world)
    else:
        _, last = set_layout(one, request.directory, world)
        trouble = trouble or next((e.reason for e in last if not e.took), "")
    return Verified(
        verification=verification,
        firsts=tuple(firsts),
        undone=undone,
        trouble=trouble,
        missing=missing,
        not_applied=not_applied,
    )


def _run(
    side: Side,
    advice: Advice,
    request: VerifyRequest,
    world: World,
    folders: Folders,
    timed: Timed,
) -> tuple[float, Layout | None, list[Effect]]:
    """Makes one run. It has a fresh directory if the command has a placeholder for it; else it uses
    the program's own, from which new files are removed again, since old files keep their layout."""
    fresh = PLACE in " ".join(request.command)
    where = request.directory / "forebay-verify" if fresh else request.directory
    if fresh:
        folders.remove(where)
    folders.make(where)
    present = folders.names(where)
    before: Layout | None = None
    effects: list[Effect] = []
    try:
        if side is Side.B:
            before, effects = set_layout(advice, where, world)
            seconds, seen = _advised(advice, request, where, world, folders, timed)
            effects += seen
        else:
            seconds = _plain(request, where, world, timed)
    finally:
        if fresh:
            folders.remove(where)
        else:
            for path in folders.names(where) - present:
                folders.remove(path)
            if side is Side.B:
                restore_layout(before, where, world)
    return seconds, None if fresh else before, effects


def _plain(request: VerifyRequest, where: Path, world: World, timed: Timed) -> float:
    status, seconds = timed(placed(request.command, where), world.environment)
    _check(status, Side.A)
    return seconds


def _advised(
    advice: Advice,
    request: VerifyRequest,
    where: Path,
    world: World,
    folders: Folders,
    timed: Timed,
) -> tuple[float, list[Effect]]:
    if not advice.workload.collective:
        words, environment = placed(request.command, where), world.environment
        status, seconds = timed(words, environment)
        _check(status, Side.B)
        return seconds, []
    with advised_plan(advice, request.command, where, world, folders) as (plan, _):
        try:
            status, seconds = timed(plan.words, plan.environment)
            _check(status, Side.B)
            files = summarise(world.records.read(plan.record, offset=0).files)
        finally:
            world.records.remove(plan.record)
    return seconds, effects_of_settings(advice, files, "the run left no record")


def _check(status: int, side: Side) -> None:
    if status != 0:
        what = "the default" if side is Side.A else "the advised settings"
        raise BenchError(
            f"a run with {what} failed with status {status} (a failed run says nothing about "
            "speed). Run the program alone first.",
            exit_code=status,
        )
