"""Measures the time that a program spends in output."""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import geometric_mean, median

from evaluation.pool.places import Place, chosen_places, drop_caches
from evaluation.pool.runs import Programs, blocks_of, ratio_of, run, run_in
from evaluation.tables import TextTable
from forebay.common.model.frozen import frozen

KIB, MIB = 1 << 10, 1 << 20
RANKS, STEPS, STEP_BYTES = 2, 10, 64 * MIB
RELAY_BYTES = 64 * MIB
"""The shared memory of the process that writes for a rank."""


def burst(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """The time in output that is not hidden, with and without computing in which to drain."""
    rows = []
    for name in chosen.on:
        with chosen_places(programs.slow_fs, chosen)[name]() as place:
            for compute in dict.fromkeys((chosen.compute, 0)):
                rows.append((name, *_burst(programs, chosen, place, compute)))
    return TextTable(
        title=f"2 ranks × {chosen.steps} steps × 64 MiB, {chosen.pairs} pairs",
        header=(
            "file system", "computing between steps", "output, plain, s", "output, pool, s",
            "plain by pool", "pool by memcpy", "pool by memcpy to another's memory",
            "until all is written, pool by plain", "pool by another process that writes",
        ),
        rows=tuple(rows),
    )  # fmt: skip


def _burst(
    programs: Programs, chosen: argparse.Namespace, place: Place, compute: int
) -> tuple[str, ...]:
    words = ["burst", str(RANKS), str(chosen.steps), str(STEP_BYTES), str(compute)]
    ways = [
        partial(run, programs, words, place.folder, None),
        partial(run, programs, words, place.folder, {}),
    ]
    if compute == 0:
        ways.append(partial(run, programs, [*words, str(RELAY_BYTES)], place.folder, None))
    runs = blocks_of(ways, chosen.pairs)
    plain = [block[0].told["output_s"] for block in runs]
    pooled = [block[1].told["output_s"] for block in runs]
    copies, passes = ([block[1].told[name] for block in runs] for name in ("memcpy_s", "pass_s"))
    whole = [[block[at].whole_s for block in runs] for at in range(len(ways))]
    return (
        f"{compute / 1000:g} s",
        f"{median(plain):.2f}",
        f"{median(pooled):.3f}",
        ratio_of(plain, pooled),
        ratio_of(pooled, copies),
        ratio_of(pooled, passes),
        ratio_of(whole[1], whole[0]),
        ratio_of(whole[1], whole[2]) if compute == 0 else "",
    )


REQUESTS = {"1": "1", "2": "2", "4": "4", "8": "8", "found": "0"}


def requests(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """Bursts without computing, with fixed numbers of requests in flight per target."""
    words = ["burst", str(RANKS), str(STEPS), str(STEP_BYTES), "0"]
    rows = []
    for name in chosen.on:
        with chosen_places(programs.slow_fs, chosen)[name]() as place:
            ways = [
                partial(run, programs, words, place.folder, {"pool_requests_in_flight": k})
                for k in REQUESTS.values()
            ]
            blocks = blocks_of(ways, chosen.pairs)
        seconds = [[block[at].whole_s for block in blocks] for at in range(len(ways))]
        two = seconds[list(REQUESTS).index("2")]
        told = [f"{median(some):.2f}, {ratio_of(some, two)}" for some in seconds]
        rows.append((name, *told))
    return TextTable(
        title=f"Seconds until {RANKS * STEPS * STEP_BYTES // MIB} MiB of {RANKS} files are "
        f"written, and by those with two requests; {chosen.pairs} blocks",
        header=("file system", *(f"requests at a target: {k}" for k in REQUESTS)),
        rows=tuple(rows),
    )


PROCESSES = (1, 4, 16)
SIZES = {"sequential": 128 * KIB, "random": 8 * KIB}
LOADS = tuple(f"{order} {direction}" for order in SIZES for direction in ("write", "read"))
WINDOWS = ("16 MiB", "1 GiB")
SMALL = {"pool_window": "16MiB"}
LARGE = {"pool_window": "1GiB", "pool_cap": "4GiB"}
# In the paper each file has its own queue, so that no file waits for another's turn.
PAPER = {"pool_consistency": "paper", "pool_files_at_once": str(max(PROCESSES))}
SETTINGS: Mapping[str, Mapping[str, str] | None] = {
    "plain": None,
    "pool, 16 MiB": SMALL,
    "paper, 16 MiB": {**SMALL, **PAPER},
    "pool, 1 GiB": LARGE,
    "paper, 1 GiB": {**LARGE, **PAPER},
}


Rates = dict[str, list[float]]
"""MB/s per pair, for each way."""


@frozen
class Case:
    """A row of the table without the number of processes."""

    name: str
    place: Place
    order: str
    size: int
    direction: str

    def bytes_of_each(self, processes: int, chosen: argparse.Namespace) -> int:
        """Bytes of each process: its share, or fewer if the transfers' latency would take long."""
        share: int = chosen.total * MIB // processes
        if self.place.request_seconds == 0:
            return share
        most = int(chosen.latency / self.place.request_seconds) * self.size
        return min(share, most // MIB * MIB)


def transfers(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """Rates with a small and a large window, in the pool's consistency and the paper's, and their
    gain over plain. In rows of means, gains are arithmetic means, as in the paper; the ratio of
    pool to paper is a geometric mean."""
    return TextTable(
        title=f"MB/s of all processes together (median of {chosen.pairs}; gain over plain)",
        header=(
            "file system",
            "transfers",
            "processes",
            "MiB of each",
            *SETTINGS,
            *(f"pool by paper, {window}" for window in WINDOWS),
        ),
        rows=_of_each_case(programs, chosen, chosen.loads, _transfer_rows),
    )


def acknowledged(programs: Programs, chosen: argparse.Namespace) -> TextTable:
    """Writes that fit into the window, in the pool's consistency and the paper's, and the same
    bytes copied into new memory by the processes, written into it by the kernel, and written into
    memory that another process has allocated. Means over processes are geometric."""
    loads = [one for one in chosen.loads if one.endswith("write")]
    return TextTable(
        title=f"MB/s of all processes together, median of {chosen.pairs}; the window is 1 GiB",
        header=(
            "file system", "transfers", "processes", "MiB of each", *ACKNOWLEDGED,
            "pool by paper", "pool by copied", "pool by written", "pool by given",
        ),
        rows=_of_each_case(programs, chosen, loads, _acknowledged_rows),
    )  # fmt: skip


def _of_each_case(
    programs: Programs,
    chosen: argparse.Namespace,
    loads: Sequence[str],
    rows_of: Callable[[Programs, argparse.Namespace, Case], Iterator[tuple[str, ...]]],
) -> tuple[tuple[str, ...], ...]:
    """The rows for every file system and load."""
    rows: list[tuple[str, ...]] = []
    for name in chosen.on:
        with chosen_places(programs.slow_fs, chosen)[name]() as place:
            for load in loads:
                order, direction = load.split()
                case = Case(
                    name=name, place=place, order=order, size=SIZES[order], direction=direction
                )
                rows += rows_of(programs, chosen, case)
    return tuple(rows)


ACKNOWLEDGED = (
    "pool",
    "paper",
    "copied into new memory",
    "written into it",
    "written into what another process got",
)


def _acknowledged_rows(
    programs: Programs, chosen: argparse.Namespace, case: Case
) -> Iterator[tuple[str, ...]]:
    what = f"{case.order} {case.size // KIB} KiB {case.direction}"
    of_all: list[Rates] = []
    for processes in PROCESSES:
        each = case.bytes_of_each(processes, chosen)
        rates = _acknowledged_rates(programs, chosen, case, [str(processes), str(each)])
        of_all.append(rates)
        cells = (f"{median(one):.0f}" for one in rates.values())
        yield case.name, what, str(processes), str(each // MIB), *cells, *_by_others(rates)
    means = _means(of_all)
    cells = (f"{median(one):.0f}" for one in means.values())
    yield case.name, what, "mean", "", *cells, *_by_others(means)


def _acknowledged_rates(
    programs: Programs, chosen: argparse.Namespace, case: Case, words: list[str]
) -> Rates:
    load = [*words, str(case.size)]
    write = ["transfers", *load, case.order, case.direction]
    with tempfile.TemporaryDirectory(dir=case.place.folder) as name:
        folder = Path(name).resolve()
        ways = (
            partial(run, programs, write, folder, LARGE),
            partial(run, programs, write, folder, {**LARGE, **PAPER}),
            *(
                partial(run_in, programs, [one, *load], folder, None)
                for one in ("copies", "fills", "given")
            ),
        )
        blocks = blocks_of(ways, chosen.pairs)
    return {
        way: [block[at].told["bytes_per_s"] / 1e6 for block in blocks]
        for at, way in enumerate(ACKNOWLEDGED)
    }


def _by_others(rates: Rates) -> Iterator[str]:
    pool, *others = rates.values()
    return (ratio_of(pool, other) for other in others)


def _means(of_all: Sequence[Rates]) -> Rates:
    """Geometric means over the numbers of processes: of the first pairs, of the second ones, and so
    on, for each way."""
    return {
        way: [geometric_mean(some) for some in zip(*(one[way] for one in of_all), strict=True)]
        for way in of_all[0]
    }


def _transfer_rows(
    programs: Programs, chosen: argparse.Namespace, case: Case
) -> Iterator[tuple[str, ...]]:
    gains: Rates = {way: [] for way in SETTINGS}
    of_all: list[Rates] = []
    what = f"{case.order} {case.size // KIB} KiB {case.direction}"
    for processes in PROCESSES:
        each = case.bytes_of_each(processes, chosen)
        words = ["transfers", str(processes), str(each)]
        rates = _rates(programs, chosen, case, words)
        cells = []
        for way, found in rates.items():
            gain = median(found) / median(rates["plain"])
            gains[way].append(gain)
            cells.append(f"{median(found):.0f}" + ("" if way == "plain" else f" ({gain - 1:+.0%})"))
        of_all.append(rates)
        yield case.name, what, str(processes), str(each // MIB), *cells, *_by_paper(rates)
    means = [f"{sum(gains[way]) / len(gains[way]) - 1:+.0%}" for way in SETTINGS]
    yield case.name, what, "mean", "", "", *means[1:], *_by_paper(_means(of_all))


def _by_paper(rates: Rates) -> Iterator[str]:
    return (ratio_of(rates[f"pool, {one}"], rates[f"paper, {one}"]) for one in WINDOWS)


def _rates(programs: Programs, chosen: argparse.Namespace, case: Case, words: list[str]) -> Rates:
    """Runs all ways in random order. A file to read is written once, plain, and not cached."""
    rates: Rates = {way: [] for way in SETTINGS}
    load = [*words, str(case.size), case.order, case.direction]
    with tempfile.TemporaryDirectory(dir=case.place.folder) as name:
        folder = Path(name).resolve()
        if case.direction == "read":
            run_in(programs, [*words, str(MIB), "sequential", "write"], folder, None)
        for _ in range(chosen.pairs):
            for way, settings in random.sample(list(SETTINGS.items()), len(SETTINGS)):
                if case.direction == "read":
                    drop_caches()
                    told = run_in(programs, load, folder, settings).told
                else:
                    told = run(programs, load, folder, settings).told
                rates[way].append(told["bytes_per_s"] / 1e6)
    return rates
