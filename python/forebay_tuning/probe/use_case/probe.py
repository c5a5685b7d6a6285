"""Use case: probe a file system within a budget and draw its portrait. Real, simulated and modelled
systems are behind the same port."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from statistics import median
from typing import Protocol

from forebay.common.model.errors import HangError, ProbeError
from forebay.common.model.frozen import frozen
from forebay.common.model.units import MIB, counted, human_bytes
from forebay.machine_ports import QuotaLeft
from forebay_tuning.model.metadata import FilesAsk, MetadataRates, files_ask, findings_of_rates
from forebay_tuning.model.point import Direction, Point, Space, usual_space
from forebay_tuning.model.portrait import Identity, Portrait, findings_of
from forebay_tuning.model.sample import PROBES, Choice, NextProbe, Purpose, Sample
from forebay_tuning.model.targets import sick_targets
from forebay_tuning.probe.model.long_passages import (
    BEST_MOST,
    BYTES,
    LONG_MOST,
    SIZES,
    best_passages,
    long_passages,
)

PROBE_SECONDS = 5.0
"""Seconds of one probe, including the start of the ranks, in the estimate."""
_PROBE_FACTOR = 4
"""A probe that takes this many times its share of the seconds is ended."""
TARGET_FILES = 4
"""Files on each target when targets are measured one by one."""
_TARGETS_SHARE = (0.1, 0.05)
"""Shares of the budget's seconds and bytes for measuring targets one by one."""
_LONG_SHARE = 0.2
"""Share of the seconds for the long passages."""
_METADATA_SHARE = (0.05, 0.1)
"""Shares of the budget's seconds and files for creating and opening many small files."""
_METADATA_SECONDS_MAX = 15.0
_THINKING_SHARE = 0.03
"""Share of the seconds for the fits at the end."""
_NOT_LOOKED_AT = "targets were not looked at one by one (too few --files for that)."
_NO_PRICE = "how many files a second can be created was not measured"
_FAILURES_MAX = 4
"""The number of consecutive failed probes that ends the probing."""
_NO_ROOM = ("No space left on device", "Disk quota exceeded")
_TRANSFER_USUAL = MIB
_CONTROL_PROCESSES_MAX = 256
"""The control point is probed often, so it does not use more processes than these."""
PASSAGES = 3
"""A passage of a probe is cut off after 1/PASSAGES of the probe's seconds."""


@frozen
class Budget:
    """The limits of a probing. `share` is the share of the free space, and of what is left of a
    quota, that its bytes may be."""

    seconds: float
    bytes: int
    files: int
    share: float = 0.01


@frozen
class Spent:
    """A part of a budget."""

    seconds: float = 0.0
    bytes: int = 0
    files: int = 0


class Unknown(Enum):
    """Facts that are not known if nothing may be started."""

    NODES = "nodes"
    RANKS = "ranks"


@frozen
class Ground:
    """Facts before the first probe. `free_bytes` is None if not known; `obstacle` says why nothing
    can be probed here; `unknown` are guesses in the identity."""

    identity: Identity
    free_bytes: int | None
    quota: QuotaLeft | None = None
    obstacle: str = ""
    remarks: tuple[str, ...] = ()
    """Remarks on all probes, to be reported with the findings."""
    unknown: frozenset[Unknown] = frozenset()
    placeable: int = 0
    """The number of targets on which files can be placed one by one; 0 if they cannot."""
    spent: Spent = Spent()
    """The cost of finding out these facts."""


class System(Protocol):
    """The port to a file system that can be probed."""

    def ground(self) -> Ground:
        """The facts about it."""

    def measure(self, ask: NextProbe, number: int, *, seconds_max: float) -> tuple[Sample, float]:
        """Makes a probe; returns its result and the seconds that it took. Leaves no files."""

    def target_rates(self, *, bytes_max: int, seconds_max: float) -> Mapping[int, Sequence[float]]:
        """Rates of single files on each target, for which it creates TARGET_FILES per target. Empty
        if files cannot be placed."""

    def file_rates(self, ask: FilesAsk) -> MetadataRates:
        """How many files are created and opened in a second. Leaves no files. Raises ProbeError
        with the reason alone if that cannot be measured."""


class Journal(Protocol):
    """The port to the list of measured probes, which outlives a killed probing."""

    def past(self) -> Sequence[tuple[Sample, float]]:
        """The probes that an earlier, interrupted run with the same plan has measured."""

    def begin(self, plan: ProbePlan) -> None:
        """Begins the journal. Raises ProbeError if it belongs to another plan."""

    def asked(self, number: int, ask: NextProbe) -> None:
        """Records a probe before it is made."""

    def answered(self, number: int, sample: Sample, seconds: float) -> None:
        """Records its result."""


@frozen
class ProbeRequest:
    """The user's request. `probe_bytes` are the bytes of one probe that an interrupted run has
    planned, since the free space may have changed; None if there was none."""

    level: str
    budget: Budget
    seed: int
    direction: Direction = Direction.WRITE
    process_bytes_max: int = 1024 * MIB
    probe_bytes: int | None = None


@frozen
class Estimate:
    """Upper bounds of what probing takes."""

    probes: int
    seconds: float
    bytes: int
    files: int
    limit: str
    """The limit that determines the bytes, in words."""
    long_passages: int = 0
    """Their number, in addition to the probes; each has several times the bytes of a probe."""


@frozen
class ProbePlan:
    """The plan of a probing."""

    request: ProbeRequest
    ground: Ground
    space: Space
    control: Point
    priors: tuple[Point, ...]
    estimate: Estimate
    targets: Spent
    """The part of the budget for measuring targets one by one; empty if that is not done."""
    long: Spent = Spent()
    """The part for long passages."""
    metadata: FilesAsk | None = None
    """The measurement of creations and opens; None if there are too few files for that."""


def plan_probe(request: ProbeRequest, system: System) -> ProbePlan:
    """Plans a probing. Raises ProbeError if it is not possible here or within the budget; no probe
    was made then."""
    ground = system.ground()
    if ground.obstacle:
        raise ProbeError(ground.obstacle)
    identity = ground.identity
    probes = PROBES[request.level]
    limit = _limit(request.budget, ground)
    allowed = limit.bytes - ground.spent.bytes
    targets = _for_targets(request.budget, ground, allowed, probes)
    parts = probes if identity.is_modelled else probes + BYTES
    of_one = request.probe_bytes or (allowed - targets.bytes) // parts // MIB * MIB
    if of_one < MIB:
        parts = probes  # leave out the long passages
        of_one = (allowed - targets.bytes) // parts // MIB * MIB
    if of_one < MIB:
        raise ProbeError(
            f"the budget is too small ({human_bytes(max(0, allowed))} for {probes} probes, and one "
            f"needs 1 MiB or more; the limit is {limit.name}). {limit.way}"
        )
    space = usual_space(
        nodes=identity.nodes,
        ranks_per_node=identity.ranks_per_node,
        targets=identity.targets,
        bytes_max=of_one,
        process_bytes_max=request.process_bytes_max,
        processes_max=max(1, of_one // MIB),
    )
    files_left = request.budget.files - ground.spent.files - targets.files - probes
    has_long = parts > probes and files_left >= LONG_MOST
    long = _for_long(request.budget, of_one) if has_long else Spent()
    aside = ground.spent.files + targets.files + long.files
    creating = probes + (BEST_MOST if has_long else 0)
    if request.budget.files - aside < creating * space.levels["processes"][-1]:
        space = replace(space, sharing=(True,))
    control = _control(identity, space)
    files = aside + creating * (space.levels["processes"][-1] if False in space.sharing else 1)
    if Unknown.RANKS in ground.unknown:
        files = request.budget.files
    if files > request.budget.files:
        raise ProbeError(
            f"the budget is too small ({counted(request.budget.files, 'file')}, and "
            f"{counted(probes, 'probe')} make one each, "
            f"the trial of the launcher {ground.spent.files}). Raise --files."
        )
    metadata = _for_metadata(request.budget, files, identity)
    files += metadata.files if metadata else 0
    aside_seconds = targets.seconds + long.seconds + (metadata.seconds if metadata else 0.0)
    seconds = min(request.budget.seconds, probes * PROBE_SECONDS + aside_seconds)
    written = probes * of_one + targets.bytes + long.bytes + ground.spent.bytes
    return ProbePlan(
        request=request,
        ground=ground,
        space=space,
        control=control,
        priors=(_prior(identity, space),),
        estimate=Estimate(
            probes=probes,
            seconds=seconds,
            bytes=written,
            files=files,
            limit=limit.name,
            long_passages=LONG_MOST if has_long else 0,
        ),
        targets=targets,
        long=long,
        metadata=metadata,
    )


@frozen
class _Limit:
    """A limit of the bytes; `way` is the advice if it is too small."""

    bytes: int
    name: str
    way: str


def _limit(budget: Budget, ground: Ground) -> _Limit:
    """The tightest limit of the bytes."""
    level = "or choose --level quick."
    limits = [_Limit(bytes=budget.bytes, name="--bytes", way=f"Raise --bytes, {level}")]
    spaces = []
    if ground.free_bytes is not None:
        spaces.append((ground.free_bytes, "free space"))
    if ground.quota is not None:
        spaces.append((ground.quota.bytes, f"what is left of {ground.quota.of}"))
    for count, what in spaces:
        name = f"--share, {100 * budget.share:g}% of {what} ({human_bytes(count)})"
        way = f"Raise --share, make room, {level}"
        limits.append(_Limit(bytes=int(count * budget.share), name=name, way=way))
    return min(limits, key=lambda one: one.bytes)


def _for_targets(budget: Budget, ground: Ground, allowed: int, probes: int) -> Spent:
    """The part for measuring targets; empty if the files do not suffice for it and the probes."""
    files = ground.placeable * TARGET_FILES
    if not files or ground.spent.files + files + probes > budget.files:
        return Spent()
    return Spent(
        seconds=budget.seconds * _TARGETS_SHARE[0],
        bytes=int(allowed * _TARGETS_SHARE[1]),
        files=files,
    )


def _for_long(budget: Budget, probe_bytes: int) -> Spent:
    """The part for long passages. Of the files those of the default, one each; those of the best
    settings are counted as probes, since they may have a file for each process."""
    return Spent(seconds=budget.seconds * _LONG_SHARE, bytes=BYTES * probe_bytes, files=len(SIZES))


def _for_metadata(budget: Budget, files: int, identity: Identity) -> FilesAsk | None:
    """The part for creations and opens, if `files` are needed for all else."""
    return files_ask(
        identity.nodes * identity.ranks_per_node,
        files=min(budget.files - files, int(budget.files * _METADATA_SHARE[1])),
        seconds=min(budget.seconds * _METADATA_SHARE[0], _METADATA_SECONDS_MAX),
    )


def _control(identity: Identity, space: Space) -> Point:
    """The control point, which is what programs do by default: all ranks, the default layout, calls
    of 1 MiB. It is probed often, so only some of very many ranks take part."""
    ranks = min(space.levels["processes"][-1], _CONTROL_PROCESSES_MAX)
    return space.nearest(
        Point(
            processes=ranks,
            per_node=min(identity.ranks_per_node, ranks),
            stripe_count=identity.stripe_count,
            stripe_bytes=identity.stripe_bytes,
            transfer_bytes=_TRANSFER_USUAL,
            process_bytes=max(MIB, space.bytes_max // ranks),
        )
    )


def _prior(identity: Identity, space: Space) -> Point:
    """The configuration study's recommendation: 8 processes per node, 16 per stripe, at most
    1000."""
    targets = identity.targets
    stripes = min(16, targets)
    per_node = min(8, identity.ranks_per_node)
    processes = max(1, min(identity.nodes * per_node, 16 * stripes, 1000))
    return space.nearest(
        Point(
            processes=processes,
            per_node=min(per_node, processes),
            stripe_count=stripes,
            stripe_bytes=MIB,
            transfer_bytes=4 * MIB,
            process_bytes=max(MIB, space.bytes_max // processes),
        )
    )


def carry_out_probe(
    plan: ProbePlan,
    system: System,
    journal: Journal,
    *,
    told: Callable[[int, Sample], None],
) -> Portrait:
    """Makes probes until the search ends or the budget is used up, and draws the portrait. `told`
    is called with each result. Raises ProbeError if too little could be measured."""
    # Both import numpy, which other commands need not wait for.
    from forebay_tuning.probe.model.behind_cache import with_long_passages
    from forebay_tuning.probe.model.search import conclude

    journal.begin(plan)
    measuring = _Measuring(system, journal, told)
    long = _measure_long(plan, measuring)
    taken = _converse(plan, measuring)
    choices: dict[Direction, Choice] = {}
    for direction in Direction:
        choice = conclude(taken, plan.space, control=plan.control, direction=direction)
        if choice is not None:
            choices[direction] = choice
    if not choices:
        raise ProbeError(_too_little(taken, plan))
    long = (*long, *_measure_best(plan, measuring, long, choices))
    for direction, choice in choices.items():
        choices[direction] = with_long_passages(
            choice, taken, long, control=plan.control, targets=plan.ground.identity.targets
        )
    rates: Mapping[int, Sequence[float]] = {}
    if plan.targets.files:
        rates = system.target_rates(bytes_max=plan.targets.bytes, seconds_max=plan.targets.seconds)
    sick = sick_targets(rates)
    metadata, priced = _price_files(plan, system)
    cached = sum(one.cached for one in taken)
    discarded = sum(bool(one.discarded) for one in taken)
    return Portrait(
        identity=plan.ground.identity,
        space=plan.space,
        control=plan.control,
        choices=choices,
        samples=(*long, *taken),
        sick=sick,
        findings=(
            *findings_of(choices, cached, sick, discarded),
            *priced,
            *(() if plan.targets.files or not plan.ground.placeable else (_NOT_LOOKED_AT,)),
            *plan.ground.remarks,
        ),
        metadata=metadata,
    )


def _price_files(plan: ProbePlan, system: System) -> tuple[MetadataRates | None, tuple[str, ...]]:
    """The rates of creations and opens, and what is said of them."""
    if plan.metadata is None:
        return None, (f"{_NO_PRICE} (too few --files for that).",)
    try:
        found = system.file_rates(plan.metadata)
    except HangError:
        raise
    except ProbeError as error:
        return None, (f"{_NO_PRICE} ({error}).",)
    return found, findings_of_rates(found)


class _Measuring:
    """Measures probes, or takes their results from an earlier run. `seconds` is the sum of their
    times."""

    def __init__(
        self, system: System, journal: Journal, told: Callable[[int, Sample], None]
    ) -> None:
        self._system = system
        self._journal = journal
        self._told = told
        self._past = list(journal.past())
        self._number = 0
        self.seconds = 0.0

    def begins_with(self, purpose: Purpose) -> bool:
        """Whether the earlier run began with this purpose; True if there was none."""
        return not self._past or self._past[0][0].ask.purpose is purpose

    def next_is(self, purpose: Purpose) -> bool:
        """Whether the earlier run went on with this purpose; True if it ended before."""
        number = self._number
        return number >= len(self._past) or self._past[number][0].ask.purpose is purpose

    def measure(self, ask: NextProbe, *, seconds_max: float) -> tuple[Sample, float]:
        """Measures `ask`, or returns the sample that the journal of an earlier run has for it."""
        number = self._number
        if number < len(self._past):
            sample, seconds = self._past[number]
        else:
            self._journal.asked(number, ask)
            sample, seconds = self._system.measure(ask, number, seconds_max=seconds_max)
            self._journal.answered(number, sample, seconds)
        self._number += 1
        self.seconds += seconds
        self._told(number, sample)
        return sample, seconds


def _measure_long(plan: ProbePlan, measuring: _Measuring) -> tuple[Sample, ...]:
    """Measures the long passages before the search, so that the search cannot use up their time."""
    if not plan.long.files or not measuring.begins_with(Purpose.SUSTAIN):
        return ()
    conversation = long_passages(plan.control, plan.space.bytes_max)
    each = plan.long.seconds / LONG_MOST
    try:
        ask = next(conversation)
        while measuring.next_is(Purpose.SUSTAIN):
            ask = conversation.send(measuring.measure(ask, seconds_max=each)[0])
    except StopIteration as end:
        found: tuple[Sample, ...] = end.value
        return found
    return ()


def _measure_best(
    plan: ProbePlan,
    measuring: _Measuring,
    long: Sequence[Sample],
    choices: Mapping[Direction, Choice],
) -> list[Sample]:
    """Measures a long passage with the best settings of each direction."""
    bests = [one.best for one in choices.values()]
    return [
        measuring.measure(
            NextProbe(point=point, purpose=Purpose.SUSTAIN),
            seconds_max=plan.long.seconds / LONG_MOST,
        )[0]
        for point in best_passages(plan.control, bests, long)
    ]


def _converse(plan: ProbePlan, measuring: _Measuring) -> list[Sample]:
    from forebay_tuning.probe.model.search import search

    request = plan.request
    whole = request.budget.seconds
    budget = whole * (1 - _THINKING_SHARE) - plan.targets.seconds - plan.ground.spent.seconds
    budget -= plan.metadata.seconds if plan.metadata else 0.0
    each = (budget - plan.long.seconds) / plan.estimate.probes * _PROBE_FACTOR
    budget -= plan.long.seconds * BEST_MOST / LONG_MOST
    conversation = search(
        plan.space,
        control=plan.control,
        priors=plan.priors,
        probes=plan.estimate.probes,
        direction=request.direction,
        seed=request.seed,
    )
    taken: list[Sample] = []
    spans: list[float] = []
    failures = 0
    try:
        ask = next(conversation)
        usual = 0.0
        while measuring.seconds + usual < budget:
            left = budget - measuring.seconds
            sample, seconds = measuring.measure(ask, seconds_max=min(each, left))
            spans.append(seconds)
            usual = median(spans)
            taken.append(sample)
            failures = failures + 1 if sample.discarded else 0
            if failures >= _FAILURES_MAX:
                raise ProbeError(_too_little(taken, plan))
            ask = conversation.send(sample)
    except StopIteration:
        pass
    return taken


def _too_little(taken: Sequence[Sample], plan: ProbePlan) -> str:
    why = next((one.discarded for one in reversed(taken) if one.discarded), "the budget was over")
    if any(text in why for text in _NO_ROOM):
        way = (
            f"Make room (a probe writes up to {human_bytes(plan.space.bytes_max)}), or say --clean "
            "and probe with less --bytes"
        )
    else:
        way = "Mend that, or allow more by --seconds"
    return (
        f"cannot draw a portrait (of {len(taken)} probes too few count; the last trouble: {why}). "
        f"{way}; --resume goes on with what was measured."
    )
