"""`forebay simulate --pool`: what is shown of the native simulator's answer, and that it says the
same words. Its figures are tested in C++ (src/worlds/simulate/pool_experiment_test.cpp)."""

import json
import subprocess
from collections.abc import Callable
from functools import partial

import pytest

from forebay.common.model.errors import SimulationError
from forebay.common.model.output_format import Format
from forebay.simulate.files import NativeSimulator, simulator_keys
from forebay.simulate.model.pool import (
    PoolSimulation,
    parse_pool_simulation,
    pool_words_of,
)
from forebay.simulate.report.pool import show_pool_simulation
from forebay.simulate.use_case import simulate_pool

Command = Callable[..., subprocess.CompletedProcess[str]]
WAY = {"seconds": 41.0, "exposed": 1.0, "gathered": 0.25, "longest": 0.5, "requests": 7,
       "reading": 0.0, "input_bytes": 0, "passed_bytes": 0}  # fmt: skip
ANSWER: dict[str, object] = {
    "schema": "forebay.simulation.pool/1", "platform": "laptop", "ranks": 8, "nodes": 2,
    "targets": 4, "writers": 8, "files": 1, "steps": 4, "interval": 10.0,
    "window_bytes": 256 << 20, "cap_bytes": 1 << 30, "seed": 1, "bytes": 4 << 30,
    "plain": {**WAY, "exposed": 4.0, "seconds": 44.0}, "pooled": WAY, "hidden": 0.75,
    "waited_for_room": 0.125, "drained_after": 0.5, "high_bytes": 300 << 20,
    "file_high_bytes": 64 << 20, "bytes_past": 0, "closed_early": False, "messages": 12,
    "opened": 8, "wrong": 0,
}  # fmt: skip


def answered(**changed: object) -> PoolSimulation:
    return parse_pool_simulation(json.dumps({**ANSWER, **changed}))


def test_how_long_the_program_waits_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    show_pool_simulation(answered(), Format.TEXT)
    text = capsys.readouterr().out
    for said in (
        "8 ranks on 2 nodes: 4 bursts of 1.00 GiB, 10 s of computing before each",
        "4.000 s",
        "hidden: 75.0 % of the waiting",
        "300 MiB at most on a node (cap 1.00 GiB), 64.0 MiB of a file (window 256 MiB)",
        "a writer waited 0.125 s for room",
        "0.500 s after the program's end",
        "12 messages between daemons for 8 opened files",
    ):
        assert said in text
    assert "went past" not in text
    assert "input" not in text


def test_what_was_read_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    plain = {**WAY, "reading": 4.0, "input_bytes": 8 << 30}
    pooled = {**WAY, "reading": 1.0, "input_bytes": 1 << 30, "passed_bytes": 7 << 30}
    show_pool_simulation(answered(plain=plain, pooled=pooled), Format.TEXT)
    text = capsys.readouterr().out
    assert "input: 8.00 GiB came from the file system in 4.000 s, through the pool" in text
    assert "through the pool 1.00 GiB in 1.000 s" in text
    assert "nodes passed 7.00 GiB of it on to each other" in text


def test_what_went_otherwise_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    past = {"closed_early": True, "bytes_past": 1 << 20, "hidden": -0.5}
    show_pool_simulation(answered(**past, drained_after=0.0, waited_for_room=0.0), Format.TEXT)
    text = capsys.readouterr().out
    for said in ("hidden: nothing", "1.00 MiB went past it", "before the program's end"):
        assert said in text
    assert "for room" not in text


def test_json_has_every_figure(capsys: pytest.CaptureFixture[str]) -> None:
    show_pool_simulation(answered(), Format.JSON)
    said = json.loads(capsys.readouterr().out)
    assert said == {key: value for key, value in ANSWER.items() if key != "wrong"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Segmentation fault", "cannot read"),
        ('{"schema": "other/1"}', "speaks other/1"),
        ('{"schema": "forebay.simulation.pool/1"}', "cannot read"),
        (json.dumps({**ANSWER, "wrong": 1}), "not every byte arrived"),
    ],
)
def test_what_is_no_answer_is_refused(text: str, why: str) -> None:
    with pytest.raises(SimulationError, match=why):
        parse_pool_simulation(text)


def test_an_unknown_key_is_told_the_nearest_one() -> None:
    with pytest.raises(SimulationError, match='Did you mean "pool_window"'):
        pool_words_of("laptop.toml", ["pool_windw=1MiB"], simulator_keys())


def test_a_program_with_time_to_drain_hides_its_output(native: NativeSimulator) -> None:
    words = ["nodes=2", "ranks_per_node=2", "burst_bytes=256MiB", "interval=5s", "copy_rate=9GB/s"]
    said = simulate_pool("lustre-96-ost", words, native)
    assert said.hidden > 0.7
    assert said.bytes == 4 * (256 << 20)
    assert said == simulate_pool("lustre-96-ost", words, native)


@pytest.fixture
def command(forebay: Command) -> Command:
    return partial(forebay, "simulate", "--pool", "laptop")


def test_the_command_refuses_what_does_not_fit(native: NativeSimulator, command: Command) -> None:
    done = command("--variant", "forebay")
    assert done.returncode == 2
    assert "cannot simulate --variant with --pool" in done.stderr
    done = command("writers=100000")
    assert done.returncode == 2
    assert 'cannot use "writers=100000"' in done.stderr
    assert "hidden" in command("burst_bytes=16MiB", "interval=1s").stdout
