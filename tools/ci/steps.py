"""Runs the steps of `make test` or `make test-all` (--all), each to its end, and says then how long
each took, which tests were the slowest, what failed, and the sum.

A step is a shell script beside this file. It goes on after a failed step, so that one run shows
everything; the exit status is 1 when anything failed. Logs are left in build/ci.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ci.results import Count, Outcome, Result, count, read, said, slowest

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "build" / "ci"
TAIL_LINES = 60
GRACE_SECONDS = 20
SLOWEST = 10


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
BEGIN = (
    Step("packages", ("tools/ci/packages.sh", "test"), 1200),
    Step("venv", ("tools/ci/venv.sh", "test"), 900),
    Step("release", ("tools/ci/build.sh", "release"), 1200),
    Step("checks", ("tools/ci/checks.sh",), 900, needs=("release",)),
    Step("python", ("tools/ci/python.sh",), 900, needs=("release",)),
    Step("install", ("tools/ci/install.sh",), 1500, needs=("release",)),
    Step("demo", ("tools/demo.sh", "--pairs", "1", "--pool-pairs", "1"), 600, needs=("release",)),
)
INTERPOSER = Step("interposer", ("tools/ci/interposer_asan.sh",), 900)
SIM = Step("sim", ("tools/ci/sim.sh",), 900)
# What `make test` leaves out, and what proves the same there: docs/testing.md.
TEST = (
    *BEGIN,
    Step("integration", ("tools/ci/integration.sh",), 1800, needs=("release",)),
    Step("unit", ("tools/ci/unit.sh", "asan"), 1800),
    INTERPOSER,
    SIM,
)
TEST_ALL = (
    *BEGIN,
    Step("trial", ("tests/trial.sh", "build/release"), 1200, needs=("release",)),
    Step("wheel", ("tools/ci/wheel.sh",), 1500, needs=("release",)),
    Step("integration", ("tools/ci/integration.sh", "all"), 5400, needs=("release",)),
    Step("cephfs", ("tools/ci/cephfs.sh",), 900, needs=("release",)),
    Step("unit", ("tools/ci/unit.sh", "asan", "all"), 3600),
    INTERPOSER,
    Step("tsan", ("tools/ci/unit.sh", "tsan", "all"), 7200),
    Step("pool-sanitized", ("tools/ci/pool_sanitized.sh",), 3600, needs=("release",)),
    Step("fuzz", ("tools/ci/fuzz.sh",), 1200),
    SIM,
    Step("tidy", ("tools/ci/tidy.sh",), 3600, needs=("release",)),
)


def outcome_of(log: str, results: Sequence[Result], status: int) -> Count:
    """The count of a step: of the results that it left, or else of what it says. A step that counts
    nothing is one test; a failed one failed at least one."""
    found = count(results) if results else said(log)
    if status != 0 and found.failed == 0:
        return found + Count(failed=1)
    if status == 0 and found == Count():
        return Count(passed=1)
    return found


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a step's processes; asked first, so that it takes down what it has set up."""
    os.killpg(process.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE_SECONDS)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def chosen(steps: Sequence[Step], names: Sequence[str]) -> list[Step]:
    """The steps of these names (all, where there are none) and those that they need, in order."""
    if not names:
        return list(steps)
    wanted = {*NEEDED, *names}
    for step in steps:
        if step.name in names:
            wanted.update(step.needs)
    return [step for step in steps if step.name in wanted]


def run(step: Step) -> tuple[str, list[Result], int]:
    """Log, results and exit status of a step, which is ended when its time is over."""
    path, left = LOGS / f"{step.name}.log", LOGS / step.name
    shutil.rmtree(left, ignore_errors=True)
    left.mkdir(parents=True)
    with path.open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            ["bash", *step.command],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, "FOREBAY_RESULTS": str(left)},
        )
        try:
            status = process.wait(step.seconds_max)
        except subprocess.TimeoutExpired:
            end(process)
            status = process.returncode or 1
            log.write(f"\n{step.name} ran out of time ({step.seconds_max} s). See what hangs.\n")
        except BaseException:  # we are stopped: so is what we started
            end(process)
            raise
    return path.read_text(encoding="utf-8", errors="replace"), read(left), status


def summary(lines: Sequence[str], results: Sequence[Result], total: Count) -> str:
    """What the end of a run says."""
    parts = ["", *lines, ""]
    if results:
        parts += ["the slowest tests:", *slowest(results, SLOWEST), ""]
    failed = [result.name for result in results if result.outcome is Outcome.FAILED]
    if failed:
        parts += ["failed:", *(f"  {name}" for name in failed), ""]
    return "\n".join([*parts, str(total)])


def main(words: Sequence[str]) -> int:
    steps = TEST_ALL if "--all" in words else TEST
    names = [word for word in words if word != "--all"]
    unknown = set(names) - {step.name for step in steps}
    if unknown:
        known = " ".join(step.name for step in steps)
        print(f"unknown step {' '.join(sorted(unknown))} (known: {known}). Name one of them.")
        return 2
    LOGS.mkdir(parents=True, exist_ok=True)
    total = Count()
    lines: list[str] = []
    results: list[Result] = []
    for step in chosen(steps, names):
        print(f"== {step.name}: {' '.join(step.command)}", flush=True)
        begin = time.monotonic()
        log, found, status = run(step)
        seconds = time.monotonic() - begin
        outcome = outcome_of(log, found, status)
        if status != 0:
            print("\n".join(log.splitlines()[-TAIL_LINES:]))
        word = "FAILED" if outcome.failed else "fine"
        line = f"{step.name:14} {seconds:6.0f} s  {word:6}  {outcome}"
        print(f"   {line}", flush=True)
        lines.append(line)
        results += found
        total += outcome
        if step.name in NEEDED and status != 0:
            break
    print(summary(lines, results, total))
    return 1 if total.failed else 0


def stopped(number: int, _: object) -> None:
    """Ends this program, by way of what its steps clean up."""
    sys.exit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, stopped)
    sys.exit(main(sys.argv[1:]))
