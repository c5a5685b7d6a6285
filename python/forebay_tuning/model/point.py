"""A point: one way of doing I/O that can be measured, predicted and advised; and the space of all
points that a system allows. The coordinates are the five dimensions of the configuration study of
2020 (transfer size × stripe size, bytes per process, processes per node, stripe count, number of
processes), and whether the processes share a file."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace

from forebay.common.model.frozen import frozen, frozen_ordered
from forebay.common.model.newer_python import StrEnum, zip_of
from forebay.common.model.units import MIB

KIB = 1024


class Direction(StrEnum):
    """The direction in which bytes move."""

    WRITE = "write"
    READ = "read"


@frozen_ordered
class Point:
    """`processes` do I/O, at most `per_node` on each node. Each moves `process_bytes` in calls of
    `transfer_bytes`, to one file (`shared`) or a file each, with `stripe_count` stripes."""

    processes: int
    per_node: int
    stripe_count: int
    stripe_bytes: int
    transfer_bytes: int
    process_bytes: int
    shared: bool = True

    @property
    def nodes(self) -> int:
        """The number of nodes with at least one of the processes."""
        return math.ceil(self.processes / self.per_node)

    @property
    def bytes(self) -> int:
        """Bytes of all processes together."""
        return self.processes * self.process_bytes

    @property
    def files(self) -> int:
        """The number of files."""
        return 1 if self.shared else self.processes


COORDINATES = tuple(one.name for one in fields(Point) if one.name != "shared")


@frozen
class Space:
    """All points that a system allows: the ascending levels of each coordinate, and bounds."""

    levels: Mapping[str, tuple[int, ...]]
    sharing: tuple[bool, ...]
    nodes: int
    ranks_per_node: int
    bytes_max: int
    """Bytes of one point that the budget allows."""

    def allows(self, point: Point) -> bool:
        """Whether the point is within the bounds, and no coordinate contradicts another."""
        return (
            point.nodes <= self.nodes
            and point.per_node <= self.ranks_per_node
            and point.per_node <= point.processes
            and point.transfer_bytes <= point.process_bytes
            and point.bytes <= self.bytes_max
        )

    def points(self) -> Iterator[Point]:
        """All allowed points, in order."""
        for coordinates in _product([self.levels[name] for name in COORDINATES]):
            for shared in self.sharing:
                point = Point(
                    **dict(zip_of(COORDINATES, coordinates, strict=True)),
                    shared=shared,
                )
                if self.allows(point):
                    yield point

    def nearest(self, point: Point) -> Point:
        """The allowed point closest to `point`, with each coordinate at a level."""
        near = {
            name: min(self.levels[name], key=lambda level: abs(_log(level) - _log(wanted)))
            for name, wanted in coordinates_of(point).items()
        }
        shared = point.shared if point.shared in self.sharing else self.sharing[0]
        found = Point(**near, shared=shared)
        if self.allows(found):
            return found
        return min(self.points(), key=lambda one: distance(one, found))


def coordinates_of(point: Point) -> Mapping[str, int]:
    """The coordinates by name, without `shared`."""
    return {name: getattr(point, name) for name in COORDINATES}


def changed(point: Point, coordinates: Mapping[str, int]) -> Point:
    """The point with other values of these coordinates."""
    return Point(**{**coordinates_of(point), **coordinates}, shared=point.shared)


def powers(least: int, most: int, *, factor: int = 2) -> tuple[int, ...]:
    """`least`, factor · least, … and `most` itself."""
    found = []
    level = least
    while level < most:
        found.append(level)
        level *= factor
    return (*found, most)


def usual_space(
    *,
    nodes: int,
    ranks_per_node: int,
    targets: int,
    bytes_max: int,
    process_bytes_max: int = 1024 * MIB,
    processes_max: int | None = None,
) -> Space:
    """The space of the study: transfers of 64 KiB to 16 MiB, stripes of 256 KiB to 16 MiB, 1 MiB to
    1 GiB per process. Without striping, stripe count and stripe size have one level."""
    ranks = min(nodes * ranks_per_node, processes_max or nodes * ranks_per_node)
    largest = max(MIB, min(process_bytes_max, bytes_max))
    striped = targets > 1
    levels = {
        "processes": powers(1, ranks),
        "per_node": powers(1, ranks_per_node),
        "stripe_count": powers(1, targets) if striped else (1,),
        "stripe_bytes": powers(256 * KIB, 16 * MIB, factor=4) if striped else (MIB,),
        "transfer_bytes": powers(64 * KIB, 16 * MIB, factor=4),
        "process_bytes": powers(MIB, largest, factor=4),
    }
    return Space(
        levels=levels,
        sharing=(True, False),
        nodes=nodes,
        ranks_per_node=ranks_per_node,
        bytes_max=bytes_max,
    )


def distance(a: Point, b: Point) -> float:
    """The Euclidean distance in doublings, over all coordinates."""
    there = coordinates_of(b)
    far = math.fsum((_log(one) - _log(there[name])) ** 2 for name, one in coordinates_of(a).items())
    return math.sqrt(far + (4.0 if a.shared != b.shared else 0.0))


def scaled(point: Point, space: Space) -> tuple[float, ...]:
    """Each coordinate scaled logarithmically to −1 … 1 within the space; `shared` is the last."""
    found = []
    for name, value in coordinates_of(point).items():
        low, high = _log(space.levels[name][0]), _log(space.levels[name][-1])
        found.append(0.0 if high == low else 2 * (_log(value) - low) / (high - low) - 1)
    one_kind = len(space.sharing) == 1
    return (*found, 0.0 if one_kind else 1.0 if point.shared else -1.0)


def spread_points(space: Space, count: int, *, seed: int, tries: int = 60) -> tuple[Point, ...]:
    """A maximin Latin hypercube over the space: each coordinate is spread evenly over its levels,
    and of `tries` designs that with the largest minimal distance of two points is taken."""
    generator = random.Random(seed)
    best: tuple[Point, ...] = ()
    best_gap = -1.0
    for _ in range(tries):
        design = _latin(space, count, generator)
        places = [scaled(one, space) for one in design]
        gap = min(
            (math.dist(a, b) for at, a in enumerate(places) for b in places[:at]), default=0.0
        )
        if gap > best_gap:
            best, best_gap = design, gap
    return best


def _latin(space: Space, count: int, generator: random.Random) -> tuple[Point, ...]:
    columns: dict[str, list[int]] = {}
    for name in COORDINATES:
        levels = space.levels[name]
        column = [levels[min(at * len(levels) // count, len(levels) - 1)] for at in range(count)]
        generator.shuffle(column)
        columns[name] = column
    sharing = [space.sharing[at % len(space.sharing)] for at in range(count)]
    generator.shuffle(sharing)
    return tuple(
        _feasible(
            Point(**{name: columns[name][at] for name in COORDINATES}, shared=sharing[at]), space
        )
        for at in range(count)
    )


def _feasible(point: Point, space: Space) -> Point:
    """The point with contradicting coordinates moved closer to each other, all at levels."""
    per_node = min(point.per_node, point.processes)
    fits = [one for one in space.levels["processes"] if math.ceil(one / per_node) <= space.nodes]
    processes = max((one for one in fits if one <= point.processes), default=fits[0])
    per_node = max(one for one in space.levels["per_node"] if one <= min(per_node, processes))
    room = space.bytes_max // processes
    sizes = [one for one in space.levels["process_bytes"] if one <= min(room, point.process_bytes)]
    size = sizes[-1] if sizes else space.levels["process_bytes"][0]
    calls = [
        one for one in space.levels["transfer_bytes"] if one <= min(size, point.transfer_bytes)
    ]
    made = replace(
        point,
        processes=processes,
        per_node=per_node,
        process_bytes=size,
        transfer_bytes=calls[-1] if calls else size,
    )
    return made if space.allows(made) else space.nearest(made)


def _product(columns: Sequence[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    if not columns:
        yield ()
        return
    for first in columns[0]:
        for rest in _product(columns[1:]):
            yield (first, *rest)


def _log(value: int) -> float:
    return math.log2(value)
