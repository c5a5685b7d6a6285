"""Programs of tests/mpi that run plain and through Forebay and must leave and tell the same."""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from suite import mpi as m
from suite.compare import RECORD, compare
from suite.pool import Pool, pool
from suite.record import Record
from suite.verdict import Failed, ensure

VARIANTS: Mapping[str, dict[str, str]] = {
    "": {},
    "nodes": {"ranks_per_node": "2"},
    "posix": {"storage": "posix", "requests_in_flight": "1"},
    # The MPI is told no view of more than one piece.
    "held": {"view_pieces_max": "1"},
    # A striped file on several nodes, never bypassed, through the smallest buffers.
    "striped": {
        "ranks_per_node": "2",
        "striping_unit": "65536",
        "striping_factor": "3",
        "cb_buffer_size": "65536",
        "collective_write": "enable",
        "collective_read": "enable",
    },
    # Two aggregators take turns at each of two targets, whose k is sought.
    "turns": {
        "ranks_per_node": "1",
        "striping_unit": "65536",
        "striping_factor": "2",
        "aggregators_per_target": "2",
        "requests_in_flight": "0",
        "limits_cache": "",
        "exchange": "stepwise",
        "cb_buffer_size": "65536",
        "collective_write": "enable",
        "collective_read": "enable",
    },
    # Through the pool of the node, whose window is small enough to be full at times.
    "pool": {"pool_window": "2MiB", "pool_cap": "8MiB", "pool_quiet": "5"},
}


# Two ranks a node; through the pools of the nodes, each of which has some of a file's stripes.
ON_NODES: Mapping[str, str] = {
    "ranks_per_node": "2",
    "striping_unit": "4096",
    "striping_factor": "3",
    "cb_buffer_size": "65536",
    "pool_quiet": "60000",
}


@dataclass(frozen=True, kw_only=True)
class Program:
    name: str
    source: str
    seconds_max: int = 450
    arguments: Sequence[str] = ()

    def run(
        self,
        mpi: m.Mpi,
        ranks: int,
        folder: Path,
        environment: Mapping[str, str],
        *,
        front: Sequence[object] = (),
    ) -> m.Ended:
        """`front` comes before the program on its command line."""
        program = m.build(mpi, self.source)
        folder.mkdir(parents=True, exist_ok=True)
        return m.run(
            mpi,
            ranks,
            [*front, program, folder, *self.arguments],
            environment=environment,
            seconds_max=self.seconds_max,
        ).ensure_success()


@dataclass(frozen=True, kw_only=True)
class OnNodes:
    """Daemons that stand for nodes, each with as many ranks of a program."""

    pools: Sequence[Pool]
    script: Path

    @classmethod
    def made(cls, pools: Sequence[Pool], *, ranks_per_node: int) -> OnNodes:
        """The daemon of a rank is told by its number, as a launcher tells it."""
        script = pools[0].rescue / "on-its-node"
        cases = "\n".join(f"{node}) socket={one.socket} ;;" for node, one in enumerate(pools))
        script.write_text(
            "#!/bin/sh\n"
            "rank=${PMI_RANK:-${PMIX_RANK:-$OMPI_COMM_WORLD_RANK}}\n"
            f"case $((rank / {ranks_per_node})) in\n{cases}\nesac\n"
            "export LD_PRELOAD=$ON_NODE_PRELOAD FOREBAY_POOL_PATHS=$ON_NODE_PATHS\n"
            'FOREBAY_POOL_SOCKET=$socket exec "$@"\n'
        )
        script.chmod(0o700)
        return cls(pools=pools, script=script)

    def run(
        self,
        program: Program,
        mpi: m.Mpi,
        ranks: int,
        folder: Path,
        environment: Mapping[str, str],
    ) -> m.Ended:
        """`environment`: as without a pool. A launcher that went through the pool of one node
        would take the ranks of the others for programs that are not captured."""
        through = self.pools[0].with_mpi(environment)
        told = {
            "ON_NODE_PRELOAD": through.pop("LD_PRELOAD"),
            "ON_NODE_PATHS": through.pop("FOREBAY_POOL_PATHS"),
        }
        del through["FOREBAY_POOL_SOCKET"]
        return program.run(mpi, ranks, folder, {**through, **told}, front=[self.script])


def plain(program: Program, mpi: m.Mpi, ranks: int) -> Path:
    """The results with the MPI alone; one run serves all variants, and all workers of this
    pytest."""
    folder = m.BUILD / "plain" / f"{program.name}-{mpi.name}-{ranks}"
    done = folder.with_suffix(".done")
    with m.alone(folder):
        if not done.exists() or done.read_text() != m.TEST_RUN:
            done.unlink(missing_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
            try:
                program.run(mpi, ranks, folder, {})
            except Failed:  # Open MPI 4.1.4 crashes now and then when it ends, all by itself
                shutil.rmtree(folder, ignore_errors=True)
                program.run(mpi, ranks, folder, {})
            done.write_text(m.TEST_RUN)
    return folder


def same_as_plain(program: Program, mpi: m.Mpi, ranks: int, variant: str, folder: Path) -> None:
    reference = plain(program, mpi, ranks)
    settings = VARIANTS[variant]
    if variant == "pool":
        with pool(folder, settings) as one:
            program.run(mpi, ranks, folder, one.with_mpi(m.forebay(folder / RECORD)))
            ensure(one.taken() > 0, "nothing was deposited")
            past = {file.path: file.reason for file in one.status().files if file.reason}
            # Other programs have calls that send a file past it.
            ensure(program is not VIEWS or not past, f"files went past the pool: {past}")
    else:
        program.run(mpi, ranks, folder, m.forebay(folder / RECORD, **settings))
    compare(reference, folder, ranks=ranks)
    per_node = int(settings.get("ranks_per_node", "0"))
    if per_node:
        nodes = max(file.nodes for file in Record.read(folder / RECORD).files)
        ensure(nodes == math.ceil(ranks / per_node), f"{nodes} nodes were pretended")


VIEWS = Program(name="views", source="views.c")
CALLS = Program(name="calls", source="calls.c")
DEAR = Program(name="dear_views", source="dear_views.c")
SHARED = Program(name="views_then_shared", source="calls.c", arguments=("views_then_shared",))
ERRORS = Program(name="errors", source="errors.c")
FORTRAN = tuple(
    Program(name=f"fortran_{binding}", source=f"fortran_{binding}.f90")
    for binding in ("mpif", "use", "f08")
)
