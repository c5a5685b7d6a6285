"""`forebay simulate --independent`: what is shown of the native simulator's answer, and that it
says the same words. Its figures are tested in C++ (src/worlds/simulate/independent_test.cpp)."""

import json
import subprocess
from collections.abc import Callable
from functools import partial

import pytest

from forebay.common.model.errors import SimulationError
from forebay.common.model.output_format import Format
from forebay.simulate.files import NativeSimulator, simulator_keys
from forebay.simulate.model.independent import (
    IndependentSimulation,
    independent_words_of,
    parse_independent_simulation,
)
from forebay.simulate.report.independent import show_independent_simulation
from forebay.simulate.use_case import simulate_independent

Command = Callable[..., subprocess.CompletedProcess[str]]
ANSWER: dict[str, object] = {
    "schema": "forebay.simulation.independent/1", "platform": "laptop", "processes": 8,
    "per_node": 4, "nodes": 2, "targets": 2, "files": 1, "stripe_count": 2, "direction": "write",
    "seed": 1, "moment": 0, "bytes": 8 << 30, "seconds_open": 0.25, "seconds_moving": 4.0,
    "seconds_close": 0.125, "steady_rate": 2.5e9, "requests": 8192, "request_bytes": 8 << 30,
    "locks_asked": 12, "locks_lost": 3, "target_bytes": [4 << 30, 4 << 30],
    "target_busy": [3.5, 3.25], "error": "",
}  # fmt: skip


def answered(**changed: object) -> IndependentSimulation:
    return parse_independent_simulation(json.dumps({**ANSWER, **changed}))


def test_what_processes_took_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    show_independent_simulation(answered(), Format.TEXT)
    text = capsys.readouterr().out
    for said in (
        "8 processes on 2 nodes write 8.00 GiB, 1 file of 2 stripes",
        "opening 0.250000 s",
        "4.000000 s: 2.00 GiB/s, 2.33 GiB/s in between",
        "closing 0.125000 s",
        "8192 requests of 8.00 GiB together; nodes asked for 12 locks, others lost 3 by that",
    ):
        assert said in text
    show_independent_simulation(answered(steady_rate=0.0, processes=1), Format.TEXT)
    text = capsys.readouterr().out
    assert "in between" not in text
    assert "1 process on" in text


def test_json_has_every_figure(capsys: pytest.CaptureFixture[str]) -> None:
    show_independent_simulation(answered(), Format.JSON)
    assert json.loads(capsys.readouterr().out) == ANSWER


def test_more_bytes_go_on_at_the_steady_rate() -> None:
    one = answered(steady_rate=2.0**31)
    assert one.seconds_moving_of(8 << 30) == 4.0
    assert one.seconds_moving_of(16 << 30) == 8.0
    assert answered(steady_rate=0.0).seconds_moving_of(16 << 30) == 8.0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Segmentation fault", "cannot read"),
        ('{"schema": "other/1"}', "speaks other/1"),
        ('{"schema": "forebay.simulation.independent/1"}', "cannot read"),
    ],
)
def test_what_is_no_answer_is_refused(text: str, why: str) -> None:
    with pytest.raises(SimulationError, match=why):
        parse_independent_simulation(text)


def test_an_unknown_key_is_told_the_nearest_one() -> None:
    with pytest.raises(SimulationError, match='Did you mean "stripe_count"'):
        independent_words_of("laptop.toml", ["stripes_count=4"], simulator_keys())


def test_more_stripes_are_faster(native: NativeSimulator) -> None:
    words = ("processes=16", "per_node=4", "process_bytes=32MiB", "target_rate=1GB/s")
    one, four = (
        simulate_independent("lustre-96-ost", [*words, f"stripe_count={count}"], native)
        for count in (1, 4)
    )
    assert four.rate > 3 * one.rate
    assert one.bytes == four.bytes == 16 * (32 << 20)


@pytest.fixture
def command(forebay: Command) -> Command:
    return partial(forebay, "simulate", "--independent")


def test_the_command_shows_text_or_json(native: NativeSimulator, command: Command) -> None:
    words = ("laptop", "processes=2", "process_bytes=8MiB")
    assert "2 processes on 1 node write 16.0 MiB" in command(*words).stdout
    said = json.loads(command(*words, "--format", "json").stdout)
    assert said["bytes"] == 16 << 20


def test_a_call_that_fails_is_told(native: NativeSimulator, command: Command) -> None:
    done = command("laptop", "processes=1", "sick_target=0", "sick_error_from=0")
    assert done.returncode == 2
    assert "could not be stored (errno 5)" in done.stderr


@pytest.mark.parametrize("other", [("--variant", "forebay"), ("--pool",)])
def test_the_command_refuses_what_does_not_fit(other: tuple[str, ...], command: Command) -> None:
    done = command("laptop", *other)
    assert done.returncode == 2
    assert "Leave one of them out" in done.stderr
    assert "--independent" in done.stderr
