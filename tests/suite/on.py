"""On which MPIs a test runs, and what of it `make test` leaves to `make test-all` (see
docs/testing.md)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from suite import mpi as m

FULL = pytest.mark.full


def on(*mpis: m.Mpi, full: Sequence[m.Mpi] = ()) -> pytest.MarkDecorator:
    """On each of these MPIs; on those of `full` in `make test-all` only."""
    return pytest.mark.parametrize(
        "mpi",
        [
            *(pytest.param(mpi, id=mpi.name) for mpi in mpis),
            *(pytest.param(mpi, id=mpi.name, marks=FULL) for mpi in full),
        ],
    )


EACH = on(*m.DEBIAN)
ALL = on(*m.DEBIAN, full=m.WHEELS)
# For tests of a benchmark's checks and figures, which are the same on each MPI; its back ends run
# on both.
BENCHMARK = on(m.MPICH, full=[m.OPEN_MPI])
# A few numbers of ranks on one MPI or the other; all on both in `make test-all`.
RANKS = pytest.mark.parametrize(
    ("mpi", "ranks"),
    [
        pytest.param(
            *(mpi, ranks),
            id=f"{mpi.name}-{ranks}",
            marks=() if (mpi, ranks) in ((m.MPICH, 1), (m.OPEN_MPI, 3), (m.OPEN_MPI, 4)) else FULL,
        )
        for mpi in m.DEBIAN
        for ranks in (1, 2, 3, 4, 7)
    ],
)
