"""The programs behind the tests' logs, each with the cause that a specialist would name first."""

from __future__ import annotations

from dataclasses import dataclass

NONE = "none"
"""Nothing held the program back, or its I/O has no known cause: the report must list nothing."""


@dataclass(frozen=True, kw_only=True)
class Program:
    """A run of `source`.c with the arguments `words`. `label` is the kind of the expected first
    trouble. If `reduced`, the log has shared records, else one record per rank. If `partial`, the
    POSIX module has only the records of the first half of the ranks, as where Darshan's memory for
    it was full."""

    name: str
    ranks: int
    words: tuple[str | int, ...]
    label: str
    source: str = "troubles"
    reduced: bool = True
    partial: bool = False


def _of(
    what: str,
    label: str,
    *runs: tuple[int, int, int],
    reduced: bool = True,
    partial: bool = False,
) -> list[Program]:
    """Programs of one kind. Each of `runs` has the number of ranks, of calls, and their bytes."""
    kind = "-partial" if partial else "" if reduced else "-by-rank"
    return [
        Program(
            name=f"{what}-{ranks}x{number}x{size}{kind}",
            ranks=ranks,
            words=(what, number, size),
            label=label,
            source="libraries" if what.startswith(("nc", "h5")) else "troubles",
            reduced=reduced and not partial,
            partial=partial,
        )
        for ranks, number, size in runs
    ]


PROGRAMS = (
    *_of("tinycoll", "exchange", (4, 600, 16), (8, 100, 64), (2, 1000, 1024), (16, 40, 16)),
    *_of("tinycoll", "exchange", (4, 300, 256), reduced=False),
    *_of("tinycollread", "exchange", (4, 300, 64)),
    *_of("collective", "exchange", (4, 20000, 64), (8, 5000, 128)),
    *_of("sieve", "read-modify-write", (4, 20000, 64), (8, 10000, 64), (4, 5000, 256)),
    *_of("sieve", "read-modify-write", (4, 20000, 64), reduced=False),
    *_of("holes", "read-modify-write", (4, 20000, 64), (8, 5000, 256), (4, 2000, 1024)),
    *_of("sieveread", "data-sieving", (4, 20000, 64), (8, 10000, 64), (4, 5000, 256)),
    *_of("rootwriter", "root-writer", (4, 200, 1 << 20), (16, 100, 1 << 20), (64, 60, 1 << 20)),
    *_of("rootwriter", "root-writer", (2, 200, 4 << 20)),
    *_of("openstorm", "metadata", (1, 20000, 8), (4, 10000, 8), (16, 1000, 8)),
    *_of("statstorm", "metadata", (1, 50000, 8), (4, 20000, 8), (8, 5000, 8)),
    *_of("manyfiles", "metadata", (1, 1500, 8), (4, 400, 8)),
    *_of("fsyncs", "sync-storm", (1, 100, 65536), (4, 50, 65536), (8, 20, 4096), (2, 20, 1 << 20)),
    *_of("fdatasyncs", "sync-storm", (4, 50, 65536)),
    *_of("slowrank", "sync-storm", (4, 100, 65536), (16, 50, 65536)),
    *_of("syncedmpi", "sync-storm", (4, 10, 65536)),
    *_of("smallwrites", "small-calls", (1, 200000, 64), (4, 50000, 512), (16, 10000, 512)),
    *_of("smallreads", "small-calls", (4, 50000, 512), (16, 10000, 1024)),
    *_of("smallreads", "small-calls", (4, 50000, 512), reduced=False),
    *_of("randomreads", "small-calls", (4, 20000, 512), (1, 50000, 256)),
    *_of("sharedsmall", "small-calls", (4, 20000, 100), (8, 10000, 512), (64, 500, 512)),
    *_of("sharedsmallread", "small-calls", (4, 20000, 100)),
    *_of("independent", "small-calls", (4, 10000, 256), (8, 5000, 512)),
    *_of("independentread", "small-calls", (4, 10000, 256)),
    *_of("stdioflush", "sync-storm", (1, 50000, 64), (4, 20000, 64)),
    *_of("stdiounbuffered", "small-calls", (1, 50000, 64), (4, 20000, 64)),
    *_of("stdioread", "small-calls", (4, 50000, 64)),
    *_of("samebytes", "same-bytes", (4, 100, 1 << 20), (16, 50, 1 << 20), (8, 400, 262144)),
    *_of("uneven", "imbalance", (4, 40, 1 << 20), (16, 20, 1 << 20), (8, 20, 2 << 20)),
    *_of("reopen", "opening-together", (4, 12, 64), (2, 200, 64)),
    *_of("healthy", NONE, (1, 20, 4 << 20), (4, 20, 1 << 20), (16, 4, 4 << 20)),
    *_of("tenth", NONE, (1, 50, 4 << 20), (2, 20, 4 << 20)),
    *_of("bound", NONE, (1, 100, 4 << 20), (2, 50, 4 << 20)),
    *_of("nothing", NONE, (1, 1, 8), (4, 1, 8)),
    *_of("nctiny", "exchange", (4, 60, 256)),
    *_of("nctiny", "exchange", (2, 150, 64), partial=True),
    *_of("ncindependent", "small-calls", (4, 5000, 512)),
    *_of("ncsieve", "read-modify-write", (4, 40000, 256), (1, 60000, 256)),
    *_of("ncsieveread", "data-sieving", (4, 40000, 256), (1, 60000, 256)),
    *_of("ncholes", "read-modify-write", (4, 10000, 64)),
    *_of("ncsynced", "sync-storm", (2, 20, 65536)),
    *_of("ncroot", "root-writer", (4, 200, 1 << 20)),
    *_of("ncsame", "same-bytes", (4, 100, 1 << 20), reduced=False),
    *_of("ncreopened", "opening-together", (4, 20, 4096)),
    *_of("nchealthy", NONE, (4, 8, 1 << 20)),
    *_of("h5tiny", "exchange", (4, 60, 128)),
    *_of("h5tiny", "exchange", (8, 20, 64), reduced=False),
    *_of("h5independent", "small-calls", (4, 5000, 512), partial=True),
    *_of("h5strided", "small-calls", (4, 10000, 512), reduced=False),
    *_of("h5holes", "read-modify-write", (4, 10000, 64), partial=True),
    *_of("h5flushed", "sync-storm", (4, 20, 65536), reduced=False),
    *_of("h5converted", "library", (2, 40, 1 << 20), reduced=False),
    *_of("h5deflated", "library", (1, 20, 1 << 20)),
    *_of("h5root", "root-writer", (4, 200, 1 << 20), reduced=False),
    *_of("h5healthy", NONE, (4, 8, 1 << 20), reduced=False),
)
