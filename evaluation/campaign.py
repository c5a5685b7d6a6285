"""The order of launches in a campaign. In a block, all stacks run one case in random order, one
right after the other, so that a disturbance of the machine hits all of them; every case has a first
block before any case has a second. An incumbent that can no longer be the best is not run again."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Protocol, TypeVar

from evaluation.model import Against, Case, Limit, Outcome, Sample, Stack, StorageKind
from evaluation.suites import Suite
from evaluation.summary import seconds_of
from forebay.common.model.frozen import frozen

_T = TypeVar("_T")
RACE_AFTER_BLOCKS = 1
"""Blocks that every incumbent takes part in."""
RACE_FACTOR = 1.5
"""After these blocks, an incumbent whose time is this many times the best one's is dropped."""
FAILURES_MAX = 2
"""A stack that has failed this often in a case is dropped from it."""


class Measurer(Protocol):
    """The port to measurements (evaluation.launch.Bench)."""

    def measure(self, *, case: Case, stack: Stack, block: int) -> Sample: ...

    def limits(self, *, storage: StorageKind, block: int, total: int) -> tuple[Limit, ...]: ...


class Watcher(Protocol):
    """The port to the progress display, which is notified before and after each launch."""

    def launches(self, count: int) -> None: ...

    def before(self, *, case: str, stack: str, block: int) -> None: ...

    def after(self, sample: Sample | None) -> None: ...


@frozen
class Order:
    """The input of a campaign: what is to be run, and how often."""

    suite: Suite
    cases: tuple[Case, ...]
    stacks: tuple[Stack, ...]
    blocks: int
    seed: int
    limit_bytes: int


@dataclass(kw_only=True)
class Measured:
    """The results of a campaign so far. It can be saved at any time."""

    samples: list[Sample] = field(default_factory=list)
    limits: list[Limit] = field(default_factory=list)

    def of(self, case: Case, stack: Stack) -> list[Sample]:
        return [one for one in self.samples if (one.case, one.stack) == (case.name, stack.name)]


def takes_part(order: Order, case: Case, stack: Stack) -> bool:
    """Whether the case has anything to measure for the stack."""
    if stack.hints and set(stack.hints) <= set(case.hints):
        return False  # every stack of this case has these hints, so it would be a duplicate
    if order.suite.against is Against.BEST:
        return True
    return stack.forebay or stack.is_plain  # this suite compares only with the same MPI


def still_runs(order: Order, measured: Measured, case: Case, stack: Stack) -> bool:
    """Whether the stack runs in the case's next block."""
    if not takes_part(order, case, stack):
        return False
    past = measured.of(case, stack)
    failures = [one for one in past if one.outcome is not Outcome.OK]
    if any(one.outcome is Outcome.TIMEOUT for one in failures) or len(failures) >= FAILURES_MAX:
        return False
    if stack.forebay or len(past) < RACE_AFTER_BLOCKS or order.suite.against is not Against.BEST:
        return True
    return _can_win(order, measured, case, stack)


def _can_win(order: Order, measured: Measured, case: Case, stack: Stack) -> bool:
    times = {
        other.name: median(seconds_of(order.suite.metric, one) for one in done)
        for other in order.stacks
        if not other.forebay
        and (done := [s for s in measured.of(case, other) if s.outcome is Outcome.OK])
    }
    own = times.get(stack.name)
    return own is None or own <= RACE_FACTOR * min(times.values())


def run(
    order: Order,
    *,
    measurer: Measurer,
    watcher: Watcher,
    measured: Measured,
    enough: Callable[[], bool],
) -> Iterator[None]:
    """Runs the campaign; yields after each block of a case, so that results can be saved."""
    chance = random.Random(order.seed)
    storages = sorted({case.storage for case in order.cases})
    for block in range(order.blocks):
        for storage in storages:
            watcher.before(case=f"limits of {storage}", stack="no MPI", block=block)
            measured.limits += measurer.limits(
                storage=storage, block=block, total=order.limit_bytes
            )
            watcher.after(None)
        plan = [(case, _runners(order, measured, case)) for case in order.cases]
        watcher.launches(sum(len(stacks) for _, stacks in plan) * (order.blocks - block))
        for case, stacks in _shuffled(plan, chance):
            if enough():
                return
            for stack in _shuffled(stacks, chance):
                watcher.before(case=case.name, stack=stack.label, block=block)
                sample = measurer.measure(case=case, stack=stack, block=block)
                measured.samples.append(sample)
                watcher.after(sample)
            yield


def _runners(order: Order, measured: Measured, case: Case) -> list[Stack]:
    return [stack for stack in order.stacks if still_runs(order, measured, case, stack)]


def _shuffled(items: Sequence[_T], chance: random.Random) -> list[_T]:
    return chance.sample(list(items), len(items))
