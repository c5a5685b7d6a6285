"""A simulated machine behind the prober's face: which words a probe becomes, how much of it is
simulated, and, where the simulator is built, whole portraits."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from forebay.common.model.errors import ProbeError, UsageError
from forebay.common.model.units import MIB
from forebay.simulate.files import NativeSimulator, simulator_keys
from forebay.simulate.model.keys import SimulatorKeys
from forebay_tuning.model.metadata import ROUNDS, FilesAsk
from forebay_tuning.model.point import Direction, Point
from forebay_tuning.model.portrait import Portrait
from forebay_tuning.model.sample import NextProbe, Purpose
from forebay_tuning.model.simulated import REQUESTS_MOST, as_simulated, changed_by
from forebay_tuning.probe.files.journal import NoJournal
from forebay_tuning.probe.files.platform_file import read_platform
from forebay_tuning.probe.files.portrait_file import portrait_text, read_portrait
from forebay_tuning.probe.use_case.probe import Budget, ProbeRequest, carry_out_probe, plan_probe
from forebay_tuning.probe.use_case.simulated_system import Simulated, SimulatedSystem

ROOT = Path(__file__).resolve().parents[2]
Command = Callable[..., subprocess.CompletedProcess[str]]
WORDS = ("nodes=2", "ranks_per_node=4", "targets=4", "servers=2")
PLATFORM = changed_by(
    read_platform(ROOT / "platforms" / "lustre-96-ost.toml"), WORDS, simulator_keys()
)
POINT = Point(
    processes=8,
    per_node=4,
    stripe_count=2,
    stripe_bytes=MIB,
    transfer_bytes=4 * MIB,
    process_bytes=64 * MIB,
)
ASK = NextProbe(point=POINT, purpose=Purpose.SCREEN)


class Imagined:
    """A simulator that remembers what it was asked, and whose machine moves 1 GB/s."""

    def __init__(self, error: str = "") -> None:
        self.asked: list[dict[str, str]] = []
        self.error = error

    def platform(self, name: str) -> str:
        return name

    def keys(self) -> SimulatorKeys:
        return simulator_keys()

    def run(self, words: Sequence[str]) -> str:
        said = dict(word.split("=") for word in words[1:])
        self.asked.append(said)
        count = int(said["processes"]) * int(said["process_bytes"])
        busy = [1.0, 1.0, 1.0, 8.0]
        return json.dumps(
            {
                **{"schema": "forebay.simulation.independent/1", "platform": "x", "seed": 1},
                **{"processes": int(said["processes"]), "per_node": 1, "nodes": 2, "targets": 4},
                **{"files": 1, "stripe_count": 1, "direction": "write", "moment": 0},
                **{"bytes": count, "seconds_open": 0.5, "seconds_close": 0.25},
                **{"seconds_moving": count / 1e9, "steady_rate": 0.0, "requests": 1},
                **{"request_bytes": count, "locks_asked": 0, "locks_lost": 0},
                **{"target_bytes": [count // 4] * 4, "target_busy": busy, "error": self.error},
            }
        )


def system(simulator: Imagined | NativeSimulator, *words: str) -> SimulatedSystem:
    what = Simulated(
        name="lustre-96-ost",
        platform=PLATFORM,
        words=("drift=0.1", "noise=0.02", *WORDS, *words),
        seed=7,
        date="2026-11-22",
    )
    return SimulatedSystem(what, simulator)


def test_a_probe_is_a_write_and_a_read_at_one_moment() -> None:
    simulator = Imagined()
    sample, seconds = system(simulator).measure(ASK, 5, seconds_max=100.0)
    write, read = simulator.asked
    assert (write["read"], read["read"]) == ("0", "1")
    for said in (write, read):
        assert said["moment"] == "5"
        assert said["seed"] == "7"
        assert said["stripe_count"] == "2"
        assert said["transfer_bytes"] == str(4 * MIB)
        assert said["nodes"] == "2"
    assert sample.write is not None
    assert sample.write.rate == pytest.approx(1e9)
    assert sample.write.seconds_open == 0.5
    assert seconds == pytest.approx(1 + 2 * (0.75 + POINT.bytes / 1e9))


def test_a_probe_that_takes_too_long_or_fails_does_not_count() -> None:
    assert "longer than" in system(Imagined()).measure(ASK, 0, seconds_max=1.0)[0].discarded
    failed, _ = system(Imagined("errno 5")).measure(ASK, 0, seconds_max=100.0)
    assert "errno 5" in failed.discarded


def test_targets_are_rated_by_what_they_did() -> None:
    simulator = Imagined()
    rates = system(simulator).target_rates(bytes_max=1 << 40, seconds_max=1.0)
    assert [one["moment"] for one in simulator.asked] == ["1", "2", "3"]
    assert all(one["shared"] == "0" and one["processes"] == "4" for one in simulator.asked)
    assert [len(rates[target]) for target in range(4)] == [3] * 4
    assert rates[0][0] == pytest.approx(8 * rates[3][0])


def test_files_are_priced_by_one_small_file_of_each_process() -> None:
    simulator = Imagined()
    ask = FilesAsk(levels=(1, 8), files_each=5, seconds=1.0)
    found = system(simulator).file_rates(ask)
    for rates in (found.creates, found.opens):
        assert [one.value for one in rates] == pytest.approx([1 / 0.75, 8 / 0.75])
    asked = [(one["processes"], one["read"], one["shared"]) for one in simulator.asked]
    assert asked == [
        (processes, read, "0") for read in "01" for processes in "18" for _ in range(ROUNDS)
    ]
    assert len({one["moment"] for one in simulator.asked}) == len(asked)
    with pytest.raises(ProbeError, match="errno 5"):
        system(Imagined("errno 5")).file_rates(ask)


@pytest.mark.parametrize(
    ("point", "most"),
    [
        (POINT, POINT.process_bytes),
        (replace(POINT, processes=4096, process_bytes=1 << 30), 24 * MIB),
        (replace(POINT, processes=4096, stripe_bytes=MIB // 4, process_bytes=1 << 30), 4 * MIB),
        (replace(POINT, processes=65536, transfer_bytes=16 * MIB, process_bytes=1 << 30), 16 * MIB),
        (replace(POINT, processes=65536, transfer_bytes=MIB, process_bytes=MIB), MIB),
    ],
)
def test_no_more_is_simulated_than_tells_something(point: Point, most: int) -> None:
    less = as_simulated(point)
    assert less.process_bytes == most
    assert replace(less, process_bytes=point.process_bytes) == point
    assert less.process_bytes % point.transfer_bytes == 0
    requests = less.bytes // min(point.stripe_bytes, MIB)
    assert requests <= REQUESTS_MOST or less.process_bytes <= max(4 * MIB, point.transfer_bytes)


def test_words_change_the_machine_that_is_probed() -> None:
    assert (PLATFORM.nodes, PLATFORM.ranks_per_node, PLATFORM.targets) == (2, 4, 4)
    for word in ("processes=4", "stripe_bytes=1MiB", "/scratch", "speed=3"):
        with pytest.raises(UsageError, match="Known are call_time, "):
            changed_by(PLATFORM, [word], simulator_keys())
    for word in ("nodes=x", "targets=0", "ranks_per_node="):
        with pytest.raises(UsageError, match="is no whole number of at least 1"):
            changed_by(PLATFORM, [word], simulator_keys())


def portrait(native: NativeSimulator, *words: str) -> Portrait:
    there = system(native, *words)
    budget = Budget(seconds=1e5, bytes=1 << 36, files=10**6)
    request = ProbeRequest(level="quick", budget=budget, seed=1)
    return carry_out_probe(plan_probe(request, there), there, NoJournal(), told=lambda *_: None)


def test_a_simulated_machine_gets_a_portrait_that_says_so(
    tmp_path: Path, native: NativeSimulator
) -> None:
    found = portrait(native, "sick_target=2", "sick_slower=8")
    assert found.identity.is_modelled
    assert found.identity.client == "simulator"
    assert set(found.choices) == set(Direction)
    assert [one.target for one in found.sick] == [2]
    assert "fewer bytes of each process" in found.findings[-1]
    assert not any(one.discarded for one in found.samples)
    assert found.metadata is not None
    assert [one.processes for one in found.metadata.creates] == [1, 3, 8]
    file = tmp_path / "p.toml"
    file.write_text(portrait_text(found), encoding="utf-8")
    assert "probes of the simulator" in file.read_text(encoding="utf-8")
    assert [one.ask for one in read_portrait(file).samples] == [one.ask for one in found.samples]


@pytest.fixture
def probed(forebay: Command) -> Command:
    return partial(forebay, "probe", "-o", "m.toml", "--bytes", "8g")


def test_the_command_simulates_where_it_can(
    tmp_path: Path, native: NativeSimulator, probed: Command
) -> None:
    words = ("--simulate", "lustre-96-ost", *WORDS)
    done = probed(*words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert read_portrait(tmp_path / "m.toml").identity.client == "simulator"
    assert "a model: nothing was measured" in done.stdout


def test_the_command_asks_formulas_where_it_is_told_to(
    tmp_path: Path, native: NativeSimulator, probed: Command
) -> None:
    done = probed("--simulate", "laptop", "--formulas", "--dry-run", folder=tmp_path)
    assert done.returncode == 0
    done = probed("--simulate", "laptop", "--formulas", "nodes=2", folder=tmp_path)
    assert done.returncode == 2
    assert "formulas know nothing but the platform" in done.stderr


def test_the_command_asks_formulas_where_there_is_no_simulator(
    tmp_path: Path, probed: Command
) -> None:
    words = ("--simulate", "laptop", "--dry-run")
    done = probed(*words, folder=tmp_path, FOREBAY_SIM="/nonexistent")
    assert done.returncode == 0
    assert "Formulas are asked instead" in done.stderr
