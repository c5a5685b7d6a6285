"""`python -m evaluation.pool_at_scale TABLE`: how long programs of up to 8192 ranks wait for
output that goes through the pool, simulated (docs/performance/pool-at-scale.md). Nothing here is
measured.

grid       burst × interval × nodes, each rank with a file of its own, and the picture
window     one file for each node, larger than the window
programs   the programs of 2019 as bursts, beside their published gains
opened     messages between daemons, each burst in new files
input      one file that every rank reads
start      the start of a program on 4096 ranks: each for itself, each node, few nodes for all

Runs are independent processes; --jobs says how many at a time.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path

from evaluation.pool_at_scale_picture import Line, draw
from evaluation.simulated_tables import run_table_command
from evaluation.tables import TextTable, number
from forebay.common.model.frozen import frozen
from forebay.common.model.units import MIB
from forebay.simulate.files import NativeSimulator
from forebay.simulate.model.pool import PoolSimulation
from forebay.simulate.use_case import simulate_pool

GIB = 1024 * MIB
PLATFORM = "lustre-96-ost"
RANKS = 32
"""Ranks per node."""
STEPS = 3

Settings = Mapping[str, float | str]
Get = Callable[[], PoolSimulation]
Submit = Callable[[Settings], Get]

MACHINE: Settings = {
    "copy_rate": "5GB/s", "stripe_bytes": "4MiB", "servers": 24, "target_rate": "1.2GB/s",
    "client_rate": "1.25GB/s",
    "request_time": "0.3ms", "interference_per_stream": 0.0025,
}  # fmt: skip
"""Differences from the platform: the rate of copies in memory as measured in
docs/performance/pool-log.md, the stripes of large files, and storage servers without a write cache
(the model before decision 0031)."""

NODES = (16, 64, 256)
BURSTS = (16 * MIB, 64 * MIB)
INTERVALS = (1.0, 5.0, 20.0)
WINDOWS = (64 * MIB, 256 * MIB, 1024 * MIB, 4096 * MIB)
WINDOW_NODES = (16, 64)
FILE = 1024 * MIB
OPENED = (2, 16, 64, 256)
INPUT = 64 * MIB
READING = (4, 16, 64)
START_NODES = 128
START_STRIPES = (1, 16)
START_READERS: Mapping[str, int] = {
    "each node for itself": 0,
    "one node for all": 1,
    "two nodes for all": 2,
    "four nodes for all": 4,
}


@frozen
class Program:
    """A program of the paper of 2019 (overlapped storage for WRF, ROMS and GRAPES), with its
    published gain."""

    name: str
    gain: float


PROGRAMS = (
    Program(name="WRF", gain=0.11),
    Program(name="GRAPES", gain=1.40),
    Program(name="ROMS", gain=9.36),
)
OUTPUT = 4_500_000_000
"""Bytes per burst: ROMS writes three files of 1.5 GB. The same is assumed for the other programs,
whose output is not known."""
PROGRAM_NODES = 192
"""Enough for 6144 ranks, as WRF had; the numbers of the other programs are not known."""
PROGRAM_STEPS = 6
POOLS: Mapping[str, Settings] = {
    "window 256 MiB": {"pool_window": 256 * MIB},
    "window 2 GiB": {"pool_window": 2048 * MIB},
    "window 2 GiB, memory there": {"pool_window": 2048 * MIB, "touch_rate": 1e15},
}
"""Settings of the pool by name. With "memory there", all memory of the pool has been touched
before the first burst."""
COLLECTED: Mapping[str, Settings] = {
    "one rank, three files": {"writers": 1, "files": 3},
    "three ranks, a file each": {"writers": 3, "files": 1},
}


def grid(submit: Submit, picture: Path | None) -> list[TextTable]:
    """Each rank keeps a file open and appends to it."""
    waiting = {
        (nodes, burst, interval): submit(
            {"nodes": nodes, "burst_bytes": nodes * RANKS * burst, "interval": interval}
        )
        for nodes in NODES
        for burst in BURSTS
        for interval in INTERVALS
    }
    rows: list[tuple[str, ...]] = []
    lines: list[Line] = []
    for (nodes, burst, interval), get in waiting.items():
        one = get()
        rows.append((
            str(one.ranks), str(nodes), f"{burst // MIB} MiB", f"{interval:g} s",
            number(each(one, one.plain.exposed)), number(each(one, one.pooled.exposed)),
            percent(one.hidden), number(one.waited_for_room), gibibytes(one.high_bytes),
            number(one.drained_after),
        ))  # fmt: skip
        lines.append(
            Line(
                label=f"{one.ranks} ranks, {burst // MIB} MiB, every {interval:g} s",
                without=each(one, one.plain.exposed),
                pool=each(one, one.pooled.exposed),
            )
        )
    if picture is not None:
        picture.write_text(draw(lines), encoding="utf-8")
    header = (
        "ranks", "nodes", "burst of a rank", "interval", "a burst, without, s", "pool, s",
        "hidden", "waited for room, s", "memory of a node", "drained after the end, s",
    )  # fmt: skip
    return [TextTable(title="Each rank writes a file of its own", header=header, rows=tuple(rows))]


def window(submit: Submit) -> list[TextTable]:
    """One rank per node collects the node's output and appends it to one file."""
    waiting = {
        (nodes, interval, bytes_): submit(
            {
                "nodes": nodes, "writers": nodes, "burst_bytes": nodes * FILE,
                "interval": interval, "pool_window": bytes_,
            }
        )
        for nodes in WINDOW_NODES
        for interval in (1.0, 10.0)
        for bytes_ in WINDOWS
    }  # fmt: skip
    rows: list[tuple[str, ...]] = []
    for (nodes, interval, bytes_), get in waiting.items():
        one = get()
        rows.append((
            str(nodes), f"{interval:g} s", f"{bytes_ // MIB} MiB",
            number(each(one, one.plain.exposed)), number(each(one, one.pooled.exposed)),
            number(each(one, one.pooled.gathered)), percent(one.hidden),
            number(one.waited_for_room), f"{one.file_high_bytes // MIB} MiB",
        ))  # fmt: skip
    header = (
        "nodes", "interval", "window", "a burst, without, s", "pool, s", "of it collecting, s",
        "hidden", "waited for room, s", "most of the file in the pool",
    )  # fmt: skip
    return [TextTable(title="A file of each node, 1 GiB a burst", header=header, rows=tuple(rows))]


def programs(submit: Submit) -> list[TextTable]:
    """Programs with the computing interval at which hiding all waiting gives the published gain."""
    rows: list[tuple[str, ...]] = []
    for how, writers in COLLECTED.items():
        base = {"nodes": PROGRAM_NODES, "burst_bytes": OUTPUT, **writers}
        probe = submit({**base, "interval": 1, "steps": 1})()
        waiting = {
            (program, pool_): submit(
                {
                    **base,
                    **POOLS[pool_],
                    "interval": interval_for(probe.plain.exposed, program.gain),
                    "steps": PROGRAM_STEPS,
                }
            )
            for program in PROGRAMS
            for pool_ in POOLS
        }
        for (program, pool_), get in waiting.items():
            one = get()
            rows.append((
                program.name, how, f"{one.interval:.2f} s", pool_,
                number(each(one, one.plain.exposed)), number(each(one, one.pooled.exposed)),
                number(each(one, one.pooled.gathered)), f"+{100 * program.gain:.0f} %",
                f"{100 * gain(one):+.0f} %",
            ))  # fmt: skip
    header = (
        "program", "who writes", "interval, chosen", "pool", "a burst, without, s",
        "through it, s", "of it collecting, s", "published", "simulated",
    )  # fmt: skip
    return [
        TextTable(title="4.5 GB a burst, 6144 ranks on 192 nodes", header=header, rows=tuple(rows))
    ]


def opened(submit: Submit) -> list[TextTable]:
    """Each node writes one file per burst, always a new one."""
    waiting = {
        nodes: submit({
            "nodes": nodes, "writers": nodes, "burst_bytes": nodes * 16 * MIB, "new_files": 1,
            "interval": 2, "steps": 4,
        })
        for nodes in OPENED
    }  # fmt: skip
    rows = tuple(
        (
            str(nodes),
            str(get().opened),
            str(get().messages),
            f"{get().messages / get().opened:.2f}",
        )
        for nodes, get in waiting.items()
    )
    header = ("daemons", "files opened, each by one node", "messages", "a file and node")
    return [TextTable(title="Messages between daemons", header=header, rows=rows)]


def read_once(submit: Submit) -> list[TextTable]:
    """Each rank reads the whole file; with the pool, each node reads it once."""
    waiting = {
        nodes: submit(
            {"nodes": nodes, "input_bytes": INPUT, "steps": 1, "writers": nodes,
             "burst_bytes": nodes * MIB}
        )
        for nodes in READING
    }  # fmt: skip
    rows: list[tuple[str, ...]] = []
    for nodes, get in waiting.items():
        one = get()
        rows.append((
            str(one.ranks), str(nodes), gibibytes(one.plain.input_bytes),
            gibibytes(one.pooled.input_bytes), number(one.plain.reading),
            number(one.pooled.reading),
        ))  # fmt: skip
    header = (
        "ranks", "nodes", "from the file system, without", "pool", "slowest rank, without, s",
        "pool, s",
    )  # fmt: skip
    title = f"A file of {INPUT // MIB} MiB that every rank reads"
    return [TextTable(title=title, header=header, rows=tuple(rows))]


def start(submit: Submit) -> list[TextTable]:
    """The start-up of the configuration study. Without the pool, the readers make no difference."""
    waiting = {
        (stripes, how): submit(
            {"nodes": START_NODES, "input_bytes": INPUT, "steps": 1, "writers": START_NODES,
             "burst_bytes": START_NODES * MIB, "stripe_count": stripes, "pool_readers": readers}
        )
        for stripes in START_STRIPES
        for how, readers in START_READERS.items()
    }  # fmt: skip
    rows: list[tuple[str, ...]] = []
    for (stripes, how), get in waiting.items():
        one = get()
        if how == next(iter(START_READERS)):
            alone = ("each rank for itself", one.plain.input_bytes, 0, one.plain.reading)
            rows.append(_start_row(stripes, *alone))
        pooled = one.pooled
        rows.append(
            _start_row(stripes, how, pooled.input_bytes, pooled.passed_bytes, pooled.reading)
        )
    header = (
        "stripes", "who reads", "from the file system", "passed on", "slowest rank, s",
    )  # fmt: skip
    title = f"A file of {INPUT // MIB} MiB that {START_NODES * RANKS} ranks read"
    return [TextTable(title=title, header=header, rows=tuple(rows))]


def _start_row(stripes: int, how: str, read: int, passed: int, took: float) -> tuple[str, ...]:
    return str(stripes), how, f"{read / GIB:.2f} GiB", gibibytes(passed), number(took)


def interval_for(waited: float, gain_: float) -> float:
    """The seconds of computing with which hiding `waited` seconds makes a program faster by the
    share `gain_`."""
    return waited / gain_


def gain(one: PoolSimulation) -> float:
    """The program's speed-up by the pool: 0.11 means 11 %."""
    return one.plain.seconds / one.pooled.seconds - 1


def each(one: PoolSimulation, seconds: float) -> float:
    """The mean seconds per burst."""
    return seconds / one.steps


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def gibibytes(count: int) -> str:
    return f"{count / GIB:.1f} GiB"


TABLES: Mapping[str, Callable[[Submit], list[TextTable]]] = {
    "window": window,
    "programs": programs,
    "opened": opened,
    "input": read_once,
    "start": start,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints one table, or puts it into the page; returns the exit status."""
    simulator = NativeSimulator()

    def make(options: argparse.Namespace, executor: Executor) -> list[TextTable]:
        def submit(settings: Settings) -> Get:
            words = {**MACHINE, "ranks_per_node": RANKS, "steps": STEPS, **settings}
            said = [f"{key}={value}" for key, value in words.items()]
            return executor.submit(simulate_pool, PLATFORM, said, simulator).result

        if options.table == "grid":
            return grid(submit, options.docs.with_suffix(".svg") if options.docs else None)
        return TABLES[options.table](submit)

    module = "evaluation.pool_at_scale"
    return run_table_command(module, str(__doc__), ("grid", *TABLES), make, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
