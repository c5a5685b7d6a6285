"""Forebay's placement of aggregators, so that only placements are advised that it would carry out.

The rule is `place_aggregators` in src/collective/plan/plan.cpp; schema/examples/placements.tsv
holds both to the same counts. The engine itself is not asked: advice looks at thousands of points,
and is given where Forebay's native programs need not be installed. The limit per node depends on
the node's cores and network interfaces (schema/examples/node_limits.tsv); these are not known here,
so the largest limit of any node is assumed."""

from __future__ import annotations

import math

from forebay.common.model.frozen import frozen
from forebay.common.model.units import MIB
from forebay_tuning.model.evidence import Workload
from forebay_tuning.model.point import Point

PER_NODE_MOST = 4
"""The largest limit per node."""
BUFFER_OF_FOREBAY = 4 * MIB
"""Forebay's `cb_buffer_size` in bytes if nothing is set."""


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


def point_of_forebay(workload: Workload, *, stripe_count: int, stripe_bytes: int) -> Point:
    """The point at which Forebay carries out collective calls on a shared file if nothing is set.
    The given layout is used if the file's own is not known."""
    targets = max(1, workload.stripe_count or stripe_count)
    room = NodeRoom(nodes=workload.nodes, fewest_ranks=workload.fewest_ranks_per_node)
    count = aggregators(targets, room, asked=0)
    each = workload.bytes_each(count)
    return Point(
        processes=count,
        per_node=on_a_node(count, min(count, workload.nodes)),
        stripe_count=targets,
        stripe_bytes=workload.stripe_bytes or stripe_bytes,
        transfer_bytes=min(BUFFER_OF_FOREBAY, workload.share_of_call(count), each),
        process_bytes=each,
        shared=True,
    )
