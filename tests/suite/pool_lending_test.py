"""Windows of collective writes that ranks put together in memory of the pool: files are the same
in the first call of a process and later, drained at once or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from suite import mpi as m
from suite.compare import RECORD, compare
from suite.on import ALL, EACH, on
from suite.pool import pool
from suite.pooled import EAGER, KEPT
from suite.programs import VIEWS, plain
from suite.record import Record
from suite.verdict import ensure

RANKS = 4


def lent_by_views(mpi: m.Mpi, folder: Path, settings: Mapping[str, str] = KEPT, **more: str) -> int:
    """Bytes, of all files."""
    with pool(folder, settings) as one:
        VIEWS.run(mpi, RANKS, folder, one.with_mpi(m.forebay(folder / RECORD, **more)))
    compare(plain(VIEWS, mpi, RANKS), folder, ranks=RANKS)
    return sum(file.lent for file in Record.read(folder / RECORD).files)


@ALL
@pytest.mark.parametrize("settings", [KEPT, EAGER], ids=["kept", "eager"])
def test_windows_lie_in_the_pool(mpi: m.Mpi, settings: Mapping[str, str], folder: Path) -> None:
    ensure(lent_by_views(mpi, folder, settings) > 0, "nothing was lent")


@EACH
def test_ranks_of_several_nodes_share_no_memory(mpi: m.Mpi, folder: Path) -> None:
    """Each node's aggregators lend to their own node; messages of others are put there, too."""
    lent = lent_by_views(
        mpi, folder, ranks_per_node="2", striping_unit="65536", striping_factor="2"
    )
    ensure(lent > 0, "nothing was lent")


@on(m.OPEN_MPI, full=[m.MPICH])
def test_nothing_is_lent_where_that_is_switched_off_or_the_pool_is_small(
    mpi: m.Mpi, folder: Path
) -> None:
    off = folder / "off"
    off.mkdir()
    ensure(lent_by_views(mpi, off, pool_lends_windows="false") == 0, "it was lent")
    small = folder / "small"
    small.mkdir()
    ensure(lent_by_views(mpi, small, {**KEPT, "pool_cap": "64MiB"}) == 0, "so little was lent")
