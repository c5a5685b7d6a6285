"""Runs the steps of `make test`, each to its end, times and counts them, and says the sum.

A step is a shell script beside this file. It goes on after a failed step, so that one run shows
everything; the exit status is 1 when anything failed. Logs are left in build/ci.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "build" / "ci"
TAIL_LINES = 60
GRACE_SECONDS = 20


@dataclass(frozen=True)
class Step:
    """A named command with a limit of time. The steps that `needs` names are run with it: it looks
    at what they build."""

    name: str
    command: Sequence[str]
    seconds_max: int
    needs: Sequence[str] = ()


# Everything needs the packages and the venv.
NEEDED = ("packages", "venv")
STEPS = (
    Step("packages", ("tools/ci/packages.sh", "test"), 1200),
    Step("venv", ("tools/ci/venv.sh", "test"), 900),
    Step("release", ("tools/ci/build.sh", "release"), 1200),
    Step("checks", ("tools/ci/checks.sh",), 900, needs=("release",)),
    Step("python", ("tools/ci/python.sh",), 900, needs=("release",)),
    Step("install", ("tools/ci/install.sh",), 900, needs=("release",)),
    Step("demo", ("tools/demo.sh", "--pairs", "1"), 600, needs=("release",)),
    Step("integration", ("tools/ci/integration.sh",), 2400, needs=("release",)),
    Step("cephfs", ("tools/ci/cephfs.sh",), 900, needs=("release",)),
    # All unit tests, under ASan and UBSan; those of the pure layers and the engine once more by
    # what a simulator links, optimised, in step sim.
    Step("unit", ("tools/ci/unit.sh", "asan"), 1800),
    Step("interposer", ("tools/ci/interposer_asan.sh",), 900),
    # Ten times slower than without: every third test, which is every third seed.
    Step("tsan", ("tools/ci/unit.sh", "tsan", "3"), 1800),
    Step("fuzz", ("tools/ci/fuzz.sh",), 1200),
    Step("sim", ("tools/ci/sim.sh",), 900),
    Step("tidy", ("tools/ci/tidy.sh",), 2100, needs=("release",)),
)


@dataclass(frozen=True)
class Count:
    """How many tests passed, failed and were skipped."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(
            self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped
        )

    def __str__(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


_PLAIN = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.MULTILINE)
_PYTEST = re.compile(r"^=* ?((?:\d+ \w+,? ?)+)in [\d.]+s", re.MULTILINE)
_CTEST = re.compile(r"^\d+% tests passed, (\d+) tests? failed out of (\d+)$", re.MULTILINE)


def counted(log: str) -> Count:
    """What the runners in `log` counted: our plain line, pytest's or ctest's closing line."""
    total = Count()
    for passed, failed, skipped in _PLAIN.findall(log):
        total += Count(int(passed), int(failed), int(skipped or 0))
    for failed, all_tests in _CTEST.findall(log):
        total += Count(int(all_tests) - int(failed), int(failed))
    for summary in _PYTEST.findall(log):
        by_kind = {kind: int(number) for number, kind in re.findall(r"(\d+) (\w+)", summary)}
        failed = by_kind.get("failed", 0) + by_kind.get("error", 0) + by_kind.get("errors", 0)
        total += Count(by_kind.get("passed", 0), failed, by_kind.get("skipped", 0))
    return total


def outcome_of(log: str, status: int) -> Count:
    """The count of a step. A step that counts nothing is one test; a failed one failed at least
    one."""
    count = counted(log)
    if status != 0 and count.failed == 0:
        return count + Count(failed=1)
    if status == 0 and count == Count():
        return Count(passed=1)
    return count


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a step's processes; asked first, so that it takes down what it has set up."""
    os.killpg(process.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE_SECONDS)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def chosen(names: Sequence[str]) -> list[Step]:
    """The steps of these names (all, where there are none) and those that they need, in order."""
    if not names:
        return list(STEPS)
    wanted = {*NEEDED, *names}
    for step in STEPS:
        if step.name in names:
            wanted.update(step.needs)
    return [step for step in STEPS if step.name in wanted]


def run(step: Step) -> tuple[str, int]:
    """Log and exit status of a step, which is ended when its time is over."""
    path = LOGS / f"{step.name}.log"
    with path.open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            ["bash", *step.command],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait(step.seconds_max)
        except subprocess.TimeoutExpired:
            end(process)
            status = process.returncode
            log.write(f"\n{step.name} ran out of time ({step.seconds_max} s). See what hangs.\n")
    return path.read_text(encoding="utf-8", errors="replace"), status


def main(names: Sequence[str]) -> int:
    unknown = set(names) - {step.name for step in STEPS}
    if unknown:
        known = " ".join(step.name for step in STEPS)
        print(f"unknown step {' '.join(sorted(unknown))} (known: {known}). Name one of them.")
        return 2
    LOGS.mkdir(parents=True, exist_ok=True)
    total = Count()
    summary: list[str] = []
    for step in chosen(names):
        print(f"== {step.name}: {' '.join(step.command)}", flush=True)
        begin = time.monotonic()
        log, status = run(step)
        seconds = time.monotonic() - begin
        count = outcome_of(log, status)
        if status != 0:
            print("\n".join(log.splitlines()[-TAIL_LINES:]))
        line = f"{step.name:12} {seconds:6.0f} s  {'fine' if status == 0 else 'FAILED':6}  {count}"
        print(f"   {line}", flush=True)
        summary.append(line)
        total += count
        if step.name in NEEDED and status != 0:
            break
    print("\n" + "\n".join(summary) + "\n")
    print(total)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
