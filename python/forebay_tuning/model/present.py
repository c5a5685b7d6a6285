"""A program as it is today, by a portrait: its point, and whether the seconds that its log has are
those that the portrait predicts."""

from __future__ import annotations

import math

from forebay_tuning.model.evidence import Workload
from forebay_tuning.model.point import Point
from forebay_tuning.model.portrait import Portrait
from forebay_tuning.model.response import Response

_DISAGREES = 3.0
"""Ratio of the log's seconds and the predicted ones from which on the user is warned."""
_RANKS_PER_NODE_USUAL = 32


def usual_nodes(ranks: int, portrait: Portrait | None) -> int:
    """The likely number of nodes of `ranks` ranks."""
    each = _RANKS_PER_NODE_USUAL if portrait is None else portrait.identity.ranks_per_node
    return max(1, math.ceil(ranks / each))


def present_point(workload: Workload, portrait: Portrait, response: Response) -> Point:
    """The program's present point. Whether MPI gathers its collective calls is not known, so the
    faster case is assumed: advice then claims no gain that MPI provides already."""
    count, size = portrait.identity.stripe_count, portrait.identity.stripe_bytes
    gathered = workload.as_point(stripe_count=count, stripe_bytes=size)
    plain = workload.ungathered(stripe_count=count, stripe_bytes=size)
    return min(gathered, plain, key=response.seconds)


def disagreement(workload: Workload, predicted: float) -> str:
    """The beginning of a sentence if the log's own seconds and the `predicted` ones differ much,
    else an empty text."""
    took = workload.seconds
    if took is None or min(took, predicted) <= 0:
        return ""
    times = max(took / predicted, predicted / took)
    if times <= _DISAGREES:
        return ""
    return (
        f"the program's own seconds of {workload.direction}s are {took:.3g}, and the portrait "
        f"predicts {predicted:.3g}: {times:.1f} × {'more' if took > predicted else 'less'}"
    )
