"""Programs that are killed lose nothing that was acknowledged; a daemon that is killed is told."""

from __future__ import annotations

import random
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from suite import mpi as m
from suite import pooled
from suite.on import FULL
from suite.verdict import Failed, ensure

SAID = struct.Struct("=QII")
PIECE_MAX = 200_000
PERIOD = 1 << 16
_PLACES = bytes((i * 31 + (i >> 8) * 7) & 255 for i in range(PERIOD)) * (PIECE_MAX // PERIOD + 2)


def _piece(at: int, count: int, round_: int) -> bytes:
    """As fill() in tests/posix/common.h."""
    more = bytes((i + round_ * 101 + 1) & 255 for i in range(256))
    return _PLACES[at % PERIOD : at % PERIOD + count].translate(more)


def _killed(served: pooled.Pool, name: str, seed: int) -> list[tuple[int, int, int]]:
    """The writes that a program knew to be done before it was killed."""
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
        _ensure_all(name, (served.folder / name).read_bytes(), pieces)


def _ensure_all(name: str, found: bytes, pieces: Sequence[tuple[int, int, int]]) -> None:
    """Checks that the file has these writes and nothing else but, maybe, the write after the last
    of them."""
    length = max((at + count for at, count, _ in pieces), default=0)
    expected = bytearray(max(length, len(found)))
    for at, count, round_ in pieces:
        expected[at : at + count] = _piece(at, count, round_)
    ensure(len(found) >= length, f"{name} has {len(found)} of {length} bytes")
    other = [i for i, (a, b) in enumerate(zip(found, expected, strict=True)) if a != b]
    if not other:
        return
    ensure(other[-1] - other[0] < PIECE_MAX, f"{name}: bytes {other[0]} to {other[-1]}")
    more = _piece(other[0], other[-1] - other[0] + 1, len(pieces) + 1)
    wrong = [i for i in other if found[i] != more[i - other[0]]]
    ensure(not wrong, f"{name}: byte {wrong[0] if wrong else 0} is of no write that may be last")


def test_a_piece_that_is_lost_is_seen() -> None:
    """By the test above."""
    pieces = [(0, 5000, 1), (5000, 3000, 2), (2000, 1000, 3)]
    whole = bytearray(8000)
    for at, count, round_ in pieces:
        whole[at : at + count] = _piece(at, count, round_)
    _ensure_all("whole", bytes(whole), pieces)
    _ensure_all("one more", bytes(whole) + _piece(8000, 500, 4), pieces)
    for at, count, _ in pieces[1:]:
        lost = bytearray(whole)
        lost[at : at + count] = _piece(at, count, 1) if at == 2000 else bytes(count)
        with pytest.raises(Failed):
            _ensure_all("lost", bytes(lost), pieces)


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
