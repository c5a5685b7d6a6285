"""Runs the steps of `make test` or `make test-all` (--all), and prints for each its time and its
processor time, then the slowest tests, the failures, and the sum.

A step is a shell script beside this file. A failed step does not stop the others, so that one run
shows all failures; the exit status is then 1. Logs are left in build/ci. Integration tests, which
often wait, run beside the steps that compile, with higher priority: ranks that spin while they wait
for each other would otherwise take much longer.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ci.results import Count, Outcome, Result, count, read, said, slowest

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "build" / "ci"
TAIL_LINES = 60
GIVES_WAY = 10  # the nice value of steps that run beside the others
GRACE_SECONDS = 20
SLOWEST = 10
POLL_SECONDS = 0.1

IDLE_SLOWER = 6
"""By so much tests of an idle step have more time."""


@dataclass(frozen=True)
class Step:
    """A named command with a time limit. The steps in `needs` are run before it, since it uses what
    they build. Steps with `beside` run one after the other, in parallel with the rest, and at a
    lower priority; with `idle`, only where a processor would be idle otherwise."""

    name: str
    command: Sequence[str]
    seconds_max: int
    needs: Sequence[str] = ()
    beside: bool = False
    idle: bool = False


# The steps that all others need.
NEEDED = ("packages", "venv")
BEGIN = (
    Step("packages", ("tools/ci/packages.sh", "test"), 1200),
    Step("venv", ("tools/ci/venv.sh", "test"), 900),
    Step("release", ("tools/ci/release.sh",), 1200),
    Step("checks", ("tools/ci/checks.sh",), 900, needs=("release",)),
    Step("python", ("tools/ci/python.sh",), 900, needs=("release",)),
    Step("install", ("tools/ci/install.sh",), 1500, needs=("release",)),
    Step("demo", ("tools/demo.sh", "--pairs", "1", "--pool-pairs", "1"), 600, needs=("release",)),
)
INTERPOSER = Step("interposer", ("tools/ci/interposer_asan.sh",), 1800, beside=True)
# Steps that `make test` leaves out or replaces: docs/testing.md.
TEST = (
    *BEGIN,
    Step("integration", ("tools/ci/integration.sh",), 2700, needs=("release",)),
    Step("unit", ("tools/ci/unit.sh", "asan"), 2700, beside=True),
    INTERPOSER,
    Step("sim", ("tools/ci/sim.sh",), 1800, needs=("release",), beside=True),
)
TEST_ALL = (
    *BEGIN,
    Step("docs", ("tools/ci/docs.sh",), 900, needs=("release",)),
    Step("trial", ("tests/trial.sh", "build/release"), 1200, needs=("release",)),
    Step("wheel", ("tools/ci/wheel.sh",), 1500, needs=("release",)),
    Step("systems", ("tools/ci/systems.sh",), 1800, needs=("release", "wheel")),
    Step("debian", ("tools/ci/debian.sh",), 1800, needs=("release",)),
    Step("recipes", ("tools/ci/recipes.sh",), 900),
    Step("libcs", ("tools/ci/libcs.sh",), 900, needs=("release",)),
    Step("cpp-libraries", ("tools/ci/cpp_libraries.sh",), 900, needs=("release",)),
    Step("standard-abi", ("tools/ci/standard_abi.sh",), 1800, needs=("release",)),
    Step("integration", ("tools/ci/integration.sh", "all"), 5400, needs=("release",)),
    Step("storm", ("tools/ci/storm.sh",), 1800, needs=("release",)),
    Step("slurm", ("tools/ci/slurm.sh",), 2700, needs=("release",)),
    Step("cephfs", ("tools/ci/cephfs.sh",), 1800, needs=("release",)),
    Step("unit", ("tools/ci/unit.sh", "asan", "all"), 7200, beside=True, idle=True),
    replace(INTERPOSER, idle=True),
    Step("tsan", ("tools/ci/unit.sh", "tsan"), 7200, beside=True, idle=True),
    Step(
        "pool-sanitized",
        ("tools/ci/pool_sanitized.sh",),
        3600,
        needs=("release",),
        beside=True,
        idle=True,
    ),
    Step("fuzz", ("tools/ci/fuzz.sh",), 1200, beside=True, idle=True),
    Step("memory-order", ("tools/ci/memory_order.sh",), 900, beside=True, idle=True),
    Step("aarch64", ("tools/ci/aarch64.sh",), 3600, beside=True, idle=True),
    Step("sim", ("tools/ci/sim.sh", "all"), 5400, needs=("release",), beside=True, idle=True),
    Step("tidy", ("tools/ci/tidy.sh",), 3600, needs=("release",), beside=True, idle=True),
)


def outcome_of(log: str, results: Sequence[Result], status: int) -> Count:
    """The count of a step: that of its results, or else of the lines in its log. A step without any
    count is one test, and a failed step has at least one failure."""
    found = count(results) if results else said(log)
    if status != 0 and found.failed == 0:
        return found + Count(failed=1)
    if status == 0 and found == Count():
        return Count(passed=1)
    return found


def processor_seconds(process: subprocess.Popen[bytes], seconds_max: float) -> float:
    """Waits for the end of a process without reaping it (the caller reads its status). Returns the
    processor time in seconds of the process and of all children that it has waited for. Raises
    TimeoutExpired if the process still runs after `seconds_max`."""
    until = time.monotonic() + seconds_max
    try:
        while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            if time.monotonic() > until:
                raise subprocess.TimeoutExpired(process.args, seconds_max)
            time.sleep(POLL_SECONDS)
        # proc_pid_stat(5): utime, stime, cutime and cstime are the 14th to the 17th field.
        behind_the_name = Path(f"/proc/{process.pid}/stat").read_text("ascii").rpartition(")")[2]
    except (ChildProcessError, FileNotFoundError):  # another thread has reaped it
        return 0.0
    return sum(map(int, behind_the_name.split()[11:15])) / os.sysconf("SC_CLK_TCK")


def give_way(process: subprocess.Popen[bytes]) -> None:
    """Lowers the priority of a step that runs beside others. If the kernel groups processes by
    session (autogroup), only the session's nice value counts; otherwise that of the processes."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PGRP, process.pid, GIVES_WAY)
    with contextlib.suppress(OSError):
        Path(f"/proc/{process.pid}/autogroup").write_text(f"{GIVES_WAY}\n", encoding="ascii")


def stand_back(process: subprocess.Popen[bytes]) -> None:
    """Lets a step that has just begun, and what it starts, run only where a processor would be idle
    otherwise. (At a low priority, it would still take turns with ranks that wait for each other,
    and all of them would spin meanwhile: with it, these tests take a quarter of the time.)"""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(process.pid, os.SCHED_IDLE, os.sched_param(0))


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a step's processes: SIGTERM first, so that it can clean up, then SIGKILL."""
    with contextlib.suppress(ProcessLookupError):  # the step has just ended
        os.killpg(process.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE_SECONDS)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def chosen(steps: Sequence[Step], names: Sequence[str]) -> list[Step]:
    """The steps of these names and those that they need, in order; all steps if there are none."""
    if not names:
        return list(steps)
    wanted = {*NEEDED, *names}
    for step in steps:
        if step.name in names:
            wanted.update(step.needs)
    return [step for step in steps if step.name in wanted]


@dataclass(frozen=True)
class Ended:
    """The result of a step: its log, the results of its tests, its exit status, and the processor
    time that it took, in seconds."""

    log: str
    found: list[Result]
    status: int
    processor: float


class Runs:
    """The steps that are running. `stop` ends them and lets no other one begin."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = False

    def run(self, step: Step) -> Ended:
        """Runs a step to its end or its time limit."""
        path, left = LOGS / f"{step.name}.log", LOGS / step.name
        shutil.rmtree(left, ignore_errors=True)
        left.mkdir(parents=True)
        with path.open("w", encoding="utf-8") as log:
            process = self._begin(step, log, left)
            processor = 0.0
            try:
                processor = processor_seconds(process, step.seconds_max)
                status = process.wait()
            except subprocess.TimeoutExpired:
                end(process)
                status = process.returncode or 1
                log.write(
                    f"\n{step.name} ran out of time ({step.seconds_max} s). See what hangs.\n"
                )
            except BaseException:  # this program is being stopped, so end its child, too
                end(process)
                raise
            finally:
                with self._lock:
                    self._running.discard(process)
        text = path.read_text(encoding="utf-8", errors="replace")
        return Ended(text, read(left), status, processor)

    def _begin(self, step: Step, log: TextIO, left: Path) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._stopped:
                raise KeyboardInterrupt
            process = subprocess.Popen(
                ["bash", *step.command],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={
                    **os.environ,
                    "FOREBAY_RESULTS": str(left),
                    "FOREBAY_TESTS_SLOWER": str(IDLE_SLOWER if step.idle else 1),
                },
            )
            self._running.add(process)
        if step.beside:
            give_way(process)
        if step.idle:
            stand_back(process)
        return process

    def stop(self) -> None:
        """Ends all running steps."""
        with self._lock:
            self._stopped = True
            running = set(self._running)
        for process in running:
            end(process)


class Report:
    """The results of all steps that have ended."""

    def __init__(self) -> None:
        self.total = Count()
        self.lines: list[str] = []
        self.results: list[Result] = []
        self._lock = threading.Lock()

    def add(self, step: Step, seconds: float, ended: Ended) -> None:
        """Adds and prints the result of a step; if it failed, with the end of its log."""
        outcome = outcome_of(ended.log, ended.found, ended.status)
        word = "FAILED" if outcome.failed else "fine"
        busy = f"({ended.processor:5.0f} s of processor)"
        line = f"{step.name:14} {seconds:6.0f} s {busy}  {word:6}  {outcome}"
        with self._lock:
            if ended.status != 0:
                print("\n".join(ended.log.splitlines()[-TAIL_LINES:]))
            print(f"   {line}", flush=True)
            self.lines.append(line)
            self.results += ended.found
            self.total += outcome


def run_in_turn(steps: Iterable[Step], runs: Runs, report: Report) -> bool:
    """Runs the steps one after the other. Returns False if one that all need has failed."""
    for step in steps:
        print(f"== {step.name}: {' '.join(step.command)}", flush=True)
        begin = time.monotonic()
        ended = runs.run(step)
        report.add(step, time.monotonic() - begin, ended)
        if step.name in NEEDED and ended.status != 0:
            return False
    return True


def run_all(steps: Sequence[Step], report: Report) -> None:
    """Runs the steps: first those that others need, then the rest in two parallel sequences."""
    runs = Runs()
    needed = {*NEEDED, *(name for step in steps for name in step.needs)}
    if not run_in_turn([step for step in steps if step.name in needed], runs, report):
        return
    rest = [step for step in steps if step.name not in needed]
    turns = [[step for step in rest if step.beside == beside] for beside in (False, True)]
    with ThreadPoolExecutor(len(turns)) as threads:
        try:
            for turn in [threads.submit(run_in_turn, turn, runs, report) for turn in turns]:
                turn.result()
        except BaseException:  # this program is being stopped
            runs.stop()
            raise


def summary(lines: Sequence[str], results: Sequence[Result], total: Count) -> str:
    """The summary at the end of a run."""
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
    report = Report()
    run_all(chosen(steps, names), report)
    print(summary(report.lines, report.results, report.total))
    return 1 if report.total.failed else 0


def stopped(number: int, _: object) -> None:
    """The handler of SIGTERM: raises SystemExit, so that running steps are cleaned up."""
    sys.exit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, stopped)
    sys.exit(main(sys.argv[1:]))
