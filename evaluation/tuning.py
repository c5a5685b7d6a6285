"""`python -m evaluation.tuning TABLE`: what docs/tuning.md claims of probing and verifying, on
modelled systems, and what of real runs is called a difference where there is none.

regret   random systems with a known optimum, drift, noise and stragglers: how far the best that
         probing finds is from the optimum, beside one factor at a time, and what it would find if
         it were told the background load (--level, --systems)
claims   A/A comparisons under drift: how often verification says improved or worse (--runs)
study    the five recommendations and two scenarios of the 2020 study on lustre-96-ost: simulated,
         probed, advised, and asked of the simulator directly (minutes)
assumed  the same questions to the simulator with each assumed number halved and doubled
aa       A/A verifications of real runs: `aa --timings FILE -- PROGRAM …` takes them for --seconds
         and goes on where it ended
real     probe, advise and verify forebay-ior on real file systems (--on, --pairs, --ceph): the
         table goes to --docs, portraits, advice and verdicts into --keep (half an hour)
coverage how often intervals of predicted gains hold what is measured: of the portraits in --keep,
         probes that are left out of the fit in turn (a minute); with --fresh 10, on the file
         systems of --on, which are probed for it (three minutes each)
log      `forebay advise` from a Darshan log of --megabytes, with --portrait if given: seconds
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median

from evaluation.table_report import add_report_options
from evaluation.tuning_aa import aa
from evaluation.tuning_coverage import coverage
from evaluation.tuning_log import log
from evaluation.tuning_real import BUDGETS, real
from evaluation.tuning_study import assumed, study
from forebay.common.model.frozen import frozen
from forebay.common.model.units import MIB
from forebay.simulate.files import background_load
from forebay_tuning.model.modelled import Bend, Disturbances, Platform, RateFactors, expected
from forebay_tuning.model.point import COORDINATES, Direction, Point, Space, changed, usual_space
from forebay_tuning.model.sample import PROBES, NextProbe, Passage, Purpose, Sample
from forebay_tuning.probe.model.search import conclude, search
from forebay_tuning.probe.use_case.modelled_system import ModelledSystem
from forebay_tuning.verify.model import LOOKS, AdviceVerdict, interim_test, is_look

DISTURBANCES = Disturbances(drift=0.25, noise=0.05, stragglers=0.08)
SLOWED_LEAST = 1.2
"""A probe that is slower by this factor was slowed down; noise alone does not reach it."""


def random_platform(seed: int) -> Platform:
    """A random machine; different parts limit different ones."""
    generator = random.Random(seed)

    def between(low: float, high: float) -> float:
        return math.exp(generator.uniform(math.log(low), math.log(high)))

    targets = generator.choice([4, 8, 16, 32, 64, 96])
    machine = Platform(
        name=f"random {seed}",
        nodes=generator.choice([8, 16, 32, 64]),
        ranks_per_node=generator.choice([8, 16, 32]),
        link_rate=between(1e9, 12e9),
        client_rate=between(2e8, 2.5e9),
        call_time=between(5e-6, 1e-4),
        servers=max(1, targets // 4),
        server_link_rate=between(2e9, 12e9),
        targets=targets,
        target_rate=between(2e8, 3e9),
        request_time=between(5e-5, 2e-3),
        interference_per_stream=between(5e-4, 5e-2),
        streams_free=generator.choice([1, 2, 4, 8, 16, 32]),
        lock_time=between(1e-4, 3e-3),
        stripe_bytes=MIB,
        metadata_threads=generator.choice([4, 8, 16, 32]),
        open_time=between(3e-5, 3e-4),
        close_time=between(2e-5, 2e-4),
        crowding=between(1e-4, 3e-3),
    )
    return replace(machine, object_time=0.05 * machine.open_time)


def random_bend(seed: int) -> Bend | None:
    """A smooth deviation from the formulas for every other system, so that the fitted model is not
    the one that generated the data."""
    if seed % 2 == 0:
        return None
    generator = random.Random(seed + 1000)
    return Bend(linear={name: generator.gauss(0, 0.12) for name in COORDINATES})


@frozen
class World:
    """A system whose true rates are known."""

    platform: Platform
    bend: Bend | None
    space: Space
    control: Point
    prior: Point

    def rate(self, point: Point) -> float:
        """The rate without disturbances."""
        there = expected(self.platform, point, Direction.WRITE, bend=self.bend)
        return point.bytes / there.seconds_moving

    def optimum(self) -> float:
        """The best true rate of all allowed points."""
        return max(self.rate(one) for one in self.space.points())


def world_of(seed: int) -> World:
    """The system for a seed."""
    platform = random_platform(seed)
    space = usual_space(
        nodes=platform.nodes,
        ranks_per_node=platform.ranks_per_node,
        targets=platform.targets,
        bytes_max=1 << 40,
        process_bytes_max=256 * MIB,
    )
    usual = Point(
        processes=min(256, platform.nodes * platform.ranks_per_node),
        per_node=platform.ranks_per_node,
        stripe_count=1,
        stripe_bytes=MIB,
        transfer_bytes=MIB,
        process_bytes=64 * MIB,
    )
    prior = replace(
        usual,
        processes=min(platform.nodes * 8, 16 * platform.targets, 1000),
        per_node=8,
        stripe_count=min(16, platform.targets),
        transfer_bytes=4 * MIB,
    )
    return World(
        platform=platform,
        bend=random_bend(seed),
        space=space,
        control=space.nearest(usual),
        prior=prior,
    )


@frozen
class Regret:
    """The shares of the optimum's rate that each way misses."""

    probed: float
    undisturbed: float
    steady: float
    one_factor: float
    default: float


def regret_of(seed: int, level: str) -> Regret:
    """One system, probed in both ways with equally many probes."""
    world = world_of(seed)
    optimum = world.optimum()
    taken = _probe(world, PROBES[level], seed)
    ofat = _one_factor(world, PROBES[level], seed)
    undisturbed, steady = _told(taken, seed)
    return Regret(
        probed=1 - world.rate(_choice(world, taken)) / optimum,
        undisturbed=1 - world.rate(_choice(world, undisturbed)) / optimum,
        steady=1 - world.rate(_choice(world, steady)) / optimum,
        one_factor=1 - world.rate(ofat) / optimum,
        default=1 - world.rate(world.control) / optimum,
    )


def _system(world: World, seed: int) -> ModelledSystem:
    return ModelledSystem(
        world.platform,
        disturbances=DISTURBANCES,
        load=background_load(),
        seed=seed,
        bend=world.bend,
    )


def _probe(world: World, probes: int, seed: int) -> tuple[Sample, ...]:
    system = _system(world, seed)
    conversation = search(
        world.space,
        control=world.control,
        priors=(world.prior,),
        probes=probes,
        direction=Direction.WRITE,
        seed=seed,
    )
    ask = next(conversation)
    try:
        while True:
            ask = conversation.send(system.measure(ask, 0, seconds_max=math.inf)[0])
    except StopIteration as end:
        taken: tuple[Sample, ...] = end.value
    return taken


def _told(taken: Sequence[Sample], seed: int) -> tuple[list[Sample], list[Sample]]:
    """The samples with knowledge that no prober has: without those that were slowed down, and these
    also without drift."""
    factors = RateFactors(DISTURBANCES, background_load(), seed=seed)
    undisturbed, steady = [], []
    for sample in taken:
        slowed = math.log(factors.next()) - factors.level < -math.log(SLOWED_LEAST)
        write = None if slowed else sample.write
        undisturbed.append(replace(sample, write=write))
        still = write and replace(write, rate=write.rate / math.exp(factors.level))
        steady.append(replace(sample, write=still))
    return undisturbed, steady


def _choice(world: World, taken: Sequence[Sample]) -> Point:
    choice = conclude(taken, world.space, control=world.control, direction=Direction.WRITE)
    return world.control if choice is None else choice.best


def _one_factor(world: World, probes: int, seed: int) -> Point:
    """The study's way, one factor at a time: each level of a coordinate is probed three times, and
    the best of the three counts; round after round until the probes are used up."""
    system = _system(world, seed)
    here, left = world.control, probes
    while left > 0:
        before = here
        for name in COORDINATES:
            found: list[tuple[float, Point]] = []
            for value in world.space.levels[name]:
                point = changed(here, {name: value})
                if not world.space.allows(point) or left <= 0:
                    continue
                times = min(3, left)
                left -= times
                rates = [_rate(system, point) for _ in range(times)]
                found.append((max(rates), point))
            here = max(found, default=(0.0, here), key=lambda one: one[0])[1]
        if here == before:
            break
    return here


def _rate(system: ModelledSystem, point: Point) -> float:
    ask = NextProbe(point=point, purpose=Purpose.SCREEN)
    passage: Passage | None = system.measure(ask, 0, seconds_max=math.inf)[0].write
    return 0.0 if passage is None else passage.rate


def regret(arguments: argparse.Namespace) -> None:
    """Prints the table of regrets."""
    seeds = range(arguments.seed, arguments.seed + arguments.systems)
    # Matrices are small, so BLAS threads of one system would only slow down the others.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with ProcessPoolExecutor(arguments.jobs, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(partial(regret_of, level=arguments.level), seeds))
    limit = 0.10 if arguments.level == "quick" else 0.05
    print(
        f"{len(found)} systems, {PROBES[arguments.level]} probes each, drift "
        f"{DISTURBANCES.drift:.0%}, noise {DISTURBANCES.noise:.0%}, "
        f"stragglers {DISTURBANCES.stragglers:.0%}\n"
    )
    print(f"| way | regret: median | 90 % have at most | at most {limit:.0%} in |")
    print("| --- | --- | --- | --- |")
    for name, values in (
        ("forebay probe", [one.probed for one in found]),
        ("the same probes, told which were slowed down", [one.undisturbed for one in found]),
        ("the same probes, told that and the drift", [one.steady for one in found]),
        ("one factor at a time, best of three", [one.one_factor for one in found]),
        ("the default", [one.default for one in found]),
    ):
        ordered = sorted(values)
        high = ordered[max(0, math.ceil(0.9 * len(ordered)) - 1)]
        share = sum(one <= limit for one in values) / len(values)
        print(f"| {name} | {median(values):.3f} | {high:.3f} | {share:.0%} |")
    print("\nby system:", " ".join(f"{one.probed:.3f}" for one in found), file=sys.stderr)


def claims(arguments: argparse.Namespace) -> None:
    """Prints how often a comparison of equals finds a difference."""
    wrong, pairs = 0, []
    for run in range(arguments.runs):
        verdict, count = _same_twice(arguments.seed + run)
        wrong += verdict in (AdviceVerdict.IMPROVED, AdviceVerdict.WORSE)
        pairs.append(count)
    print(
        f"{arguments.runs} A/A comparisons, drift {DISTURBANCES.drift:.0%}, "
        f"noise {DISTURBANCES.noise:.0%}, "
        f"stragglers {DISTURBANCES.stragglers:.0%}: improved or worse in {wrong} "
        f"({wrong / arguments.runs:.1%}), after {median(pairs):.0f} pairs (median)"
    )


def _same_twice(seed: int) -> tuple[AdviceVerdict, int]:
    world = world_of(0)
    system = _system(world, seed)
    order = random.Random(seed)
    a: list[float] = []
    b: list[float] = []
    while len(a) < LOOKS[-1]:
        first, second = (1 / _rate(system, world.control) for _ in range(2))
        swapped = order.random() < 0.5
        a.append(second if swapped else first)
        b.append(first if swapped else second)
        if is_look(len(a), LOOKS[-1]):
            found = interim_test(a, b)
            if found.verdict is not AdviceVerdict.INCONCLUSIVE:
                return found.verdict, len(a)
    return AdviceVerdict.INCONCLUSIVE, len(a)


def main(words: Sequence[str] | None = None) -> int:
    """Prints one table."""
    parser = argparse.ArgumentParser(
        prog="python -m evaluation.tuning",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("table", choices=list(_TABLES))
    parser.add_argument("--level", choices=list(PROBES), default="standard")
    parser.add_argument("--systems", type=int, default=60)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="processes that work on systems")
    parser.add_argument("--megabytes", type=int, default=10, help="MB of the log (%(default)s)")
    parser.add_argument("--portrait", type=Path, help="for log")
    parser.add_argument("--timings", type=Path, default=Path("build/aa-timings"))
    parser.add_argument("--seconds", type=float, default=540.0, help="that aa may take runs")
    parser.add_argument(
        "--on", default=["tmpfs", "disk", "limited200"], type=lambda text: text.split(","),
        help=f"for real: {', '.join(BUDGETS)} (all but ceph)",
    )  # fmt: skip
    parser.add_argument("--pairs", type=int, default=20, help="for real, at most")
    parser.add_argument("--ceph", type=Path, help="for real: a folder on CephFS")
    parser.add_argument("--keep", type=Path, default=Path("build/portraits"), help="for real")
    parser.add_argument("--fresh", type=int, default=0, help="for coverage: points on each")
    parser.add_argument("--slow-fs", type=Path, help="for coverage on fuse: slow_fs, as built")
    add_report_options(parser, of="for real: ")
    given = list(sys.argv[1:] if words is None else words)
    at = given.index("--") if "--" in given else len(given)
    arguments = parser.parse_args(given[:at])
    arguments.command = given[at + 1 :]
    _TABLES[arguments.table](arguments)
    return 0


_TABLES: Mapping[str, Callable[[argparse.Namespace], None]] = {
    "regret": regret,
    "claims": claims,
    "study": study,
    "assumed": assumed,
    "aa": aa,
    "coverage": coverage,
    "log": log,
    "real": real,
}


if __name__ == "__main__":
    raise SystemExit(main())
