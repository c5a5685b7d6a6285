"""Whether I/O ranks pay: where a program waited for its pool although the pool's writer was idle
for much of the time. The daemon then had to take turns with the program's ranks for a core. Where
the file system was the limit, or the pool's memory was, a core for the daemon changes nothing."""

from __future__ import annotations

from pathlib import Path

from forebay.common.model.io_rank_count import OutputDemand, chosen_count, sides_of
from forebay.common.model.units import counted, human_seconds

_SECONDS_LEAST = 1.0
"""Seconds of the run: less is not worth a change."""
_SHARE_LEAST = 0.02
"""Share of the run: the same."""


def worth_io_ranks(demand: OutputDemand | None, *, source: Path, nodes: int) -> tuple[str, ...]:
    """The proposal, in a few sentences; empty if I/O ranks would not pay, or if that is not known.
    `source` is the record."""
    if demand is None or demand.pool is None or demand.ranks is None:
        return ()
    count = chosen_count(demand.writers, ranks=demand.ranks, groups=nodes)
    if count is None or demand.writers > nodes or demand.pool.high >= demand.pool.cap:
        return ()
    left = demand.ranks - count
    waited = demand.pool.waited_seconds / demand.ranks
    saved = waited - demand.seconds * count / left
    if saved < max(_SECONDS_LEAST, _SHARE_LEAST * demand.seconds):
        return ()
    return (_proposal(demand, count, source),)


def _proposal(demand: OutputDemand, count: int, source: Path) -> str:
    ranks = demand.ranks or 0
    small, large = sides_of(ranks - count)
    waited = 0.0 if demand.pool is None else demand.pool.waited_seconds / ranks
    return (
        f"each rank waited {human_seconds(waited)} s for the pool on average, although its writer "
        f"was busy for {demand.busy_share:.0%} of the time only ({demand.text}): it may have "
        f"lacked a core. Let it have {counted(count, 'rank')} of {ranks}: forebay run --io-ranks "
        f"auto --record {source} -- … (the program then sees {ranks - count} = {small} × {large} "
        "ranks). This is a rule, not a measurement: time both."
    )
