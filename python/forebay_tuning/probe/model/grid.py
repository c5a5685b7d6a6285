"""All points of a space as arrays, so that beliefs about all of them (up to hundreds of thousands)
are computed at once. Each coordinate has a few levels, so that similarity in one coordinate is a
small table. Sums over probes are computed axis by axis, using the Kronecker structure (Saatçi,
*Scalable Inference for Structured Gaussian Process Models*, 2011, chapter 5); a matrix of all
points by all probes is never built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from forebay.common.model.frozen import frozen
from forebay.common.model.newer_python import zip_of
from forebay_tuning.model.point import COORDINATES, Point, Space
from forebay_tuning.model.response import PointLoad
from forebay_tuning.probe.model.fitting import Array, asked_of_all

Places = NDArray[np.intp]
"""Indices of points in a grid."""

_REACH = 2.5
"""The length scale of a coordinate's effect, in doublings."""
_SHARING = 0.02
"""The similarity of a shared file and a file per process, if all else is equal."""


@frozen
class ProbeGrid:
    """`levels` has the level of each point in each coordinate, sharing last; `cells` has the index
    of each point among all combinations of levels, ascending; `near` has a table per coordinate of
    the similarity of its levels."""

    space: Space
    targets: int
    levels: Places
    cells: Places
    near: tuple[Array, ...]
    asked: PointLoad[Array]

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of levels of each coordinate."""
        return tuple(len(one) for one in self.near)

    def point(self, place: int) -> Point:
        """The point with that index."""
        *levels, sharing = self.levels[place].tolist()
        values = {
            name: self.space.levels[name][level]
            for name, level in zip_of(COORDINATES, levels, strict=True)
        }
        return Point(**values, shared=self.space.sharing[sharing])

    def places(self, points: Sequence[Point]) -> Places:
        """The indices of the points; each has to be in the space."""
        levels = [
            [self.space.levels[name].index(getattr(one, name)) for one in points]
            for name in COORDINATES
        ]
        sharing = [self.space.sharing.index(one.shared) for one in points]
        cells = np.ravel_multi_index(np.array([*levels, sharing], dtype=np.intp), self.shape)
        found: Places = np.searchsorted(self.cells, np.atleast_1d(cells))
        return found

    def asked_at(self, at: Places) -> PointLoad[Array]:
        """The loads of these points on the system."""
        return _taken(self.asked, at)

    def alike(self, some: Places, others: Places) -> tuple[Array, Array]:
        """The similarity of points: summed over single coordinates, and as a product of all."""
        total = np.zeros((len(some), len(others)))
        whole = np.ones((len(some), len(others)))
        for axis, near in enumerate(self.near):
            one = near[self.levels[some, axis]][:, self.levels[others, axis]]
            total += one
            whole *= one
        return total, whole

    def summed(self, at: Places, weights: Array) -> tuple[Array, Array]:
        """For every point, the weighted sum of its similarities to the points `at`: by single
        coordinates, and as a product of all."""
        total = np.zeros(len(self.cells))
        whole = np.zeros(self.shape)
        np.add.at(whole, tuple(self.levels[at].T), weights)
        for axis, near in enumerate(self.near):
            level = np.bincount(self.levels[at, axis], weights=weights, minlength=len(near))
            total += (near @ level)[self.levels[:, axis]]
            whole = np.moveaxis(np.tensordot(near, whole, axes=(1, axis)), 0, axis)
        return total, whole.ravel()[self.cells]


def grid_of(space: Space) -> ProbeGrid:
    """The grid of all points that the space allows."""
    columns = [np.array(space.levels[name]) for name in COORDINATES]
    shape = (*map(len, columns), len(space.sharing))
    levels = np.indices(shape).reshape(len(shape), -1)
    values = dict(zip_of(COORDINATES, (one[at] for one, at in zip(columns, levels)), strict=True))
    nodes = -(-values["processes"] // values["per_node"])
    allowed = (
        (nodes <= space.nodes)
        & (values["per_node"] <= space.ranks_per_node)
        & (values["per_node"] <= values["processes"])
        & (values["transfer_bytes"] <= values["process_bytes"])
        & (values["processes"] * values["process_bytes"] <= space.bytes_max)
    )
    near = [_near(np.log2(one) / _REACH) for one in columns]
    sharing = np.full((len(space.sharing),) * 2, _SHARING)
    np.fill_diagonal(sharing, 1.0)
    kept = np.ascontiguousarray(levels[:, allowed].T)
    targets = space.levels["stripe_count"][-1]
    return ProbeGrid(
        space=space,
        targets=targets,
        levels=kept,
        cells=np.flatnonzero(allowed),
        near=(*near, sharing),
        asked=_asked(space, kept, targets),
    )


def _near(place: Array) -> Array:
    near: Array = np.exp(-0.5 * (place[:, None] - place[None, :]) ** 2)
    return near


def _asked(space: Space, levels: Places, targets: int) -> PointLoad[Array]:
    """The loads of all points. The bytes per process matter only for locks, so a table for one
    level of them serves for all."""
    names = [one for one in COORDINATES if one != "process_bytes"]
    choices = [space.levels[name] for name in names]
    bytes_of_all = space.levels["process_bytes"][-1]
    table = asked_of_all(
        (
            Point(
                **dict(zip_of(names, values, strict=True)),
                process_bytes=bytes_of_all,
                shared=shared,
            )
            for values in product(*choices)
            for shared in space.sharing
        ),
        targets,
    )
    axes = [at for at, name in enumerate(COORDINATES) if name in names]
    shape = (*map(len, choices), len(space.sharing))
    rows = np.ravel_multi_index(tuple(levels[:, [*axes, len(COORDINATES)]].T), shape)
    taken = _taken(table, rows)
    return replace(taken, locked=_locked(space, levels, taken.streams))


def _locked(space: Space, levels: Places, streams: Array) -> Array:
    """`modelled.lock_share` for all points at once."""

    def value(name: str) -> Array:
        of_level: Array = np.array(space.levels[name], dtype=np.float64)
        return of_level[levels[:, COORDINATES.index(name)]]

    shared = np.array(space.sharing)[levels[:, len(COORDINATES)]]
    inner = np.maximum(1.0, value("process_bytes") / value("stripe_bytes"))
    asked = np.minimum(1.0, value("transfer_bytes") / value("stripe_bytes"))
    found: Array = np.where(shared & (streams > 1), asked / inner, 0.0)
    return found


def _taken(asked: PointLoad[Array], at: Places) -> PointLoad[Array]:
    return PointLoad(
        together=asked.together[at],
        transfer=asked.transfer[at],
        nodes=asked.nodes[at],
        busy=asked.busy[at],
        request=asked.request[at],
        streams=asked.streams[at],
        locked=asked.locked[at],
        balance=asked.balance[at],
    )
