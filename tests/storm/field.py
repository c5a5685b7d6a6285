"""The parts of a round: writers that keep account outside of the pool, files, and what is amiss."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntFlag
from itertools import groupby
from pathlib import Path

from suite import mpi as m
from suite.mounted import Mounted

from storm.ledger import FIRST_OF_OWN, NEVER, Call, Counts, Kind, Ledger, Verdict, judged
from storm.ledger import tell_to_end as told_to_end

PATIENCE_SECONDS = 90.0
"""Work that takes longer hangs; a busy machine takes some seconds."""
MOUNT_PATIENCE_SECONDS = 30.0
"""The same below a mount, where the kernel waits, too."""
LOOK_SECONDS = 0.002
SHOWN = 6


class NotHereError(Exception):
    """A round cannot be done here."""


class May(IntFlag):
    """The calls that a writer may make beside writing; as in writer.c."""

    RENAME = 1
    TRUNCATE = 2
    STREAM = 4
    SYNC = 8
    SHARE = 16
    ALL = 31


@dataclass(kw_only=True)
class Amiss:
    """The faults that a round has found."""

    lost: int = 0
    wrong: int = 0
    hangs: int = 0
    silent: int = 0
    """Files whose bytes are lost without a word."""
    told: int = 0
    """Files whose bytes are lost, or elsewhere, and that were named."""
    calls: int = 0
    captured: int = 0
    """Descriptors that were captured on a mount."""
    text: list[str] = field(default_factory=list)
    notes: str = ""
    """The messages of the last daemon."""

    def __bool__(self) -> bool:
        return bool(self.lost or self.wrong or self.hangs or self.silent)

    def add(self, verdict: Verdict, where: str) -> None:
        self.lost += verdict.lost
        self.wrong += verdict.wrong
        self.text += [f"{where}: {what}" for what in verdict.text]

    def hang(self, what: str) -> None:
        self.hangs += 1
        self.text.append(f"hangs: {what}")


class Writer:
    """A process that writes, and its ledger."""

    def __init__(
        self, number: int, path: Path, process: subprocess.Popen[str], *, is_plain: bool
    ) -> None:
        self.number = number
        self.is_plain = is_plain
        self.path = path
        self.process = process
        self.died_ns = NEVER
        self.is_stopped = False
        self._ledger: Ledger | None = None

    def ledger(self) -> Ledger | None:
        """None: it has not made it yet."""
        if self._ledger is None and self.path.exists() and self.path.stat().st_size > 0:
            self._ledger = Ledger(self.path)
        return self._ledger

    def count(self) -> int:
        ledger = self.ledger()
        return ledger.count() if ledger else 0

    def captured(self) -> int:
        ledger = self.ledger()
        return ledger.captured() if ledger else 0

    def calls(self) -> list[Call]:
        ledger = self.ledger()
        return ledger.calls(self.died_ns) if ledger else []

    def is_over(self) -> bool:
        if self.process.poll() is None:
            return False
        if self.died_ns == NEVER:
            self.died_ns = time.monotonic_ns()
        return True

    def signal(self, number: signal.Signals) -> None:
        if not self.is_over():
            self.process.send_signal(number)
            self.is_stopped = number is signal.SIGSTOP

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.is_over()

    def where(self) -> str:
        """The place in the kernel where it waits, as /proc shows it."""
        with contextlib.suppress(OSError):
            status = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
            state = next((line for line in status if line.startswith("State")), "")
            wchan = Path(f"/proc/{self.process.pid}/wchan").read_text()
            return f"writer {self.number} ({state.split(maxsplit=1)[-1]}, {wchan})"
        return f"writer {self.number}"


class Field:
    """The writers and files of a round."""

    def __init__(self, folder: Path, files: Path, draw: random.Random, program: Path) -> None:
        self.folder = folder
        self.files = files
        self.draw = draw
        self.writers: list[Writer] = []
        self.amiss = Amiss()
        self.below_mount = False
        """Whether a mount lies over the files. Then every second writer is not captured."""
        self.mount: Mounted | None = None
        self.read_from: Path | None = None
        """Where the files are compared, if it is not where they are written."""
        self._program = program

    def begin(self, environment: Mapping[str, str], may: May, count: int = 1) -> None:
        """That many more writers."""
        for _ in range(count):
            number = len(self.writers)
            path = self.folder / f"ledger.{number}"
            is_plain = self.below_mount and number % 2 == 1
            words = [self._program, self.files, path, number, self.draw.getrandbits(40), int(may)]
            if is_plain:  # a captured shell tells the daemon of it
                words = ["sh", "-c", 'exec env -i "$@"', "sh", *words]
            with (self.folder / f"said.{number}").open("w") as said:
                process = subprocess.Popen(
                    [str(word) for word in words],
                    env={**m.clean_environment(), **environment},
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=subprocess.STDOUT,
                    text=True,
                )
            self.writers.append(Writer(number, path, process, is_plain=is_plain))

    def alive(self) -> list[Writer]:
        return [writer for writer in self.writers if not writer.is_over()]

    def count(self) -> int:
        return sum(writer.count() for writer in self.writers)

    def until(self, holds: Callable[[], bool], what: Callable[[], str]) -> bool:
        """False: it hangs, which is remembered. While writers make calls, however slowly on a busy
        disk, nothing does."""
        seconds = MOUNT_PATIENCE_SECONDS if self.below_mount else PATIENCE_SECONDS
        end = time.monotonic() + seconds
        made = self.count()
        while not holds():
            if time.monotonic() > end:
                if self.count() > made:
                    made, end = self.count(), time.monotonic() + seconds
                    continue
                self.amiss.hang(what())
                return False
            time.sleep(LOOK_SECONDS)
        return True

    def until_calls(self, more: int) -> bool:
        """Until the writers have made so many more calls, or have ended."""
        goal = self.count() + more
        return self.until(
            lambda: self.count() >= goal or not self.alive(),
            lambda: f"{self.count()} of {goal} calls, {self._at_work()}",
        )

    def resume(self) -> None:
        for writer in self.writers:
            if writer.is_stopped:
                writer.signal(signal.SIGCONT)

    def end(self) -> None:
        """Has all writers end; those that do not are killed."""
        self.resume()
        if not self.until(self._are_over, lambda: f"end of {self._at_work()}"):
            for writer in self.alive():
                writer.kill()
        for writer in self.writers:
            if writer.process.returncode not in (0, -signal.SIGKILL):
                self.amiss.wrong += 1
                said = (self.folder / f"said.{writer.number}").read_text()
                ended = writer.process.returncode
                self.amiss.text.append(f"writer {writer.number} ended with {ended}: {said[-300:]}")

    def _are_over(self) -> bool:
        """Tells those that are not to end, which may have begun a moment ago."""
        alive = self.alive()
        for writer in alive:
            if writer.ledger():
                told_to_end(writer.path)
        return not alive

    def kill(self) -> None:
        for writer in self.writers:
            writer.kill()

    def _at_work(self) -> str:
        return ", ".join(writer.where() for writer in self.alive())

    def judge(
        self,
        counts: Callable[[str], Callable[[Call], bool]] = lambda _: Counts(),
        named: Callable[[str], bool] = lambda _: False,
        *,
        names_until_ns: int = NEVER,
    ) -> None:
        """Compares each file with what was done to it. `counts` and `named` are told the file's
        name: which calls count, and whether it was said that bytes of it are lost or elsewhere.
        Names that were made later than `names_until_ns` may be there or not."""
        calls = [call for writer in self.writers for call in writer.calls()]
        self.amiss.calls = len(calls)
        if self.below_mount:
            self.amiss.captured = sum(writer.captured() for writer in self.writers)
        for call in calls:
            if call.kind is Kind.MISREADS:
                self.amiss.wrong += 1
                self.amiss.text.append(f"another thing was read than was written: {call}")
        shared = [call for call in calls if call.name < FIRST_OF_OWN]
        for name, some in _by(shared, lambda call: call.name):
            verdict = judged(self._read(str(name)) or b"", some, counts(str(name)))
            self._note(str(name), verdict, named)
        mine = [call for call in calls if call.name >= FIRST_OF_OWN]
        for base, some in _by(mine, lambda call: call.name & ~1):
            found = {name: self._read(str(name)) for name in (base, base + 1)}
            possible = _possible(some, names_until_ns)
            verdicts = min(
                (_judged_as(names, found, some, counts) for names in possible),
                key=lambda each: sum(one.lost + one.wrong for one in each.values()),
            )
            for name, verdict in verdicts.items():
                self._note(str(name), verdict, named)

    def _note(self, name: str, verdict: Verdict, named: Callable[[str], bool]) -> None:
        if verdict and named(name):
            self.amiss.told += 1
        elif verdict:
            self.amiss.add(verdict, name)

    def _read(self, name: str) -> bytes | None:
        try:
            return ((self.read_from or self.files) / name).read_bytes()
        except FileNotFoundError:
            return None


def _by(calls: Iterable[Call], key: Callable[[Call], int]) -> Iterator[tuple[int, list[Call]]]:
    for value, some in groupby(sorted(calls, key=key), key):
        yield value, sorted(some, key=lambda call: call.begin_ns)


def _possible(calls: Sequence[Call], until_ns: int) -> list[dict[int, int | None]]:
    """Which file may be under which name in the end: a call that has not returned has made a name,
    or has not."""
    states: list[dict[int, int | None]] = [{}]
    for call in calls:
        after = [_behind(state, call) for state in states]
        if not (call.succeeded and call.end_ns <= until_ns):
            after += [state for state in states if state not in after]
        states = [state for at, state in enumerate(after) if state not in after[:at]]
    return states


def _judged_as(
    names: Mapping[int, int | None],
    found: Mapping[int, bytes | None],
    calls: Sequence[Call],
    counts: Callable[[str], Callable[[Call], bool]],
) -> dict[int, Verdict]:
    """Judges each name as if it were this file's."""
    verdicts = {}
    for name, got in found.items():
        verdict = Verdict()
        file = names.get(name)
        if file is not None:
            some = [call for call in calls if call.file == file]
            verdict = judged(got or b"", some, counts(str(name)))
            if got is None and not verdict:
                verdict.add("it is not there", lost=1)
        elif got is not None:
            verdict.add("it is there", wrong=1)
        verdicts[name] = verdict
    return verdicts


def _behind(names: dict[int, int | None], call: Call) -> dict[int, int | None]:
    if call.kind in (Kind.OPENS, Kind.EMPTIES):
        return {**names, call.name: call.file}
    if call.kind is Kind.REMOVES:
        return {**names, call.name: None}
    if call.kind is Kind.MOVES:
        return {**names, call.name: None, call.name ^ 1: call.file}
    return names


def built(folder: Path) -> Path:
    """The writer."""
    source, program = Path(__file__).with_name("writer.c"), folder / "storm-writer"
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"storm-writer.{os.getpid()}"
    words = ["cc", *m.C_FLAGS, f"-I{m.ROOT / 'include'}", "-o", str(part), str(source)]
    subprocess.run(words, check=True, env=m.clean_environment())
    part.replace(program)
    return program
