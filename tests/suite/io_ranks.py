"""Runs of programs with I/O ranks: by the library alone, and by the command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from forebay.common.files.native_libraries import IO_RANKS_NAME
from forebay.run.use_case.io_ranks import COUNT_VARIABLE, SPREAD_VARIABLE
from suite import mpi as m
from suite.command import FOREBAY, environment
from suite.verdict import ensure


def library_of(mpi: m.Mpi) -> Path:
    return m.LIBRARIES / mpi.family / IO_RANKS_NAME


def io_ranks_environment(mpi: m.Mpi, io_ranks: int, spread: int = 1) -> Mapping[str, str]:
    """The environment in which a program has I/O ranks, and nothing else of Forebay."""
    ensure(library_of(mpi).exists(), f"no {library_of(mpi)} (not built). Run `make build`.")
    return {
        "LD_PRELOAD": str(library_of(mpi)),
        COUNT_VARIABLE: str(io_ranks),
        SPREAD_VARIABLE: str(spread),
    }


def forebay_run(
    mpi: m.Mpi,
    options: Sequence[object],
    ranks: int,
    *program: object,
    folder: Path = Path(),
    seconds_max: float = 120,
) -> m.Ended:
    """The run of a program by `forebay run` in `folder`, of whatever status, but not hanging."""
    # The ranks end themselves by alarm(2) where a launcher dies without them.
    passed = {"TEST_SECONDS_MAX": str(int(seconds_max) + 5)}
    words = [
        "env",
        "-C",
        folder,
        *FOREBAY,
        "run",
        *options,
        "--",
        *mpi.start(ranks, passed),
        *program,
    ]
    with m.cores(mpi, ranks):
        ended = m.launch(
            [str(word) for word in words], seconds_max=seconds_max, environment=environment()
        )
    ensure(not ended.late, f"it hangs:\n{ended.tail}")
    return ended


def same_files(one: Path, other: Path, *, count: int) -> None:
    names = sorted(path.name for path in one.iterdir())
    ensure(len(names) == count, f"{count} files were to be written: {names}")
    ensure(names == sorted(path.name for path in other.iterdir()), f"not {names} in {other}")
    for name in names:
        ensure((one / name).read_bytes() == (other / name).read_bytes(), f"{name} is another")
