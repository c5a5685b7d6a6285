"""The cases of each suite with their goals, as data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from evaluation.model import (
    MEBIBYTE,
    Against,
    Case,
    Goal,
    Memory,
    Metric,
    Operation,
    StorageKind,
    View,
)
from forebay.common.model.frozen import frozen


@frozen
class Suite:
    """A named set of cases that are compared in the same way."""

    name: str
    title: str
    text: str
    metric: Metric
    against: Against
    cases: tuple[Case, ...]
    quick: tuple[Case, ...]
    blocks: int = 6


KIBIBYTE = 1024
BOTH = (StorageKind.TMPFS, StorageKind.DISK)
MOVES = (Operation.WRITE, Operation.READ)
MEMORY_LABEL = {Memory.CONTIGUOUS: "c", Memory.PIECES: "nc", Memory.SPLIT: "split"}


def size_label(size: int) -> str:
    """The size with its unit: 1048576 is "1 MiB"."""
    for unit, factor in (("MiB", MEBIBYTE), ("KiB", KIBIBYTE)):
        if size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"


# The host of a virtual machine reclaims free memory; a fresh page then takes 100 ms now and then,
# whichever stack needs it. The median of a launch's repetitions is hardly affected by that.
WARM_UP = {StorageKind.TMPFS: 1, StorageKind.DISK: 2}
REPETITIONS = {StorageKind.TMPFS: 3, StorageKind.DISK: 5}


PLAIN = Case(suite="", label="", operation=Operation.WRITE, ranks=4, storage=StorageKind.TMPFS)
"""The defaults of a case; suites state only the differences."""


def _warmed(case: Case, storage: StorageKind) -> Case:
    """The case on that storage, with as many warm-ups and repetitions as the storage needs."""
    return replace(
        case,
        storage=storage,
        warm_up=WARM_UP[storage],
        repetitions=max(case.repetitions, REPETITIONS[storage]),
    )


def _by_ranks(case: Case, operations: tuple[Operation, ...] = MOVES) -> Iterable[Case]:
    for ranks in (4, 8):
        for operation in operations:
            yield replace(case, ranks=ranks, operation=operation)


def _interleaved(*, total: int) -> Iterable[Case]:
    for storage in BOTH:
        for region in (256, 1024, 4096):
            for memory in (Memory.CONTIGUOUS, Memory.PIECES):
                case = replace(
                    PLAIN,
                    suite="interleaved",
                    label=f"{size_label(region)} {MEMORY_LABEL[memory]}",
                    region=region,
                    total=total,
                    memory=memory,
                    target=Goal(ratio_min=1.3 if region == 4096 else 2.0),
                )
                yield from _by_ranks(_warmed(case, storage))


def _pieces16(*, total: int) -> Iterable[Case]:
    public = replace(
        PLAIN,
        suite="pieces16",
        label="16 B split, subarrays, cb_buffer_size 1 MiB",
        region=16,
        total=total,
        memory=Memory.SPLIT,
        view=View.SUBARRAYS,
        hints=("cb_config_list=*:*", "cb_buffer_size=1048576", "cb_nodes=4"),
        warm_up=0,
        target=Goal(ratio_min=25.0, seconds_max=2.0),
    )
    yield public
    yield replace(public, label="16 B split, subarrays", hints=())
    yield replace(public, label="16 B nc, vector", hints=(), memory=Memory.PIECES, view=View.VECTOR)


def _contiguous(*, scale: int) -> Iterable[Case]:
    plain = replace(
        PLAIN,
        suite="contiguous",
        label="1 MiB a rank, one call",
        region=MEBIBYTE,
        view=View.NONE,
        target=Goal(ratio_min=0.95),
    )
    shapes = (
        replace(plain, total=4 * MEBIBYTE, repetitions=9),
        replace(plain, label="1 MiB segments", total=scale * MEBIBYTE),
        replace(plain, label="16 MiB segments", region=16 * MEBIBYTE, total=4 * scale * MEBIBYTE),
        replace(plain, label="1 MiB interleaved, one call", view=View.VECTOR,
                total=scale * MEBIBYTE),
        replace(plain, label="1 KiB and 1 KiB holes", view=View.VECTOR, region=KIBIBYTE,
                gap=KIBIBYTE, total=scale * MEBIBYTE // 2),
    )  # fmt: skip
    for storage in BOTH:
        for shape in shapes:
            for case in _by_ranks(_warmed(shape, storage)):
                one_call = shape.label == plain.label
                yield replace(case, total=case.ranks * MEBIBYTE) if one_call else case


def _memory(*, many: int) -> Iterable[Case]:
    for memory in (Memory.CONTIGUOUS, Memory.PIECES):
        for pieces, region in ((1000, 16 * many // 1000), (many, 16)):
            for operation in MOVES:
                yield replace(
                    PLAIN,
                    suite="memory",
                    label=f"{pieces:,} pieces a rank {MEMORY_LABEL[memory]}",
                    operation=operation,
                    region=region,
                    total=4 * pieces * region,
                    memory=memory,
                    warm_up=0,
                    target=Goal(mebibytes_max=65.0),
                )


def _open_close(*, repetitions: int) -> Iterable[Case]:
    for storage in BOTH:
        case = replace(
            PLAIN,
            suite="open_close",
            label="open + close",
            storage=storage,
            warm_up=2,
            repetitions=repetitions,
            target=Goal(ratio_min=1 / 1.2),
        )
        yield from _by_ranks(case, (Operation.CREATE, Operation.OPEN))


def _only(cases: Iterable[Case], *names: str) -> tuple[Case, ...]:
    kept = tuple(case for case in cases if case.name in names)
    if len(kept) != len(names):
        raise ValueError(f"No such quick case among {names}")
    return kept


SUITES = (
    Suite(
        name="interleaved",
        title="Interleaved regions",
        text="128 MiB in regions dealt out to the ranks like cards, one collective call; "
        "memory contiguous (c) or one region apart (nc).",
        metric=Metric.RATE,
        against=Against.BEST,
        cases=tuple(_interleaved(total=128 * MEBIBYTE)),
        quick=_only(
            _interleaved(total=8 * MEBIBYTE),
            "1 KiB nc / write / 4 ranks / tmpfs",
            "256 B c / read / 4 ranks / disk",
        ),
    ),
    Suite(
        name="pieces16",
        title="16-byte pieces",
        text="512 MiB in 16-byte pieces. `split, subarrays` is the shape of the public reproducer "
        "of pmodels/mpich#6985: the view a list of 256-row subarrays, memory in two blocks 16 "
        "bytes apart; first with its hints, then with each library's defaults. `nc, vector` has "
        "every piece apart in memory.",
        metric=Metric.RATE,
        against=Against.BEST,
        cases=tuple(_pieces16(total=512 * MEBIBYTE)),
        quick=_only(_pieces16(total=4 * MEBIBYTE), "16 B nc, vector / write / 4 ranks / tmpfs"),
        blocks=2,
    ),
    Suite(
        name="contiguous",
        title="Contiguous and segmented",
        text="Patterns that two-phase I/O is not made for: each rank's data lie in large "
        "contiguous segments (explicit offsets, one call a segment), or interleaved in 1 MiB "
        "regions by one call; and 1 KiB regions that are 1 KiB apart in the file.",
        metric=Metric.RATE,
        against=Against.BEST,
        cases=tuple(_contiguous(scale=128)),
        quick=_only(_contiguous(scale=16), "1 MiB segments / write / 4 ranks / tmpfs"),
    ),
    Suite(
        name="memory",
        title="Memory",
        text="Growth of the peak resident memory (VmHWM, reset before open; shared staging counts "
        "in every rank that touches it) of the rank that grows most, from open to close; 160 MB "
        "a rank in 1 thousand or 10 million pieces.",
        metric=Metric.MEMORY,
        against=Against.SAME_MPI,
        cases=tuple(_memory(many=10_000_000)),
        quick=_only(_memory(many=100_000), "100,000 pieces a rank nc / write / 4 ranks / tmpfs"),
        blocks=1,
    ),
    Suite(
        name="open_close",
        title="Open and close",
        text="`MPI_File_open` and `MPI_File_close` of a new file (create) and of one that exists "
        "(open), the median of 20 a launch.",
        metric=Metric.OPEN_CLOSE,
        against=Against.SAME_MPI,
        cases=tuple(_open_close(repetitions=20)),
        quick=_only(_open_close(repetitions=3), "open + close / create / 4 ranks / tmpfs"),
    ),
)
LIMITS = "limits"
SUITE_NAMES = tuple(suite.name for suite in SUITES)


def suite_named(name: str) -> Suite:
    """The suite of that name. Raises KeyError if there is none."""
    return {suite.name: suite for suite in SUITES}[name]
