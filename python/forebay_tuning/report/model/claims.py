"""A rule's finding about a wait: the cause, the share of the wait that it explains, and the counter
in the log that proves it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum

from forebay.common.model.frozen import frozen
from forebay_tuning.model.program_io import FileIo, LayerIo, ProgramIo
from forebay_tuning.report.model.waits import Part, Wait


class CauseKind(Enum):
    """Causes. The values are part of the JSON format, so they must not change."""

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
    """One cause of a wait. `share` is the explained share of the seconds of `part` in the wait;
    `proof` reads "counter = value (file, rank)"."""

    kind: CauseKind
    part: Part
    share: float
    title: str
    detail: str
    action: str
    proof: str


Rule = Callable[[Wait, ProgramIo], Iterator[Claim]]

_PREFIXES = {"MPI-IO": "MPIIO"}


def counter(layer: LayerIo, name: str, value: object) -> str:
    """The counter and its value as darshan-parser prints them."""
    return f"{_PREFIXES.get(layer.name, layer.name)}_{name} = {value}"


def place(file: FileIo, layer: LayerIo | None = None, *, rank: bool = False) -> str:
    """The words "(file, rank)" of a proof. With `rank`, `layer` names the slowest rank."""
    whose = "all ranks" if file.rank is None else f"rank {file.rank}"
    if rank and layer is not None and layer.slowest_rank is not None:
        whose = f"slowest is rank {layer.slowest_rank}"
    return f"({name_of(file)}, {whose})"


def is_stream(file: FileIo) -> bool:
    """Whether the record is of <STDOUT> or <STDERR>, which are no files."""
    return file.path.startswith("<")


def name_of(file: FileIo) -> str:
    """The file's name without its directories."""
    return file.path.rpartition("/")[2] or file.path
