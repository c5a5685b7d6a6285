"""Compares the tool on lustre-96-ost with the configuration study of 2020. The simulated machine is
probed; the portrait and the simulator itself are then asked for the study's five recommendations
and two scenarios. All of it is a model: no number here was measured.

The study varied one factor at a time, so these lines also vary one factor of its configuration."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from forebay.common.model.frozen import frozen
from forebay.common.model.units import MIB, exact_bytes
from forebay.simulate.files import NativeSimulator
from forebay_tuning.advise.model.advice import Lever, Question, advise
from forebay_tuning.model.evidence import Workload
from forebay_tuning.model.point import Direction, Point, changed, powers
from forebay_tuning.model.portrait import Portrait
from forebay_tuning.probe.files.journal import NoJournal
from forebay_tuning.probe.files.platform_file import read_platform
from forebay_tuning.probe.use_case.probe import Budget, ProbeRequest, carry_out_probe, plan_probe
from forebay_tuning.probe.use_case.simulated_system import Simulated, SimulatedSystem

KIB, GIB = 1024, 1024 * MIB
ROOT = Path(__file__).resolve().parents[1]
PLATFORM = "lustre-96-ost"
ENOUGH = 0.95
"""The share of the best rate on a line; the answer is the smallest value that reaches it."""
DISTURBANCES = ("drift=0.1", "noise=0.02")
STUDY = Point(
    processes=256,
    per_node=8,
    stripe_count=16,
    stripe_bytes=MIB,
    transfer_bytes=4 * MIB,
    process_bytes=GIB,
)
"""The study's own configuration, as far as it is known."""
_SIZES: Mapping[int, int] = {256 * MIB: 1, 16 * GIB: 4, 256 * GIB: 16}
"""The stripes that the study recommends, by file size."""
_FILE = 256 * GIB
_STRIPES = (1, 4, 16, 64)
_COUNTS = (*powers(1, 64), 96)
_REQUESTS_OF_A_SCENARIO = 1_000_000

ASSUMED: Mapping[str, float] = {
    "rpc_bytes": MIB,
    "rpcs_in_flight": 16,
    "dirty_bytes": 8 * MIB,
    "call_time": 8e-6,
    "servers": 8,
    "lock_time": 1e-3,
    "grant_time": 1e-4,
    "request_time": 9.5e-5,
    "target_rate": 25e9,
    "interference_per_stream": 0.0006,
    "streams_free": 16,
    "object_time": 2e-5,
}
"""The values in platforms/lustre-96-ost.toml."""


@frozen
class Line:
    """The rates along one coordinate."""

    rates: Mapping[int, float]

    @property
    def enough(self) -> int:
        """The smallest value that reaches the share ENOUGH of the best rate."""
        most = max(self.rates.values())
        return min(value for value, rate in self.rates.items() if rate >= ENOUGH * most)

    def kept(self, low: int, high: int) -> float:
        """The best rate between two values, as a share of the best on the line."""
        inside = [rate for value, rate in self.rates.items() if low <= value <= high]
        return max(inside) / max(self.rates.values())


def line(values: Iterable[int], rate: Callable[[int], float]) -> Line:
    """The rates of these values."""
    return Line(rates={value: rate(value) for value in values})


@frozen
class Said:
    """An answer in words; `within` says whether it agrees with the study, `kept` is the share of
    the best rate that is reached by following the study."""

    text: str
    within: bool
    kept: float


class Voice(Protocol):
    """A source of answers: the tool, or the simulator."""

    def rate(self, point: Point) -> float:
        """Bytes per second of writing, including opening and closing."""

    def stripes(self, size: int) -> int:
        """The number of stripes for a file of that size."""


@frozen
class Tool:
    """The portraits of the whole machine and of one node. Stripe counts are those that are advised,
    which is to keep one unless more are certainly better."""

    whole: Portrait
    node: Portrait

    def rate(self, point: Point) -> float:
        """The rate that the portrait for that number of nodes predicts."""
        return self._portrait(point).choices[Direction.WRITE].response.rate(point)

    def stripes(self, size: int) -> int:
        """The advised number if only the layout may be changed."""
        point = writers_of(size)
        workload = Workload(
            direction=Direction.WRITE,
            ranks=point.processes,
            nodes=point.nodes,
            file_bytes=size,
            transfer_bytes=point.transfer_bytes,
        )
        portrait = self._portrait(point)
        found = advise(
            Question(workload=workload, portrait=portrait, allowed=frozenset({Lever.LAYOUT}))
        )
        return found.settings.stripe_count or portrait.identity.stripe_count

    def _portrait(self, point: Point) -> Portrait:
        return self.node if point.nodes == 1 else self.whole


@frozen
class Machine:
    """The simulator itself."""

    system: SimulatedSystem

    def rate(self, point: Point) -> float:
        """The rate without disturbances."""
        there = self.system.passage(point, Direction.WRITE)
        return point.bytes / (point.bytes / there.rate + there.seconds_open + there.seconds_close)

    def stripes(self, size: int) -> int:
        """The smallest number that is enough."""
        return _on_stripes(self, size).enough


@frozen
class Recommendation:
    """A recommendation of the study for writing one shared file."""

    name: str
    study: str
    ask: Callable[[Voice], Said]


def _range(coordinate: str, levels: Sequence[int], low: int, high: int) -> Callable[[Voice], Said]:
    def ask(voice: Voice) -> Said:
        found = line(levels, lambda value: voice.rate(_with(coordinate, value)))
        return Said(
            text=exact_bytes(found.enough),
            within=low <= found.enough <= high,
            kept=found.kept(low, high),
        )

    return ask


def _with(coordinate: str, value: int) -> Point:
    made = changed(STUDY, {coordinate: value})
    return replace(made, transfer_bytes=min(made.transfer_bytes, made.process_bytes))


def _per_node(voice: Voice) -> Said:
    """The number of processes on a single node; all targets are used, so that they are no limit."""
    alone = replace(STUDY, stripe_count=96)
    found = line(
        powers(1, 32), lambda value: voice.rate(replace(alone, processes=value, per_node=value))
    )
    return Said(text=str(found.enough), within=found.enough == 8, kept=found.kept(8, 8))


def writers_of(size: int) -> Point:
    """The point with the fewest processes that the study's maximum of bytes per process allows, up
    to eight per node."""
    processes = max(1, size // GIB)
    return replace(
        STUDY, processes=processes, per_node=min(8, processes), process_bytes=size // processes
    )


def _stripes(voice: Voice) -> Said:
    found = {size: voice.stripes(size) for size in _SIZES}
    return Said(
        text=_by_size(found),
        within=found == _SIZES,
        kept=min(_on_stripes(voice, size).kept(one, one) for size, one in _SIZES.items()),
    )


def _on_stripes(voice: Voice, size: int) -> Line:
    point = writers_of(size)
    return line(_COUNTS, lambda count: voice.rate(changed(point, {"stripe_count": count})))


def _by_size(counts: Mapping[int, int]) -> str:
    return ", ".join(f"{exact_bytes(size)}: {count}" for size, count in counts.items())


def _processes(voice: Voice) -> Said:
    """The number of processes, by the number of stripes."""
    lines = {stripes: _of_processes(voice, stripes) for stripes in _STRIPES}
    return Said(
        text=_listed([one.enough for one in lines.values()]),
        within=all(one.enough <= _most(stripes) for stripes, one in lines.items()),
        kept=min(one.kept(1, _most(stripes)) for stripes, one in lines.items()),
    )


def _most(stripes: int) -> int:
    return min(16 * stripes, 1000)


def _of_processes(voice: Voice, stripes: int) -> Line:
    """Rates by the number of processes, eight per node as long as there are nodes."""
    return line(
        powers(1, 8192),
        lambda count: voice.rate(
            replace(
                STUDY,
                processes=count,
                per_node=max(min(8, count), count // 256),
                stripe_count=stripes,
                process_bytes=_FILE // count,
            )
        ),
    )


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


RECOMMENDATIONS = (
    Recommendation(
        name="1. transfer size",
        study="64 KiB to 8 MiB",
        ask=_range("transfer_bytes", powers(64 * KIB, 16 * MIB, factor=4), 64 * KIB, 8 * MIB),
    ),
    Recommendation(
        name="1. stripe size",
        study="1 MiB",
        ask=_range("stripe_bytes", powers(256 * KIB, 16 * MIB, factor=4), MIB, MIB),
    ),
    Recommendation(
        name="2. bytes of a process",
        study="8 MiB to 1 GiB",
        ask=_range("process_bytes", powers(MIB, GIB), 8 * MIB, GIB),
    ),
    Recommendation(name="3. I/O processes on a node", study="about 8", ask=_per_node),
    Recommendation(
        name="4. stripe count by the size of the file", study=_by_size(_SIZES), ask=_stripes
    ),
    Recommendation(
        name=f"5. I/O processes for {exact_bytes(_FILE)} on {_listed(_STRIPES)} stripes",
        study=f"at most {_listed([_most(one) for one in _STRIPES])}",
        ask=_processes,
    ),
)


@frozen
class Scenario:
    """A scenario of the study. `least` is the speed-up that has to be reached; `words` are for the
    simulator; `study` is the study's change."""

    name: str
    published: str
    least: float
    workload: Workload
    study: Mapping[str, int]
    words: tuple[str, ...] = ()


_START_UP = Scenario(
    name="start-up: 4096 processes read a file of 2 GiB, each for itself (O_DIRECT)",
    published="10 min → 5 s",
    least=50.0,
    workload=Workload(
        direction=Direction.READ,
        ranks=4096,
        nodes=128,
        file_bytes=2 * GIB,
        same_bytes=True,
        stripe_count=1,
    ),
    study={"stripe_count": 16, "processes": 128, "per_node": 1},
    words=("same=1", "direct=1"),
)
SCENARIOS = (
    _START_UP,
    replace(
        _START_UP,
        name="the same through the page cache of each node",
        words=("same=1",),
    ),
    Scenario(
        name="restart: 8192 processes write a file of 512 GiB",
        published="−15 %",
        least=1 / 0.85,
        workload=Workload(
            direction=Direction.WRITE,
            ranks=8192,
            nodes=256,
            file_bytes=512 * GIB,
            stripe_count=4,
            stripe_bytes=MIB,
            transfer_bytes=4 * MIB,
        ),
        study={"stripe_count": 16, "processes": 2048, "per_node": 8},
    ),
)


def simulated(
    *, seed: int, nodes: int | None = None, words: tuple[str, ...] = ()
) -> SimulatedSystem:
    """The simulated machine, or `nodes` nodes of it."""
    platform = read_platform(ROOT / "platforms" / f"{PLATFORM}.toml")
    if nodes is not None:
        platform, words = replace(platform, nodes=nodes), (*words, f"nodes={nodes}")
    what = Simulated(name=PLATFORM, platform=platform, words=words, seed=seed)
    return SimulatedSystem(what, NativeSimulator())


def portrait_of(system: SimulatedSystem, *, level: str, seed: int) -> Portrait:
    """A portrait with the number of probes as the only limit."""
    request = ProbeRequest(
        level=level, budget=Budget(seconds=1e6, bytes=1 << 50, files=10**9), seed=seed
    )
    return carry_out_probe(plan_probe(request, system), system, NoJournal(), told=lambda *_: None)


def study(arguments: argparse.Namespace) -> None:
    """Prints the two tables."""
    seed = arguments.seed
    whole, node = (
        portrait_of(
            simulated(seed=seed, nodes=nodes, words=DISTURBANCES), level=arguments.level, seed=seed
        )
        for nodes in (None, 1)
    )
    tool, machine = Tool(whole=whole, node=node), Machine(system=simulated(seed=seed))
    print("| recommendation | the study | the tool | by the study | simulated | by the study |")
    print("| --- | --- | --- | --- | --- | --- |")
    for one in RECOMMENDATIONS:
        answers = (
            f"{_answer(said)} | {said.kept:.0%}" for said in (one.ask(tool), one.ask(machine))
        )
        print(f"| {one.name} | {one.study} | {' | '.join(answers)} |", flush=True)
    print("\n| scenario | published | asked | now, s | the study's change, s | | advised, s | |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for scenario in SCENARIOS:
        print(_scenario(scenario, whole, machine), flush=True)


def _answer(said: Said) -> str:
    return f"{said.text}, {'yes' if said.within else '**no**'}"


def _scenario(one: Scenario, portrait: Portrait, machine: Machine) -> str:
    """A row: as it is, with the study's change, and with the advice of the portrait."""
    now = one.workload.as_point(stripe_count=1, stripe_bytes=MIB)
    found = advise(Question(workload=one.workload, portrait=portrait, allowed=frozenset(Lever)))
    names = ("stripe_count", "stripe_bytes", "processes", "per_node", "transfer_bytes")
    advised = {
        name: value for name in names if (value := getattr(found.settings, name)) is not None
    }
    before, by_study, after = (
        _seconds(one, machine, changed(now, changes)) for changes in ({}, one.study, advised)
    )
    items = ", ".join(f"{item.name} {item.now} → {item.advised}" for item in found.items)
    return (
        f"| {one.name} | {one.published} | {one.least:.3g} × | {before:.1f} | {by_study:.2f} | "
        f"{before / by_study:.3g} × | {after:.2f} | {before / after:.3g} × ({items}) |"
    )


def _seconds(one: Scenario, machine: Machine, point: Point) -> float:
    """The seconds of everything. If fewer processes write, they write the others' bytes, too."""
    if not one.workload.same_bytes:
        point = changed(point, {"process_bytes": one.workload.bytes // point.processes})
    there = machine.system.passage(
        point, one.workload.direction, *one.words, requests=_REQUESTS_OF_A_SCENARIO
    )
    return there.seconds_open + point.bytes / there.rate + there.seconds_close


def assumed(arguments: argparse.Namespace) -> None:
    """Prints the effect of assumed numbers: each is halved and doubled, and the simulator is asked
    again, except for the last question, which takes longest and never changes its answer."""
    asked = RECOMMENDATIONS[:-1]
    print(f"| changed | {' | '.join(one.name for one in asked)} |")
    print("| --- " * (1 + len(asked)) + "|")
    changes = {"nothing": ""}
    for name, value in ASSUMED.items():
        for word, factor in (("halved", 0.5), ("doubled", 2.0)):
            changes[f"`{name}` {word}"] = f"{name}={value * factor:.10g}"
    for name, word in changes.items():
        system = simulated(seed=arguments.seed, words=(word,) if word else ())
        texts = (one.ask(Machine(system=system)).text for one in asked)
        print(f"| {name} | {' | '.join(texts)} |", flush=True)
