"""Use case: test advice on a simulated machine. Pairs and statistics are those of real runs; the
seconds are virtual, with the machine's drift and noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from forebay.bench.model.comparison import ComparedSide
from forebay.common.model.errors import UsageError
from forebay.common.model.units import counted
from forebay_tuning.advise.model.advice import Advice, advised_point
from forebay_tuning.advise.model.ready import chosen
from forebay_tuning.model.point import Point
from forebay_tuning.probe.use_case.simulated_system import SimulatedSystem
from forebay_tuning.verify.model import (
    AdviceVerdict,
    Verification,
    interim_test,
    is_look,
    order,
    prediction_of,
)
from forebay_tuning.verify.use_case.verify_advice import Verified


def verify_simulated(
    advice: Sequence[Advice],
    system: SimulatedSystem,
    *,
    pairs_max: int,
    margin: float,
    seed: int,
    told: Callable[[int, Verification], None],
) -> Verified:
    """Runs the pairs. Raises UsageError if the machine is too small for the program, and
    SimulationError if a run fails."""
    one = chosen(advice)
    identity = system.ground().identity
    now = one.now or one.workload.as_point(
        stripe_count=identity.stripe_count, stripe_bytes=identity.stripe_bytes
    )
    points = {ComparedSide.A: now, ComparedSide.B: advised_point(one, now)}
    for point in points.values():
        _check(point, identity.nodes, identity.ranks_per_node, identity.targets)
    seconds: dict[ComparedSide, list[float]] = {ComparedSide.A: [], ComparedSide.B: []}
    firsts: list[ComparedSide] = []
    found: Verification | None = None
    for number, sides in enumerate(order(pairs_max, seed)):
        for turn, side in enumerate(sides):
            moment = 2 * number + turn
            took = system.seconds(points[side], one.workload.direction, moment=moment)
            seconds[side].append(took)
        firsts.append(sides[0])
        found = interim_test(seconds[ComparedSide.A], seconds[ComparedSide.B], margin=margin)
        told(number + 1, found)
        if is_look(number + 1, pairs_max) and found.verdict is not AdviceVerdict.INCONCLUSIVE:
            break
    return Verified(
        verification=found,
        firsts=tuple(firsts),
        undone=True,
        predicted=prediction_of(one, of_whole_runs=False),
    )


def _check(point: Point, nodes: int, per_node: int, targets: int) -> None:
    if point.nodes > nodes or point.per_node > per_node or point.stripe_count > targets:
        raise UsageError(
            f"the simulated machine is too small ({counted(nodes, 'node')} × "
            f"{counted(per_node, 'rank')} and {counted(targets, 'target')}; "
            f"the program needs {point.nodes} × {point.per_node} and "
            f"{point.stripe_count}). Name the platform and the words that the portrait is of."
        )
