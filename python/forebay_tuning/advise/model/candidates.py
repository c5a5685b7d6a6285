"""The candidate points of advice: what a program may do instead of what it does now."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from forebay.common.model.frozen import frozen
from forebay_tuning.model.evidence import Workload
from forebay_tuning.model.placement import NodeRoom, carried_out, on_a_node
from forebay_tuning.model.point import Point, Space, changed, powers


@frozen
class Room:
    """The coordinates that may be changed, by name. If `calls_may_grow`, the program may make
    larger calls; else an aggregator writes at most its share of one collective call at a time."""

    workload: Workload
    may: Collection[str]
    calls_may_grow: bool = False

    def transfer_most(self, processes: int) -> int:
        """The most bytes that one of `processes` processes can move per call."""
        each = min(self.workload.bytes_each(processes), self.workload.file_bytes)
        if self.calls_may_grow or not self.workload.collective:
            return each
        return min(each, self.workload.share_of_call(processes))

    def allows_transfer(self, point: Point) -> bool:
        """Whether the point's transfer size is possible."""
        return point.transfer_bytes <= self.transfer_most(point.processes)

    def is_carried_out(self, now: Point, point: Point) -> bool:
        """Whether Forebay places aggregators as the point says. It always holds if processes are
        not changed, or if they are changed in the program itself."""
        work = self.workload
        same = (point.processes, point.per_node) == (now.processes, now.per_node)
        if same or not work.may_be_gathered or "processes" not in self.may:
            return True
        room = NodeRoom(nodes=work.nodes, fewest_ranks=work.fewest_ranks_per_node)
        return carried_out(point, room)

    def is_possible(self, now: Point, point: Point) -> bool:
        """Whether the program can get to the point by what may be changed."""
        return self.allows_transfer(point) and self.is_carried_out(now, point)

    def transfer_kept(self, now: Point, processes: int) -> int:
        """The transfer size of `processes` processes if none is set."""
        if processes == now.processes or not self.workload.may_be_gathered:
            return now.transfer_bytes
        return self.workload.gathered_transfer(processes)

    def changed(self, now: Point, point: Point) -> tuple[str, ...]:
        """The names of the settings that lead to `point`. A larger transfer size that follows from
        fewer aggregators needs no setting."""
        names = ("stripe_count", "stripe_bytes", "processes", "per_node")
        found = tuple(one for one in names if getattr(now, one) != getattr(point, one))
        kept = point.transfer_bytes == self.transfer_kept(now, point.processes)
        return found if kept else (*found, "transfer_bytes")

    def step(self, name: str, now: Point, here: Point, best: Point) -> Point:
        """`here` with coordinate `name` set as in `best`. With the number of processes, their
        number per node and their bytes change, too."""
        if name != "processes":
            return changed(here, {name: getattr(best, name)})
        told = here.transfer_bytes != self.transfer_kept(now, here.processes)
        call = here.transfer_bytes if told else self.transfer_kept(now, best.processes)
        return replace(
            here,
            processes=best.processes,
            per_node=best.per_node,
            process_bytes=self.workload.bytes_each(best.processes),
            transfer_bytes=min(call, self.transfer_most(best.processes)),
        )


def candidates(room: Room, now: Point, space: Space) -> list[Point]:
    """All combinations of the probed levels of coordinates that may be changed, with the program's
    number of bytes."""
    workload = room.workload
    found: list[Point] = []
    for count, each in _processes(room, now, space):
        transfers = _transfers(room, now, space, processes=count)
        for stripes in _levels(room, now, space, "stripe_count"):
            for stripe in _levels(room, now, space, "stripe_bytes"):
                if stripes > max(now.stripe_count, workload.stripes_of(stripe)):
                    continue
                found += [
                    Point(
                        processes=count,
                        per_node=each,
                        stripe_count=stripes,
                        stripe_bytes=stripe,
                        transfer_bytes=call,
                        process_bytes=workload.bytes_each(count),
                        shared=now.shared,
                    )
                    for call in transfers
                ]
    return [one for one in found if room.is_carried_out(now, one)]


def _levels(room: Room, now: Point, space: Space, name: str) -> tuple[int, ...]:
    here: int = getattr(now, name)
    return tuple(sorted({*space.levels[name], here})) if name in room.may else (here,)


def _processes(room: Room, now: Point, space: Space) -> Iterator[tuple[int, int]]:
    """Pairs of the number of processes and the number per node."""
    workload = room.workload
    counts = [now.processes]
    if "processes" in room.may:
        counts = sorted({*powers(1, workload.ranks), workload.ranks, workload.nodes})
        if workload.same_bytes:
            counts = sorted({workload.nodes, workload.ranks})  # one reader a node, or all
    levels = {1, *_levels(room, now, space, "per_node")}
    if workload.may_be_gathered and "processes" in room.may:
        levels |= {on_a_node(one, workload.nodes) for one in counts}
    per_node = [one for one in levels if one <= workload.ranks_per_node]
    for count in counts:
        for each in per_node:
            if workload.same_bytes and each != math.ceil(count / workload.nodes):
                continue
            if each <= count and math.ceil(count / each) <= workload.nodes:
                yield count, each


def _transfers(room: Room, now: Point, space: Space, *, processes: int) -> list[int]:
    """The probed transfer sizes up to the possible maximum. For collective calls, the aggregator's
    full share of a call is a candidate as well."""
    most = room.transfer_most(processes)
    sizes = set(_levels(room, now, space, "transfer_bytes"))
    if room.workload.collective and "transfer_bytes" in room.may:
        sizes.add(min(most, max(sizes)))
        sizes.add(room.transfer_kept(now, processes))
    return sorted(one for one in sizes if one <= most)


def fewest_stripes(
    room: Room,
    now: Point,
    best: Point,
    space: Space,
    seconds: Callable[[Point], float],
    *,
    within: float,
) -> Point:
    """`best` with the fewest stripes that make it slower by at most the share `within`: with each
    further stripe the file shares one more target with other files."""
    most = seconds(best) / (1 - within)
    fewer = sorted(
        one
        for one in {now.stripe_count, *space.levels["stripe_count"]}
        if now.stripe_count <= one < best.stripe_count
    )
    enough = (
        one
        for one in (replace(best, stripe_count=count) for count in fewer)
        if room.is_carried_out(now, one)
    )
    return next((one for one in enough if seconds(one) <= most), best)
