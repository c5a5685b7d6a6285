"""Runs the steps of `make test` or `make test-all` (--all), each to its end, and says then how long
each took (and how much processor time), which tests were the slowest, what failed, and the sum.

A step is a shell script beside this file. It goes on after a failed step, so that one run shows
everything; the exit status is 1 when anything failed. Logs are left in build/ci. Integration tests,
which often wait, run beside the steps that compile, and go first: beside these, ranks that spin for
each other take much longer.
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
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ci.results import Count, Outcome, Result, count, read, said, slowest

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "build" / "ci"
TAIL_LINES = 60
GIVES_WAY = 10  # nice, of what runs beside
GRACE_SECONDS = 20
SLOWEST = 10
POLL_SECONDS = 0.1


@dataclass(frozen=True)
class Step:
    """A named command with a limit of time. The steps that `needs` names are run with it, before
    it: it looks at what they build. Those that are `beside` run one after the other, beside the
    rest, which goes first."""

    name: str
    command: Sequence[str]
    seconds_max: int
    needs: Sequence[str] = ()
    beside: bool = False


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
INTERPOSER = Step("interposer", ("tools/ci/interposer_asan.sh",), 1800, beside=True)
# The steps that `make test` leaves out, and their substitutes there: docs/testing.md.
TEST = (
    *BEGIN,
    Step("integration", ("tools/ci/integration.sh",), 2700, needs=("release",)),
    Step("unit", ("tools/ci/unit.sh", "asan"), 2700, beside=True),
    INTERPOSER,
    Step("sim", ("tools/ci/sim.sh",), 1800, needs=("release",), beside=True),
)
TEST_ALL = (
    *BEGIN,
    Step("trial", ("tests/trial.sh", "build/release"), 1200, needs=("release",)),
    Step("wheel", ("tools/ci/wheel.sh",), 1500, needs=("release",)),
    Step("integration", ("tools/ci/integration.sh", "all"), 5400, needs=("release",)),
    Step("storm", ("tools/ci/storm.sh",), 1800, needs=("release",)),
    Step("slurm", ("tools/ci/slurm.sh",), 900, needs=("release",)),
    Step("cephfs", ("tools/ci/cephfs.sh",), 900, needs=("release",)),
    Step("unit", ("tools/ci/unit.sh", "asan", "all"), 5400, beside=True),
    INTERPOSER,
    Step("tsan", ("tools/ci/unit.sh", "tsan", "all"), 7200, beside=True),
    Step("pool-sanitized", ("tools/ci/pool_sanitized.sh",), 3600, needs=("release",), beside=True),
    Step("fuzz", ("tools/ci/fuzz.sh",), 1200, beside=True),
    Step("sim", ("tools/ci/sim.sh", "all"), 1800, needs=("release",), beside=True),
    Step("tidy", ("tools/ci/tidy.sh",), 3600, needs=("release",), beside=True),
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


def processor_seconds(process: subprocess.Popen[bytes], seconds_max: float) -> float:
    """Waits for the end of a process, and leaves its status to be fetched. Returns the processor
    time of it and of all processes that it has waited for, in seconds. TimeoutExpired: it still
    runs after `seconds_max`."""
    until = time.monotonic() + seconds_max
    try:
        while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            if time.monotonic() > until:
                raise subprocess.TimeoutExpired(process.args, seconds_max)
            time.sleep(POLL_SECONDS)
        # proc_pid_stat(5): utime, stime, cutime and cstime are the 14th to the 17th field.
        behind_the_name = Path(f"/proc/{process.pid}/stat").read_text("ascii").rpartition(")")[2]
    except (ChildProcessError, FileNotFoundError):  # another thread has ended it
        return 0.0
    return sum(map(int, behind_the_name.split()[11:15])) / os.sysconf("SC_CLK_TCK")


def give_way(process: subprocess.Popen[bytes]) -> None:
    """Lowers the priority of a step that runs beside others: it takes the time that they leave.
    Where sessions compete in the kernel, the session's priority counts; elsewhere, that of the
    processes."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PGRP, process.pid, GIVES_WAY)
    with contextlib.suppress(OSError):
        Path(f"/proc/{process.pid}/autogroup").write_text(f"{GIVES_WAY}\n", encoding="ascii")


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a step's processes; asked first, so that it takes down what it has set up."""
    with contextlib.suppress(ProcessLookupError):  # it has just ended
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


@dataclass(frozen=True)
class Ended:
    """What a step left: its log, the results of its tests, its exit status, and the processor time
    that it took, in seconds."""

    log: str
    found: list[Result]
    status: int
    processor: float


class Runs:
    """Steps that run, perhaps beside each other; `stop` ends them, and no other one begins."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = False

    def run(self, step: Step) -> Ended:
        """Runs a step to its end, or until its time is over."""
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
            except BaseException:  # we are stopped: so is what we started
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
                env={**os.environ, "FOREBAY_RESULTS": str(left)},
            )
            self._running.add(process)
        if step.beside:
            give_way(process)
        return process

    def stop(self) -> None:
        """Ends what runs."""
        with self._lock:
            self._stopped = True
            running = set(self._running)
        for process in running:
            end(process)


class Report:
    """The results of the steps that have ended."""

    def __init__(self) -> None:
        self.total = Count()
        self.lines: list[str] = []
        self.results: list[Result] = []
        self._lock = threading.Lock()

    def add(self, step: Step, seconds: float, ended: Ended) -> None:
        """Says how a step ended; of a failed one, also the end of its log."""
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
    """Whether what everything else needs is there."""
    for step in steps:
        print(f"== {step.name}: {' '.join(step.command)}", flush=True)
        begin = time.monotonic()
        ended = runs.run(step)
        report.add(step, time.monotonic() - begin, ended)
        if step.name in NEEDED and ended.status != 0:
            return False
    return True


def run_all(steps: Sequence[Step], report: Report) -> None:
    """Runs the steps, beside each other where they say so and what they need has run."""
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
        except BaseException:  # we are stopped
            runs.stop()
            raise


def summary(lines: Sequence[str], results: Sequence[Result], total: Count) -> str:
    """The text at the end of a run."""
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
    """Ends this program, by way of what its steps clean up."""
    sys.exit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, stopped)
    sys.exit(main(sys.argv[1:]))
