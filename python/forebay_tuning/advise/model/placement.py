"""Where Forebay places aggregators, so that nothing is advised that it would not carry out. The
rule is `place_aggregators` in src/collective/plan/plan.cpp, and how many a node has at most is
`aggregators_per_node` in src/storage/posix/machine.cpp: it follows cores and network interfaces of
nodes that are not at hand here, so that as many as any node has are allowed."""

from __future__ import annotations

import math

from forebay_tuning.model.point import Point

PER_NODE_MOST = 4


def aggregators(stripe_count: int, nodes: int, ranks_per_node: int, asked: int) -> int:
    """How many there are where `asked` (cb_nodes) are set: at most one for each target, and as many
    as nodes have room for."""
    places = nodes * min(PER_NODE_MOST, ranks_per_node)
    return max(1, min(stripe_count, places, asked))


def on_a_node(count: int, nodes: int) -> int:
    """They are spread over nodes."""
    return math.ceil(count / nodes)


def carried_out(point: Point, nodes: int, ranks_per_node: int) -> bool:
    """Whether so many aggregators, so many on a node, are what comes of asking for them."""
    count = aggregators(point.stripe_count, nodes, ranks_per_node, point.processes)
    return point.processes == count and point.per_node == on_a_node(count, nodes)
