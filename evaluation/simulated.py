"""`python -m evaluation.simulated TABLE`: the tables of docs/internals/simulation.md, simulated
anew.

limits     k found while running against every fixed k, on nine models (minutes)
published  EARTH's variants by name at 256, 384 and 768 aggregators, and Forebay (half an hour)
study      the trends of the 2020 configuration study on lustre-96-ost (minutes)
size       time, memory and messages from 768 to 8192 ranks (minutes)

Each is printed in Markdown. Runs are independent processes; --jobs says how many at a time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from forebay.common.model.errors import ForebayError, SimulationError
from forebay.common.model.frozen import frozen
from forebay.simulate.files import NativeSimulator

MIB = 1 << 20
UNLIMITED = 4096
FOUND = 0  # the setting requests_in_flight = 0 finds k while running
FIXED = (1, 2, 3, 4, 6, 8, 12, UNLIMITED)

Settings = Mapping[str, float]

_WHOLE = {"region_bytes": 64 << 10, "region_count": 4000}
_BASE: Settings = {
    "nodes": 8, "ranks_per_node": 4, "targets": 8, "servers": 4, **_WHOLE, "stripe_bytes": MIB,
    "request_bytes_max": MIB, "interference_per_stream": 0, "interference_per_queued": 0,
    "queued_free": 2, "streams_free": 2, "client_rate": 2.5e9,
}  # fmt: skip
MODELS: Mapping[str, Settings] = {
    "no interference": {},
    "weak interference": {"interference_per_queued": 0.02},
    "strong interference": {"interference_per_queued": 0.3, "queued_free": 1},
    "requests best one by one": {"interference_per_queued": 0.5, "queued_free": 1},
    "fast targets": {
        "request_time": 1e-4, "target_rate": 2e9, "interference_per_queued": 0.01, "queued_free": 8,
    },
    "2 targets": {"targets": 2, "servers": 1, "interference_per_queued": 0.1},
    "64 targets": {
        "targets": 64, "servers": 16, "interference_per_queued": 0.1, "region_count": 16000,
    },
    "one sick target": {"sick_target": 3, "sick_slower": 6, "interference_per_queued": 0.1},
    "32 aggregators on 4 targets": {
        "targets": 4, "aggregators_per_target": 8, "per_node": 4, "interference_per_stream": 0.15,
        "cb_buffer_size": MIB,
    },
}  # fmt: skip
VARIANTS = (
    "original", "placement", "earth(wr:1)", "earth(wr:2)", "earth(wr:4)", "earth(wr,ex:1)",
    "earth(wr,ex:2)", "earth(wr,ex:4)",
)  # fmt: skip
_HPIO: Settings = {"region_bytes": 5992, "region_count": 29771}
_TARGETS = 64
_COMPLAINT_MAX = 2000  # characters from the end of the simulator's messages
SIZES: Sequence[tuple[str, Settings]] = (
    ("tsubame-2.5-thin", {"nodes": 64, "ranks_per_node": 12, **_HPIO}),
    *(
        ("lustre-96-ost",
         {"nodes": n, "ranks_per_node": 32, "region_bytes": 4096, "region_count": 256})
        for n in (32, 64, 128, 256)
    ),
)  # fmt: skip


@frozen
class Run:
    """One simulation: the simulator's result, and what it cost this machine."""

    said: Mapping[str, Any]
    wall_seconds: float
    processor_seconds: float
    peak_bytes: int

    @property
    def seconds(self) -> float:
        return float(self.said["seconds"])

    @property
    def metadata(self) -> float:
        """Virtual seconds of opening and closing, each of the slowest rank."""
        return float(self.said["seconds_open"]) + float(self.said["seconds_close"])

    @property
    def rate(self) -> float:
        """Bytes per virtual second."""
        return float(self.said["bytes"]) / self.seconds


class Runner:
    """Runs forebay_sim."""

    def __init__(self) -> None:
        self._native = NativeSimulator()

    def __call__(self, platform: str, variant: str, settings: Settings) -> Run:
        words = [f"platform={self._native.platform(platform)}", f"variant={variant}"]
        words += [f"{key}={value}" for key, value in settings.items()]
        begin = time.monotonic()
        # With two pipes, the simulator would block once the one that is not read is full.
        with tempfile.TemporaryFile() as errors:
            with subprocess.Popen(
                [self._native.program(), *words], stdout=subprocess.PIPE, stderr=errors
            ) as process:
                assert process.stdout
                out = process.stdout.read()
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            errors.seek(0)
            complaint = errors.read().decode(errors="replace").strip()
        if process.returncode != 0 and not out:
            raise SimulationError(complaint[-_COMPLAINT_MAX:] or "no answer")
        return Run(
            said=_believed(json.loads(out), " ".join(words)),
            wall_seconds=time.monotonic() - begin,
            processor_seconds=usage.ru_utime + usage.ru_stime,
            peak_bytes=usage.ru_maxrss * 1024,
        )


def _believed(said: Mapping[str, Any], words: str) -> Mapping[str, Any]:
    """The result itself. Raises SimulationError if calls failed, since times mean nothing then."""
    wrong = said["error"] or (said["wrong_bytes"] and f"{said['wrong_bytes']} bytes are wrong")
    if wrong:
        raise SimulationError(
            f"the simulation failed ({wrong}). Run forebay_sim {words} to see it alone."
        )
    return said


Submit = Callable[[str, str, Settings], Callable[[], Run]]


def limits(submit: Submit) -> None:
    """The k that is found, compared with fixed k, on each model."""
    platform = "tsubame-2.5-thin"
    waiting = {
        model: {
            k: submit(platform, "forebay", {**_BASE, **change, "requests_in_flight": k})
            for k in (*FIXED, FOUND)
        }
        for model, change in MODELS.items()
    }
    row("model", "best k", "best, s", "found, s", "", "unlimited, s", "found against unlimited")
    row(*["---"] * 7)
    for model, runs in waiting.items():
        seconds = {k: get().seconds for k, get in runs.items()}
        best = min(FIXED, key=lambda k: seconds[k])
        found, least, unlimited = seconds[FOUND], seconds[best], seconds[UNLIMITED]
        row(
            model, best, f"{least:.3f}", f"{found:.3f}", percent(found / least - 1),
            f"{unlimited:.3f}", percent(found / unlimited - 1),
        )  # fmt: skip


def published(submit: Submit, aggregators: Sequence[int]) -> None:
    """The published variants at each number of aggregators, and Forebay with its defaults."""
    platform = "tsubame-2.5-thin"
    waiting = {
        (variant, count): submit(
            platform, variant, {**_HPIO, "aggregators_per_target": count // _TARGETS}
        )
        for variant in VARIANTS
        for count in aggregators
    }
    own = submit(platform, "forebay", _HPIO)
    row("variant", *(f"{n} aggregators: s | GB/s | of placement" for n in aggregators), "run, s",
        "processor, s")  # fmt: skip
    row(*["---"] * (3 + 3 * len(aggregators)))
    for variant in VARIANTS:
        runs = {count: waiting[variant, count]() for count in aggregators}
        cells = [
            f"{one.seconds:.2f} | {one.rate / 1e9:.2f} | "
            + percent(waiting["placement", count]().seconds / one.seconds - 1)
            for count, one in runs.items()
        ]
        row(variant, *cells, *cost(runs.values()))
    mine = own()
    share = float(mine.said["seconds_bound"]) / mine.seconds
    run, processor = cost([mine])
    print(f"\nForebay, default: {mine.seconds:.2f} s, {mine.rate / 1e9:.1f} GB/s, "
          f"{100 * share:.0f} % of the bound; "
          f"simulated in {run} s, {processor} s of the processor.")  # fmt: skip
    for count in aggregators:
        ratio = waiting["earth(wr,ex:2)", count]().seconds / mine.seconds
        print(f"Against earth(wr,ex:2) with {count} aggregators: {ratio:.1f} times as fast.")


def study(submit: Submit) -> None:
    """The rates of one node and of writers to 16 targets, and opening, for more and more ranks."""
    platform, plain = "lustre-96-ost", {"region_bytes": MIB, "requests_in_flight": UNLIMITED}
    node = {
        n: submit(platform, "forebay",
                  {**plain, "nodes": 1, "ranks_per_node": n, "region_count": 64})
        for n in (1, 2, 4, 8, 16, 32)
    }  # fmt: skip
    shapes = ((8, 8), (32, 8), (64, 8), (128, 8), (256, 8), (256, 16), (256, 32))
    writers = {
        n * r: submit(platform, "forebay", {**plain, "nodes": n, "ranks_per_node": r,
                                            "targets": 16, "servers": 8, "region_count": 16})
        for n, r in shapes
    }  # fmt: skip
    opening = {
        n * r: submit(platform, "forebay",
                      {**plain, "nodes": n, "ranks_per_node": r, "region_count": 1})
        for n, r in shapes
    }  # fmt: skip
    row("what", "ranks: value")
    row("---", "---")
    row("one node, GB/s", series(node, lambda one: f"{one.rate / 1e9:.1f}"))
    row("16 targets, GB/s", series(writers, lambda one: f"{one.rate / 1e9:.2f}"))
    row("open, write 1 MiB, close, ms", series(opening, lambda one: f"{one.seconds * 1e3:.0f}"))
    row("of it opening + closing, ms", series(opening, lambda one: f"{one.metadata * 1e3:.1f}"))


def size(submit: Submit) -> None:
    """The cost of a simulation by the number of ranks."""
    waiting = [(shape, submit(platform, "forebay", shape)) for platform, shape in SIZES]
    row("ranks", "nodes", "targets", "GB", "simulated, s", "run, s", "processor, s",
        "memory, MB", "messages", "a node")  # fmt: skip
    row(*["---"] * 10)
    for shape, get in waiting:
        one, nodes = get(), int(shape["nodes"])
        messages = int(one.said["messages"])
        row(
            one.said["ranks"], nodes, one.said["targets"], f"{one.said['bytes'] / 1e9:.1f}",
            f"{one.seconds:.2f}", *cost([one]), f"{one.peak_bytes / 1e6:.0f}",
            messages, messages // nodes,
        )  # fmt: skip


def cost(runs: Iterable[Run]) -> tuple[str, str]:
    """The maximum over the runs, in seconds of wall-clock time and of processor time."""
    each = list(runs)
    return (
        f"{max(one.wall_seconds for one in each):.0f}",
        f"{max(one.processor_seconds for one in each):.0f}",
    )


def row(*cells: object) -> None:
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def percent(share: float) -> str:
    return f"{100 * share:+.1f} %"


def series(runs: Mapping[int, Callable[[], Run]], text: Callable[[Run], str]) -> str:
    return ", ".join(f"{ranks}: {text(get())}" for ranks, get in runs.items())


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints one table and returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m evaluation.simulated",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("table", choices=("limits", "published", "study", "size"))
    parser.add_argument("--jobs", type=int, default=2, help="at a time (default: %(default)s)")
    parser.add_argument(
        "--aggregators", default="256,384,768", help="for `published` (default: %(default)s)"
    )
    options = parser.parse_args(arguments)
    runner = Runner()
    with ThreadPoolExecutor(max_workers=max(1, options.jobs)) as pool:

        def submit(platform: str, variant: str, settings: Settings) -> Callable[[], Run]:
            return pool.submit(runner, platform, variant, settings).result

        try:
            if options.table == "published":
                published(submit, [int(one) for one in options.aggregators.split(",")])
            else:
                {"limits": limits, "study": study, "size": size}[options.table](submit)
        except ForebayError as error:
            print(f"bench: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
