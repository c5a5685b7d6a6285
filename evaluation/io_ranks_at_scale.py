"""`python -m evaluation.io_ranks_at_scale TABLE`: how long a program of up to 8192 ranks waits
for its output with dedicated I/O ranks, as published in 2019 and as simulated, and what Forebay's
ways cost on the same machine (docs/performance/io-ranks-at-scale.md). Nothing here is measured.

exposed    6144 ranks: by rank 0, by 1 to 10 I/O ranks, by the pool, by the output API
ratio      the best number of I/O ranks of a job with a given number of cores
programs   the programs of 2019 as bursts, beside their published gains

Runs are independent processes; --jobs says how many at a time.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor

from evaluation.model import BenchError
from evaluation.simulated_tables import run_table_command
from evaluation.tables import TextTable, number
from forebay.common.model.frozen import frozen
from forebay.simulate.files import NativeSimulator
from forebay.simulate.model.io_ranks import OutputSimulation
from forebay.simulate.use_case import SimulateRequest, simulate_output

PLATFORM = "tianhe-2"
RANKS = 6144

Settings = Mapping[str, float]
Get = Callable[[], OutputSimulation]
Submit = Callable[[str, Settings], Get]


@frozen
class Published:
    """Seconds that the paper of 2019 gives for so many I/O ranks in so many groups (its table 1).
    Of ten ranks it is known here that spreading them brought 2.39 s down to 1.0, not by how many
    groups."""

    io_ranks: int
    spread: int
    seconds: float | None = None


EXPOSED = (
    Published(io_ranks=1, spread=1),
    Published(io_ranks=2, spread=1, seconds=9.03),
    Published(io_ranks=2, spread=2, seconds=8.66),
    Published(io_ranks=10, spread=1, seconds=2.39),
    Published(io_ranks=10, spread=2),
    Published(io_ranks=10, spread=10, seconds=1.0),
)
OURS = ("pool", "output")
SHORT: Settings = {"interval": 2, "steps": 2}
"""For these: less time to drain a burst, and to simulate."""
SIZES = (768, 3072, 6144, 8192)
COUNTS = (1, 2, 3, 4, 6, 8, 10, 12, 16, 24, 32)
INTERVALS = (30.0, 100.0, 300.0)
"""Seconds of computing between two bursts, of 6144 ranks; more ranks compute faster by as much."""
GAINS = {"WRF": 0.11, "GRAPES": 1.40, "ROMS": 9.36}
"""Published, by program (the paper's best of each)."""


def exposed(submit: Submit) -> list[TextTable]:
    """One burst of 6144 ranks in each way, with time to write it."""
    base = {"ranks": RANKS}
    gather = submit("gather", base)
    dedicated = [
        (row, submit("io-ranks", {**base, "io_ranks": row.io_ranks, "spread": row.spread}))
        for row in EXPOSED
    ]
    ours = [submit(name, {**base, **SHORT}) for name in OURS]
    rows = [_exposed_row(gather(), "")]
    rows += [
        _exposed_row(get(), "" if row.seconds is None else number(row.seconds))
        for row, get in dedicated
    ]
    rows += [_exposed_row(get(), "") for get in ours]
    header = (
        "variant", "I/O ranks", "groups", "published, s", "simulated, s", "opening, closing, s",
        "after the end, s",
    )  # fmt: skip
    title = f"Exposed for each burst of 4.5 GB in three files, {RANKS} ranks that compute"
    return [TextTable(title=title, header=header, rows=tuple(rows))]


def _exposed_row(one: OutputSimulation, published: str) -> tuple[str, ...]:
    counts = (str(one.io_ranks), str(one.spread)) if one.io_ranks else ("", "")
    seconds = (one.exposed_each, one.metadata, one.written_after)
    return (one.variant, *counts, published, *map(number, seconds))


def ratio(submit: Submit) -> list[TextTable]:
    """The number of cores is fixed: I/O ranks are those that do not compute."""
    waiting = {
        (cores, count): submit(
            "io-ranks",
            {"ranks": cores - count, "io_ranks": count, "spread": count, "steps": 2},
        )
        for cores in SIZES
        for count in COUNTS
    }
    found = {key: get() for key, get in waiting.items()}
    rows: list[tuple[str, ...]] = []
    for cores in SIZES:
        cells = []
        for interval in INTERVALS:
            best = best_count({n: found[cores, n] for n in COUNTS}, cores, interval)
            cells.append(f"{best}, {cores // best}:1")
        rows.append((str(cores), *cells))
    header = ("cores", *(f"{seconds:g} s on {RANKS}: best" for seconds in INTERVALS))
    title = "The number of I/O ranks with which the program is fastest, and ranks for each of them"
    return [TextTable(title=title, header=header, rows=tuple(rows))]


def best_count(found: Mapping[int, OutputSimulation], cores: int, interval: float) -> int:
    """The number of I/O ranks with which a burst and the computing before it take least. `interval`
    is the computing of RANKS ranks; the work is the same for any number of them. Raises BenchError
    if there would be no time to write a burst, since the simulations had it."""

    def seconds(count: int) -> float:
        computing = interval * RANKS / (cores - count)
        if found[count].written > computing:
            raise BenchError(f"{count} I/O ranks of {cores} write longer than {computing:.3g} s.")
        return computing + found[count].exposed_each

    return min(found, key=seconds)


def programs(submit: Submit) -> list[TextTable]:
    """Programs with the computing interval at which hiding all waiting gives the published gain."""
    base = {"ranks": RANKS}
    waiting = {
        "10 I/O ranks": submit("io-ranks", {**base, "io_ranks": 10, "spread": 10}),
        "output API": submit("output", {**base, **SHORT}),
    }
    plain = submit("gather", base)()
    rows: list[tuple[str, ...]] = []
    for name, published in GAINS.items():
        interval = plain.exposed_each / published
        for way, get in waiting.items():
            rows.append((
                name, f"{interval:.2f} s", way, number(plain.exposed_each),
                number(get().exposed_each), f"+{100 * published:.0f} %",
                f"{100 * gain(plain, get(), interval):+.0f} %",
            ))  # fmt: skip
    header = (
        "program", "interval, chosen", "by", "a burst by rank 0, s", "so, s", "published",
        "simulated",
    )  # fmt: skip
    title = f"4.5 GB a burst in three files, {RANKS} ranks that compute"
    return [TextTable(title=title, header=header, rows=tuple(rows))]


def gain(plain: OutputSimulation, one: OutputSimulation, interval: float) -> float:
    """By which share a program is faster than where rank 0 writes: 0.11 means 11 %. Raises
    BenchError if there would be no time to write a burst, since the simulation had it."""
    if max(one.written, one.written_after) > interval:
        raise BenchError(f"{one.variant} writes a burst longer than {interval:.3g} s.")
    return (interval + plain.exposed_each) / (interval + one.exposed_each) - 1


TABLES: Mapping[str, Callable[[Submit], list[TextTable]]] = {
    "exposed": exposed,
    "ratio": ratio,
    "programs": programs,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints one table, or puts it into the page; returns the exit status."""
    simulator = NativeSimulator()

    def make(options: argparse.Namespace, executor: Executor) -> list[TextTable]:
        def submit(variant: str, settings: Settings) -> Get:
            said = [f"{key}={value}" for key, value in settings.items()]
            asked = SimulateRequest(platform=PLATFORM, variants=(variant,), settings=said)
            return executor.submit(lambda: next(simulate_output(asked, simulator))).result

        return TABLES[options.table](submit)

    module = "evaluation.io_ranks_at_scale"
    return run_table_command(module, str(__doc__), tuple(TABLES), make, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
