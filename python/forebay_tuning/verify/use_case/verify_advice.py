"""Use case: test whether advice helps, by pairs of runs inside one allocation, with it and without,
in random order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from forebay.bench.model.comparison import ComparedSide
from forebay.common.model.errors import BenchError, ForebayError, LayoutError
from forebay.common.model.frozen import frozen
from forebay.common.model.record import FileSummary, summarise
from forebay.layout.model import Layout
from forebay.machine_ports import World
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
    AdviceVerdict,
    Prediction,
    Verification,
    interim_test,
    is_look,
    order,
    prediction_of,
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
    of_whole_runs: bool = True
    """Whether `timed` measures whole runs, and not a part of each."""


@frozen
class Verified:
    """The result. `undone` says that the layout is the previous one; `trouble` says why there are
    no more pairs, and why the layout could not be set or restored at the end; `missing` are
    settings that did not take effect in an advised run or at the end, so that the verdict is not
    about all of the advice."""

    verification: Verification | None
    firsts: tuple[ComparedSide, ...]
    undone: bool
    trouble: str = ""
    missing: tuple[Effect, ...] = ()
    not_applied: bool = False
    """Whether nothing of the advice took effect, so that the pairs say nothing about it."""
    kept: bool = False
    """Whether the advice keeps all settings, so that the pairs are with and without Forebay."""
    predicted: Prediction | None = None
    """The pairs' ratio that the advice predicts, if it does."""


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
    firsts: list[ComparedSide] = []
    trouble = ""
    verification: Verification | None = None
    folders.make(request.directory)
    output = _OutputDirectory(request.directory, world)
    effects: list[Effect] = []
    try:
        for first, second in order(request.pairs_max, request.seed):
            pair: dict[ComparedSide, float] = {}
            for side in (first, second):
                seconds, seen = _run(side, one, request, output, folders, timed)
                effects += seen
                pair[side] = seconds
            firsts.append(first)
            default.append(pair[ComparedSide.A])
            advised.append(pair[ComparedSide.B])
            verification = interim_test(default, advised, margin=request.margin)
            told(len(default), verification)
            if is_look(len(default), request.pairs_max) and (
                verification.verdict is not AdviceVerdict.INCONCLUSIVE
            ):
                break
    except ForebayError as error:
        trouble = str(error)
        if verification is None:
            if problem := output.restore():
                error.args = (_joined(trouble, problem),)  # it keeps its type and exit status
            raise
    not_applied = bool(effects) and not any(one.took for one in effects)
    improved = verification is not None and verification.verdict is AdviceVerdict.IMPROVED
    stays = improved and not not_applied and not one.keeps
    undone = not stays or PLACE in " ".join(request.command)
    if undone:
        problem = output.restore()
        undone = not problem
    else:
        last = output.set(one)
        effects += last
        problem = next((effect.reason for effect in last if not effect.took), "")
    return Verified(
        verification=verification,
        firsts=tuple(firsts),
        undone=undone,
        trouble=_joined(trouble, problem),
        missing=tuple(dict.fromkeys(effect for effect in effects if not effect.took)),
        not_applied=not_applied,
        kept=one.keeps,
        predicted=prediction_of(one, of_whole_runs=request.of_whole_runs),
    )


def _joined(*texts: str) -> str:
    return " ".join(dict.fromkeys(text for text in texts if text))


@dataclass
class _OutputDirectory:
    """A directory for the program's output, with the layout that it had before the first advised
    run; None if no layout was set."""

    path: Path
    world: World
    before: Layout | None = None

    def set(self, advice: Advice) -> list[Effect]:
        """Sets the advised layout."""
        before, effects = set_layout(advice, self.path, self.world)
        self.before = self.before or before
        return effects

    def restore(self) -> str:
        """Sets the previous layout. Returns why that failed, or no text."""
        return restore_layout(self.before, self.path, self.world)


def _run(
    side: ComparedSide,
    advice: Advice,
    request: VerifyRequest,
    output: _OutputDirectory,
    folders: Folders,
    timed: Timed,
) -> tuple[float, list[Effect]]:
    """Makes one run. It has a fresh directory if the command has a placeholder for it; else it uses
    the program's own, from which new files are removed again, since old files keep their layout.
    Raises LayoutError if the layout cannot be restored, since the next run would have it, too."""
    world = output.world
    fresh = PLACE in " ".join(request.command)
    if fresh:
        output = _OutputDirectory(output.path / "forebay-verify", world)
        folders.remove(output.path)
    folders.make(output.path)
    present = folders.names(output.path)
    effects: list[Effect] = []
    problem = ""
    try:
        if side is ComparedSide.B:
            effects = output.set(advice)
            seconds, seen = _advised(advice, request, output.path, world, folders, timed)
            effects += seen
        else:
            seconds = _plain(request, output.path, world, timed)
    finally:
        if fresh:
            folders.remove(output.path)
        else:
            for path in folders.names(output.path) - present:
                folders.remove(path)
            if side is ComparedSide.B:
                problem = output.restore()
    if problem:
        raise LayoutError(problem)
    return seconds, effects


def _plain(request: VerifyRequest, where: Path, world: World, timed: Timed) -> float:
    status, seconds = timed(placed(request.command, where), world.environment)
    _check(status, ComparedSide.A)
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
        _check(status, ComparedSide.B)
        return seconds, []
    with advised_plan(advice, request.command, where, world, folders) as (plan, _):
        try:
            status, seconds = timed(plan.words, plan.environment)
            _check(status, ComparedSide.B)
            files = summarise(world.records.read(plan.record, offset=0).files)
        finally:
            world.records.remove(plan.record)
    if advice.keeps:
        return seconds, [_takeover(files)]
    return seconds, effects_of_settings(advice, files, "the run left no record")


def _takeover(files: Sequence[FileSummary]) -> Effect:
    """The effect of a run through Forebay with all settings kept: it makes the collective calls."""
    found = "by Forebay" if any(one.write.calls or one.read.calls for one in files) else None
    why = "" if found else "the run's record has no collective call"
    return Effect(name="collective calls", wanted="by Forebay", found=found, reason=why)


def _check(status: int, side: ComparedSide) -> None:
    if status != 0:
        what = "the default" if side is ComparedSide.A else "the advised settings"
        raise BenchError(
            f"a run with {what} failed with status {status} (a failed run says nothing about "
            "speed). Run the program alone first.",
            exit_code=status,
        )
