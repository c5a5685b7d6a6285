"""Compares files with the calls of writers (tests/storm/writer.c): for each byte, the values that
it may have are known.

A call that has returned counts; one that was under way, or failed, may have done its work or not. A
call is over for good where one that counts, and covers the same byte, began after it had ended.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

NEVER = 1 << 63
FIRST_OF_OWN = 4  # names below are shared
PERIOD = 65521
PIECE_MAX = 200_000
NEAR = 64
_HEADER = struct.Struct("=QQQQ32x")
_RECORD = struct.Struct("=QQqqqIIIIq")
_BYTES = bytes(
    1 + ((i % PERIOD * 2654435761 & 0xFFFFFFFF) >> 13) % 255 for i in range(PERIOD + PIECE_MAX)
)


class Kind(IntEnum):
    OPENS = 1
    WRITES = 2
    CUTS = 3
    MOVES = 4
    REMOVES = 5
    MAKES_DURABLE = 6
    CLOSES = 7
    MISREADS = 8
    EMPTIES = 9


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    begin_ns: int
    end_ns: int
    """NEVER: its writer is still at it; of one that has died, when it was known to be dead."""
    returned: bool
    kind: Kind
    at: int
    byte_count: int
    result: int
    version: int
    file: int
    name: int
    length: int = 0
    """Length of the file, of a call that MISREADS."""

    @property
    def succeeded(self) -> bool:
        return self.returned and self.result >= 0

    def begin(self) -> int:
        """The first byte that it changes."""
        return self.at if self.kind in (Kind.WRITES, Kind.CUTS) else 0

    def end(self) -> int:
        if self.kind is not Kind.WRITES:
            return NEVER
        return self.at + (self.result if self.succeeded else self.byte_count)

    def content(self, begin: int, end: int) -> bytes:
        """Bytes of the file from `begin` to `end`, which it covers."""
        if self.kind is not Kind.WRITES:
            return bytes(end - begin)
        shift = (self.at + self.version * 7919) % PERIOD + (begin - self.at)
        return _BYTES[shift : shift + end - begin]


CHANGES = (Kind.WRITES, Kind.CUTS, Kind.EMPTIES)


class Ledger:
    """The account of one writer; it outlives it."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._memory = mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ)

    def count(self) -> int:
        count: int = _HEADER.unpack_from(self._memory)[0]
        return count

    def is_done(self) -> bool:
        return bool(_HEADER.unpack_from(self._memory)[2])

    def captured(self) -> int:
        """Descriptors that were captured when they were closed."""
        count: int = _HEADER.unpack_from(self._memory)[3]
        return count

    def calls(self, died_ns: int = NEVER) -> list[Call]:
        return [_call(self._memory, number, died_ns) for number in range(self.count())]

    def close(self) -> None:
        self._memory.close()


def tell_to_end(path: Path) -> None:
    """The writer of this ledger ends behind the call that it is at."""
    with path.open("r+b") as file:
        file.seek(8)
        file.write((1).to_bytes(8, "little"))


def _call(memory: mmap.mmap, number: int, died_ns: int) -> Call:
    begin, end, at, count, result, version, kind, file, name, length = _RECORD.unpack_from(
        memory, _HEADER.size + number * _RECORD.size
    )
    return Call(
        begin_ns=begin,
        end_ns=end or died_ns,
        returned=end != 0,
        kind=Kind(kind),
        at=at,
        byte_count=count,
        result=result,
        version=version,
        file=file,
        name=name,
        length=length,
    )


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Which of the calls that have succeeded count: with a power cut, or while writers go on, only
    what had ended by some time; where a daemon died, what had been made durable."""

    until_ns: int = NEVER
    since_ns: int = NEVER
    """Calls that began then or later count, too."""

    def __call__(self, call: Call) -> bool:
        in_time = call.end_ns <= self.until_ns or call.begin_ns >= self.since_ns
        return call.succeeded and in_time


@dataclass(kw_only=True)
class Verdict:
    lost: int = 0
    """Bytes that hold what was there before, or nothing."""
    wrong: int = 0
    """Bytes that no call may have left."""
    text: list[str] = field(default_factory=list)

    def add(self, what: str, lost: int = 0, wrong: int = 0) -> None:
        self.lost += lost
        self.wrong += wrong
        self.text.append(what)

    def __bool__(self) -> bool:
        return bool(self.lost or self.wrong)


def judged(found: bytes, calls: Iterable[Call], counts: Callable[[Call], bool]) -> Verdict:
    """Judges a file that only these calls have changed."""
    ordered = sorted(
        (call for call in calls if call.kind in CHANGES), key=lambda call: call.begin_ns
    )
    verdict = Verdict()
    least, most = _lengths(ordered, counts)
    if len(found) < least:
        verdict.add(f"{len(found)} of at least {least} bytes", lost=least - len(found))
    elif len(found) > most:
        verdict.add(f"{len(found)} bytes, and at most {most} may be", wrong=len(found) - most)
    expected = bytearray(max(least, len(found)))
    for call in filter(counts, ordered):
        end = min(call.end(), len(expected))
        if call.begin() < end:
            expected[call.begin() : end] = call.content(call.begin(), end)
    there = found[: len(expected)]
    for begin, end in _differing(there, bytes(expected[: len(there)])):
        _look_at(there, begin, end, ordered, counts, verdict)
    return verdict


def _lengths(ordered: Sequence[Call], counts: Callable[[Call], bool]) -> tuple[int, int]:
    least = most = 0
    for call in ordered:
        if call.kind is Kind.WRITES:
            most = max(most, call.end())
            least = max(least, call.end()) if counts(call) else least
        elif counts(call):
            least = most = call.begin()
        else:
            least, most = min(least, call.begin()), max(most, call.begin())
    return least, most


def _differing(one: bytes, other: bytes) -> Iterator[tuple[int, int]]:
    """Runs of bytes; runs that are near each other are one."""
    at = np.flatnonzero(_numbers(one) != _numbers(other))
    if not at.size:
        return
    far = np.flatnonzero(np.diff(at) >= NEAR)
    for begin, end in zip((0, *(far + 1)), (*far, at.size - 1), strict=True):
        yield int(at[begin]), int(at[end]) + 1


def _numbers(some: bytes) -> npt.NDArray[np.uint8]:
    return np.frombuffer(some, np.uint8)


def _any_has(some: Sequence[bytes], got: bytes) -> npt.NDArray[np.bool_]:
    """For each byte, whether one of these has it."""
    has = np.zeros(len(got), np.bool_)
    for one in some:
        has |= _numbers(one) == _numbers(got)
    return has


def _look_at(
    found: bytes,
    begin: int,
    end: int,
    ordered: Sequence[Call],
    counts: Callable[[Call], bool],
    verdict: Verdict,
) -> None:
    """Bytes that do not hold what the last call that counts has left."""
    here = [call for call in ordered if call.begin() < end and call.end() > begin]
    edges = {begin, end}
    for call in here:
        edges |= {min(max(edge, begin), end) for edge in (call.begin(), call.end())}
    cuts = sorted(edges)
    for first, last in pairwise(cuts):
        covering = [call for call in here if call.begin() <= first and call.end() >= last]
        newest = max((call.begin_ns for call in covering if counts(call)), default=0)
        alive = [call.content(first, last) for call in covering if call.end_ns >= newest]
        alive += [] if newest else [bytes(last - first)]
        gone = [call.content(first, last) for call in covering if call.end_ns < newest]
        gone.append(bytes(last - first))
        got = found[first:last]
        bad = np.flatnonzero(~_any_has(alive, got))
        if not bad.size:
            continue
        lost = int(np.count_nonzero(_any_has(gone, got)[bad]))
        newest_call = max(
            (call for call in covering if counts(call)),
            key=lambda call: call.begin_ns,
            default=None,
        )
        verdict.add(
            f"bytes {first + bad[0]} to {first + bad[-1] + 1}: {lost} of {bad.size} are old, "
            f"expected {newest_call}",
            lost=lost,
            wrong=bad.size - lost,
        )
