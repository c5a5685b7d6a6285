"""Tests, in the order in which they were declared: a name, a function, and what became of it."""

from __future__ import annotations

import re
import shutil
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path


class Failed(Exception):  # noqa: N818 - said as a verdict
    """The test did not hold. The message says what was found and how to see it again."""


class Skipped(Exception):  # noqa: N818 - said as a verdict
    """The machine cannot run the test. The message says why."""


def ensure(holds: object, message: str) -> None:
    if not holds:
        raise Failed(message)


@dataclass(frozen=True, kw_only=True)
class Test:
    name: str
    run: Callable[[Path], None]
    """Given an empty folder of its own."""


@dataclass(kw_only=True)
class Runner:
    """Runs tests one after the other; two cores are full with one."""

    work: Path
    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: int = 0

    def run(self, tests: Sequence[Test], patterns: Sequence[str]) -> int:
        chosen = [one for one in tests if not patterns or _matches(one.name, patterns)]
        for test in chosen:
            self._run(test)
        if self.failed:
            print("failed: " + " ".join(self.failed))
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        print(f"{self.passed} passed, {len(self.failed)} failed{skipped}", flush=True)
        return 0 if chosen and not self.failed else 1

    def _run(self, test: Test) -> None:
        folder = self.work / test.name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        begin = time.monotonic()
        word, message = self._outcome(test, folder)
        seconds = time.monotonic() - begin
        print(f"{word:4} {test.name} ({seconds:.1f} s)", flush=True)
        if message:
            print("     " + message.rstrip().replace("\n", "\n     "), flush=True)
        if word != "FAIL":
            shutil.rmtree(folder, ignore_errors=True)

    def _outcome(self, test: Test, folder: Path) -> tuple[str, str]:
        try:
            test.run(folder)
        except Skipped as skipped:
            self.skipped += 1
            return "SKIP", str(skipped)
        except Failed as failed:
            self.failed.append(test.name)
            return "FAIL", str(failed)
        except Exception:
            self.failed.append(test.name)
            return "FAIL", traceback.format_exc()
        self.passed += 1
        return "ok", ""


def _matches(name: str, patterns: Sequence[str]) -> bool:
    try:
        return any(re.search(pattern, name) for pattern in patterns)
    except re.error as error:
        sys.exit(f"cannot use the pattern ({error}). Give a regular expression.")
