"""Programs that are killed lose nothing that was acknowledged; a daemon that is killed is told."""

from __future__ import annotations

import random
import struct
import subprocess
from pathlib import Path

import pytest

from suite import mpi as m
from suite import pooled
from suite.on import FULL
from suite.verdict import ensure

SAID = struct.Struct("=QII")
PIECE_MAX = 200_000
PERIOD = 1 << 16
_PLACES = bytes((i * 31 + (i >> 8) * 7) & 255 for i in range(PERIOD)) * (PIECE_MAX // PERIOD + 2)


def _piece(at: int, count: int, round_: int) -> bytes:
    """As fill() in tests/posix/common.h."""
    more = bytes((i + round_ * 101 + 1) & 255 for i in range(256))
    return _PLACES[at % PERIOD : at % PERIOD + count].translate(more)


def _killed(served: pooled.Pool, name: str, seed: int) -> list[tuple[int, int, int]]:
    """What a program had been told to be written before it was killed."""
    program = pooled.program("killed.c")
    environment = {**m.clean_environment(), **served.environment()}
    patience = random.Random(seed).randint(1, 400)
    with subprocess.Popen(
        [program, name, str(seed)], cwd=served.folder, env=environment, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        said = process.stdout.read(SAID.size * patience)
        process.kill()
        said += process.stdout.read()
    return [SAID.unpack_from(said, at) for at in range(0, len(said) - SAID.size + 1, SAID.size)]


@pytest.mark.parametrize("times", [20, pytest.param(200, marks=FULL)])
def test_acknowledged_bytes_outlive_the_program(times: int, folder: Path) -> None:
    told: dict[str, list[tuple[int, int, int]]] = {}
    settings = [pooled.KEPT, pooled.EAGER]
    for half in range(2):
        with pooled.pool(folder, settings[half]) as served:
            for seed in range(half * times // 2, (half + 1) * times // 2):
                told[f"killed{seed}"] = _killed(served, f"killed{seed}", seed)
            ensure(served.taken() > 0, "nothing was deposited")
    ensure(sum(map(len, told.values())) > times, "nothing was written")
    for name, pieces in told.items():
        expected = bytearray((served.folder / name).read_bytes())
        for at, count, round_ in pieces:
            expected.extend(bytes(max(0, at + count - len(expected))))
            expected[at : at + count] = _piece(at, count, round_)
        found = (served.folder / name).read_bytes()
        # One more write may have been done that was not told any more: it is allowed to be there.
        ensure(len(found) == len(expected), f"{name} has {len(found)} of {len(expected)} bytes")
        if found != expected:
            pairs = enumerate(zip(found, expected, strict=True))
            other = [i for i, (a, b) in pairs if a != b]
            ensure(other[-1] - other[0] < PIECE_MAX, f"{name}: bytes {other[0]} to {other[-1]}")


def test_every_call_fails_once_the_daemon_is_dead(folder: Path) -> None:
    """EIO, and never a hang."""
    program = pooled.program("orphan.c")
    with pooled.pool(folder) as served:
        environment = {**m.clean_environment(), **served.environment()}
        with subprocess.Popen(
            [program],
            cwd=served.folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            ensure(process.stdout.readline().strip() == "written", "it does not begin")
            served.kill()
            said, complaint = process.communicate("on\n", timeout=pooled.SECONDS_MAX)
    wrong = [line for line in said.splitlines() if not line.endswith("EIO")]
    ensure(said and not wrong, f"it says\n{said}")
    # The process once, and its child, which reaches nobody, once.
    ensure(complaint.count("forebay:") == 2, f"it is told\n{complaint}")
    ensure("daemon of this node has died" in complaint, complaint)
