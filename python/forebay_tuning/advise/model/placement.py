"""Forebay's placement of aggregators, so that only placements are advised that it would carry out.

The rule is `place_aggregators` in src/collective/plan/plan.cpp. The limit per node is
`aggregators_per_node` in src/storage/posix/machine.cpp, which depends on the node's cores and
network interfaces; these are not known here, so the largest limit of any node is assumed."""

from __future__ import annotations

import math

from forebay_tuning.model.point import Point

PER_NODE_MOST = 4
"""The largest value of `aggregators_per_node`."""


def aggregators(stripe_count: int, nodes: int, ranks_per_node: int, asked: int) -> int:
    """The number of aggregators if `asked` (cb_nodes) is set: at most one per target, and as many
    as the nodes have room for."""
    places = nodes * min(PER_NODE_MOST, ranks_per_node)
    return max(1, min(stripe_count, places, asked))


def on_a_node(count: int, nodes: int) -> int:
    """The number per node when `count` aggregators are spread over the nodes."""
    return math.ceil(count / nodes)


def carried_out(point: Point, nodes: int, ranks_per_node: int) -> bool:
    """Whether asking for the point's processes gives just these, with just that number per node."""
    count = aggregators(point.stripe_count, nodes, ranks_per_node, point.processes)
    return point.processes == count and point.per_node == on_a_node(count, nodes)
