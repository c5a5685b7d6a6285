"""Forebay's placement of aggregators, so that only placements are advised that it would carry out.

The rule is `place_aggregators` in src/collective/plan/plan.cpp; schema/examples/placements.tsv
holds both to the same counts. The engine itself is not asked: advice looks at thousands of points,
and is given where Forebay's native programs need not be installed. The limit per node depends on
the node's cores and network interfaces (schema/examples/node_limits.tsv); these are not known here,
so the largest limit of any node is assumed."""

from __future__ import annotations

import math

from forebay.common.model.frozen import frozen
from forebay_tuning.model.point import Point

PER_NODE_MOST = 4
"""The largest limit per node."""


@frozen
class NodeRoom:
    """The room for aggregators: every node counts as the one with the fewest ranks."""

    nodes: int
    fewest_ranks: int
    per_node_most: int = PER_NODE_MOST

    @property
    def places(self) -> int:
        """The number of aggregators for which all nodes together have room."""
        return self.nodes * min(self.per_node_most, self.fewest_ranks)


def aggregators(stripe_count: int, room: NodeRoom, *, asked: int, per_target: int = 1) -> int:
    """The number of aggregators if `asked` (cb_nodes; 0 if it is not set) are asked for: at most
    `per_target` for each target, the same number for each, and as many as there is room for."""
    most = min(room.places, asked or room.places)
    shares = min(per_target, most // stripe_count)
    return shares * stripe_count if shares > 1 else max(1, min(stripe_count, most))


def on_a_node(count: int, nodes: int) -> int:
    """The number on the fullest node when `count` aggregators are spread over the nodes."""
    return math.ceil(count / nodes)


def carried_out(point: Point, room: NodeRoom) -> bool:
    """Whether asking for the point's processes gives just these, with just that number per node."""
    count = aggregators(point.stripe_count, room, asked=point.processes)
    return point.processes == count and point.per_node == on_a_node(count, room.nodes)
