"""Chooses the number of I/O ranks of a run by the record of an earlier one."""

from __future__ import annotations

from pathlib import Path

from forebay.common.model.errors import UsageError
from forebay.common.model.io_rank_count import (
    WRITER_SHARE,
    OutputDemand,
    chosen_count,
    demand_of,
    sides_of,
)
from forebay.common.model.printable import printable_name
from forebay.common.model.units import counted
from forebay.ports import RunWorld
from forebay.run.use_case.io_ranks import WITHOUT_LAUNCHER, AutoIoRanks, IoRanks

_REFUSED = "cannot choose the number of I/O ranks"
_FIRST = (
    "Run the program once without them, as forebay run --record FILE --pool FOLDER -- …, "
    "then say --io-ranks auto --record FILE; or say a number: --io-ranks 1."
)


def choose_io_ranks(
    asked: AutoIoRanks,
    *,
    record: Path | None,
    ranks: int | None,
    nodes: int,
    has_launcher: bool,
    world: RunWorld,
) -> tuple[IoRanks, str]:
    """The I/O ranks of a run of `ranks` ranks, and why there are so many, for the user. `record` is
    the one that the run itself will be appended to. Raises UsageError if it tells of no output, and
    RecordError if it cannot be read."""
    if ranks is None and not has_launcher:
        raise UsageError(WITHOUT_LAUNCHER)
    if ranks is None:
        raise UsageError(
            f"{_REFUSED} (the command line does not say how many ranks there are). Say it to the "
            "launcher, by -n."
        )
    if record is None:
        raise UsageError(f"{_REFUSED} (auto needs the record of an earlier run). {_FIRST}")
    demand = demand_of(world.records.read(record, offset=0))
    if demand is None:
        raise UsageError(
            f"{_REFUSED} (the record {printable_name(record)} has no run that wrote something "
            f"through a pool, or by collective calls of MPI-IO). {_FIRST}"
        )
    groups = asked.spread or nodes
    count = chosen_count(demand.writers, ranks=ranks, groups=groups, known=demand.ranks)
    if count is None:
        raise UsageError(
            f"{_REFUSED} ({counted(demand.writers, 'writer')} would be needed for {demand.text}, "
            f"and of {counted(ranks, 'rank')} in {counted(groups, 'group')} that is more than "
            "half). Write less or less often, or start more ranks."
        )
    return IoRanks(count=count, spread=groups), _told(demand, count, ranks)


def _told(demand: OutputDemand, count: int, ranks: int) -> str:
    small, large = sides_of(ranks - count)
    same = " as before" if demand.ranks == ranks - count else ""
    seen = f"{ranks - count} = {small} × {large} ranks" if ranks - count > 1 else "1 rank"
    text = (
        f"I/O ranks: {count} of {ranks}; the program will see {seen}{same} ({demand.command} wrote "
        f"{demand.text}; a writer is to be busy for {WRITER_SHARE:.0%} of the time)"
    )
    if demand.pool is not None and demand.busy_share >= 1 and demand.pool.waited_seconds > 0:
        text += (
            ". It waited for its writers then, so its interval may be longer than it will be: run "
            "it again with this record"
        )
    return text
