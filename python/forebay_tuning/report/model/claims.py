"""What a rule says of a wait: how large a share of it has which cause, with the line of the log
that proves it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum

from forebay.common.model.frozen import frozen
from forebay_tuning.model.program_io import FileIo, LayerIo, ProgramIo
from forebay_tuning.report.model.waits import Part, Wait


class Kind(Enum):
    """Causes, by the names that JSON has: they do not change."""

    SICK = "sick-target"
    SYNCS = "sync-storm"
    READ_MODIFY_WRITE = "read-modify-write"
    SIEVING = "data-sieving"
    SAME_BYTES = "same-bytes"
    STRIPES = "few-stripes"
    SMALL = "small-calls"
    ROOT = "root-writer"
    EXCHANGE = "exchange"
    MPI = "mpi-io-itself"
    LOCKS = "lock-contention"
    UNEVEN = "imbalance"
    METADATA = "metadata"
    OPENING = "opening-together"
    LIBRARY = "library"


@frozen
class Claim:
    """`share`: of the part's seconds. `proof`: counter = value (file, rank)."""

    kind: Kind
    part: Part
    share: float
    title: str
    detail: str
    action: str
    proof: str


Rule = Callable[[Wait, ProgramIo], Iterator[Claim]]

_PREFIXES = {"MPI-IO": "MPIIO"}


def counter(layer: LayerIo, name: str, value: object) -> str:
    """As darshan-parser prints it."""
    return f"{_PREFIXES.get(layer.name, layer.name)}_{name} = {value}"


def place(file: FileIo, layer: LayerIo | None = None, *, rank: bool = False) -> str:
    """(file, rank): the slowest rank, or all."""
    whose = "all ranks" if file.rank is None else f"rank {file.rank}"
    if rank and layer is not None and layer.slowest_rank is not None:
        whose = f"slowest is rank {layer.slowest_rank}"
    return f"({name_of(file)}, {whose})"


def name_of(file: FileIo) -> str:
    """Without its directories."""
    return file.path.rpartition("/")[2] or file.path
