"""Estimates from a log which calls Forebay would take over, and how long they would take.

With a portrait of the file system, storage takes what that predicts for Forebay's aggregators and
calls, with its interval. Without one it is assumed to take as long as it did, less the share of
read-modify-write, and at best less what larger requests and an aggregator for each target save. A
collective call costs the agreement of its ranks and the exchange of its bytes. The bounds are wide,
and nothing here is measured: only `forebay verify` proves a gain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from forebay.common.model.frozen import frozen
from forebay.common.model.units import human_bytes, human_seconds
from forebay_tuning.model.point import Direction
from forebay_tuning.model.program_io import LayerIo, ProgramIo
from forebay_tuning.report.model.causes import small_share
from forebay_tuning.report.model.causes_ranks import late_share
from forebay_tuning.report.model.claims import name_of
from forebay_tuning.report.model.waits import PART_OF, Wait, waits_of

if TYPE_CHECKING:
    from forebay_tuning.model.portrait import Portrait

CALL_LEAST, CALL_MOST = 1e-4, 2.5e-3
"""Seconds that a collective call takes apart from its bytes. The lower bound is for a fast
network, the upper one for ranks that share cores (the machine of docs/performance.md)."""
_RATE = 1e9
"""Bytes per second that a rank sends and receives: a lower bound."""
_SHARE_LEAST = 0.02
"""Share of the run: calls of which less could be saved are left out."""
_SECONDS_LEAST = 1.0
"""Seconds: the same."""


@frozen
class Takeover:
    """Collective calls on one file in one direction. The seconds are of the run; `seconds_least`
    and `seconds_most` are the bounds with Forebay."""

    file: str
    direction: Direction
    calls: int
    call_bytes: int
    seconds_now: float
    seconds_least: float
    seconds_most: float
    is_by_portrait: bool = False
    """Whether storage's part is a portrait's prediction."""

    @property
    def text(self) -> str:
        """The estimate as a sentence for the user."""
        verb = "reads" if self.direction is Direction.READ else "writes"
        return (
            f"{self.calls} collective {verb} of {human_bytes(self.call_bytes)} by each rank "
            f"({self.file}): instead of {human_seconds(self.seconds_now)} s about "
            f"{human_seconds(self.seconds_least)} to {human_seconds(self.seconds_most)} s"
        )


def takeovers(program: ProgramIo, portrait: Portrait | None = None) -> tuple[Takeover, ...]:
    """The calls that Forebay would take over and that matter for the run, the longest first."""
    least = max(_SECONDS_LEAST, _SHARE_LEAST * program.seconds)
    found = [
        one
        for wait in waits_of(program)
        for one in _of(wait, program, portrait)
        if one.seconds_now - one.seconds_least >= least
    ]
    return tuple(sorted(found, key=lambda one: -one.seconds_now))


def _of(wait: Wait, program: ProgramIo, portrait: Portrait | None) -> Iterator[Takeover]:
    mpi = wait.mpi
    if mpi is None:
        return
    for direction in Direction:
        passing = mpi.passing(direction)
        now = wait.seconds[PART_OF[direction]] * (1 - late_share(wait, direction))
        if now <= 0 or passing.calls == 0 or not mpi.collective(direction):
            continue
        calls = max(1, passing.calls // max(1, mpi.ranks))
        exchange = passing.bytes / max(1, mpi.ranks) / _RATE
        predicted = None
        if portrait is not None:
            from forebay_tuning.report.model.against_portrait import storage_seconds

            predicted = storage_seconds(wait, mpi, direction, program, portrait)
        stored = wait.stored(direction) * now * _useful(wait.storage, mpi, direction)
        low, high = predicted or (stored * _at_best(wait, direction), stored)
        least = max(calls * CALL_LEAST + exchange, low)
        yield Takeover(
            file=name_of(wait.file),
            direction=direction,
            calls=calls,
            call_bytes=passing.bytes // passing.calls,
            seconds_now=now,
            seconds_least=min(now, least),
            seconds_most=min(now, calls * CALL_MOST + exchange + high),
            is_by_portrait=predicted is not None,
        )


def _at_best(wait: Wait, direction: Direction) -> float:
    """The least share of storage's seconds that is left with whole buffers in each request, and, if
    the file's targets are known, an aggregator for each of them."""
    by_storage = wait.stored(direction)
    small = small_share(wait, direction) / by_storage if by_storage > 0 else 0.0
    movers = wait.storage.effective_movers if wait.storage is not None else 0
    targets = min(wait.file.stripe_count or 0, wait.file.ranks)
    return (1 - min(1.0, small)) * (movers / targets if 0 < movers < targets else 1.0)


def _useful(storage: LayerIo | None, mpi: LayerIo, direction: Direction) -> float:
    """The share of the bytes moved in storage that the program asked for."""
    if storage is None:
        return 1.0
    moved = storage.passing(direction).bytes
    if direction is Direction.WRITE and mpi.read.calls == 0:
        moved += storage.read.bytes
    asked = mpi.passing(direction).bytes
    return min(1.0, asked / moved) if moved else 1.0
