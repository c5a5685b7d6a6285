"""Use case: run a program without and with Forebay, and compare its files and its times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from forebay.common.model.errors import StoppedError, UsageError
from forebay.common.model.frozen import frozen
from forebay.common.model.launcher import PRELOAD_VARIABLE
from forebay.pool.model.place import LIBRARY_PREFIX
from forebay.pool.use_case.ports import Progress
from forebay.ports import Captured, Finished, Hook, Processes, RunWorld
from forebay.run.model import (
    DIFFERENT,
    FileDifference,
    RunPair,
    RunSide,
    WrittenFiles,
    is_cheap,
    run_order,
    unexplained,
)
from forebay.run.use_case.run_plan import RunPlan, RunRequest, plan_run
from forebay.run.use_case.run_program import carry_out
from forebay.run.use_case.run_report import RunReport
from forebay.settings.model.given import RECORD_VARIABLE, SETTINGS_VARIABLE

_STOPPED = 128 + 15


class RunFolders(Protocol):
    """The folders in which the runs leave their files. Names of runs are chosen by the caller."""

    @property
    def run_folder(self) -> Path:
        """The working directory of each run."""

    def begin_run(self) -> None:
        """Puts the files in place that the program finds. Raises ForebayError if that fails."""

    def end_run(self, name: str) -> WrittenFiles:
        """Puts aside what the run has left, and says what it wrote."""

    def differences(self, first: str, other: str) -> Sequence[FileDifference]:
        """The differences between what two runs have left."""

    def discard(self, name: str) -> None:
        """Removes what a run has left."""

    def keep(self) -> Path:
        """Keeps what is there now beyond the end, and returns the folder in which it is."""


@frozen
class RunFailure:
    """A run after which there were no more."""

    side: RunSide
    status: int


@frozen
class RunComparison:
    """The outcome of a comparison. `reports` are those of the runs with Forebay; `own` are the
    differences between runs without Forebay, None if no two of these were compared."""

    pairs: tuple[RunPair, ...]
    reports: tuple[RunReport, ...]
    written: WrittenFiles
    differences: tuple[FileDifference, ...]
    own: tuple[FileDifference, ...] | None = None
    failure: RunFailure | None = None
    plain_succeeded: bool = True
    """Whether a run without Forebay ended with 0."""
    kept: Path | None = None
    """The folder in which the runs' files are, if they differ or did not arrive."""

    @property
    def unexplained(self) -> tuple[FileDifference, ...]:
        """The differences that the program does not make by itself, as far as that is known."""
        return unexplained(self.differences, self.own)

    @property
    def status(self) -> int:
        """The exit status."""
        if self.failure is not None:
            return self.failure.status
        return DIFFERENT if self.unexplained else 0


def check_comparison(
    request: RunRequest, world: RunWorld, *, output: Path | None
) -> tuple[str, ...]:
    """Raises an error if the runs cannot be compared; nothing is started. Returns warnings, some of
    which are given only once. `output` is the folder that is moved aside, None if the program is to
    run in copies of the working folder."""
    folder = world.folder.resolve()
    if output is None:
        _check_pool(request.pool, folder)
        _check_words(request.command, folder, world)
    elif request.record is not None and _real(folder, request.record).is_relative_to(output):
        raise UsageError(
            f"cannot write the record {request.record} (it is in {output}, which is put back as "
            "it was). Name a file elsewhere."
        )
    plan = plan_run(request, world)
    _discard_plan(plan, world)
    if plan.inside is not None:
        raise UsageError(f"cannot compare here ({plan.inside.rstrip('.')}).")
    if not plan.is_enabled:
        raise UsageError(
            "cannot compare (Forebay is switched off by the setting `enabled = false`). "
            "Switch it on: --set enabled=true"
        )
    return plan.warnings


def _discard_plan(plan: RunPlan, world: RunWorld) -> None:
    if not plan.record_is_kept:
        world.records.remove(plan.record)
    if plan.pool is not None:
        world.pools.remove_room(plan.pool.socket)


def _check_pool(pool: Sequence[Path], folder: Path) -> None:
    for path in pool:
        real = _real(folder, path)
        if not (real.is_relative_to(folder) or folder.is_relative_to(real)):
            raise UsageError(
                f"cannot tell where the program writes ({path} is not in the folder that you are "
                f"in, which is copied for each run). Name it: --output-dir {path}"
            )
        if real.exists() and real.stat().st_dev != folder.stat().st_dev:
            raise UsageError(
                f"cannot compare in copies of the folder that you are in ({path} is on another "
                f"file system). Name it: --output-dir {path}"
            )


def _check_words(words: Sequence[str], folder: Path, world: RunWorld) -> None:
    """Raises UsageError if a word names something that a run in a copy would not have: a file of
    the working folder by its full name, which all runs would write to, or one above it."""
    for word in words:
        value = word.partition("=")[2] or word
        leads_out = value == ".." or value.startswith("../")
        if (leads_out or f"{folder}/" in word) and world.programs.locate(word) is None:
            raise UsageError(
                f"cannot run the program in copies of the folder that you are in ({word} would "
                "not be in the copy). Let it run here, and name the folder that it writes to: "
                "--output-dir ."
            )


def _real(folder: Path, path: Path) -> Path:
    return (folder / path).resolve()


def request_in(run_folder: Path, request: RunRequest, world: RunWorld) -> RunRequest:
    """The request for a run in `run_folder`, which is the working folder itself or has its copy.
    What the user named stays the same file; only the pool's paths go with the program."""
    folder = world.folder.resolve()
    settings = request.settings_file or world.environment.get(SETTINGS_VARIABLE)
    record = request.record or world.environment.get(RECORD_VARIABLE)
    moves = run_folder != folder

    def moved(path: Path) -> Path:
        real = _real(folder, path)
        if not moves:
            return real
        return run_folder / real.relative_to(folder) if real.is_relative_to(folder) else run_folder

    return replace(
        request,
        command=_command_in(request.command, folder, world) if moves else request.command,
        settings_file=world.folder / settings if settings else None,
        record=world.folder / record if record else None,
        summary=None,
        pool=tuple(moved(path) for path in request.pool),
    )


def _command_in(words: Sequence[str], folder: Path, world: RunWorld) -> tuple[str, ...]:
    """The words with the full names of programs that are named by a way out of the folder."""
    return tuple(
        str(_real(folder, Path(word)))
        if word.startswith("../") and world.programs.locate(word) is not None
        else word
        for word in words
    )


def environment_without(environment: Mapping[str, str]) -> Mapping[str, str]:
    """The environment of the run without Forebay: whoever uses it always has it preloaded."""
    preloaded = environment.get(PRELOAD_VARIABLE)
    if preloaded is None:
        return environment
    others = [
        one
        for one in preloaded.replace(" ", ":").split(":")
        if one and not Path(one).name.startswith(LIBRARY_PREFIX)
    ]
    return {**environment, PRELOAD_VARIABLE: ":".join(others)}


def compare_runs(
    request: RunRequest,
    world: RunWorld,
    folders: RunFolders,
    *,
    pairs: int,
    told: Callable[[int, RunSide], None],
    progress: Progress | None = None,
) -> RunComparison:
    """Runs the pairs. `told` is called before each run with its number and side. Raises
    StoppedError if a signal announced the end of the job, and LaunchError or PoolStartError if the
    program could not be started."""
    course = _Course(request, world, folders, told, progress)
    for order in run_order(pairs, seed=pairs):
        if not course.run_pair(order):
            break
    return course.outcome()


class _Course:
    """The course of a comparison so far."""

    def __init__(
        self,
        request: RunRequest,
        world: RunWorld,
        folders: RunFolders,
        told: Callable[[int, RunSide], None],
        progress: Progress | None,
    ) -> None:
        run_folder = folders.run_folder
        environment = {**world.environment, "PWD": str(run_folder)}
        self._processes = _Listening(world.processes)
        self._request = request_in(run_folder, request, world)
        self._world = replace(
            world, processes=self._processes, environment=environment, folder=run_folder
        )
        self._folders, self._told, self._progress = folders, told, progress
        self._number = 0
        self._first: str | None = None
        self._written = WrittenFiles(files=0, bytes=0)
        self._pairs: list[RunPair] = []
        self._reports: list[RunReport] = []
        self._differences: dict[str, FileDifference] = {}
        self._own: dict[str, FileDifference] | None = None
        self._failure: RunFailure | None = None
        self._plain_succeeded = False
        self._kept: Path | None = None

    def run_pair(self, order: tuple[RunSide, RunSide]) -> bool:
        """Runs a pair, and compares its files; False if a run failed."""
        seconds, names = {}, {}
        for side in order:
            names[side], seconds[side] = self._run(side)
            if self._failure is not None:
                return False
        self._pairs.append(
            RunPair(
                first=order[0],
                plain_seconds=seconds[RunSide.PLAIN],
                forebay_seconds=seconds[RunSide.FOREBAY],
            )
        )
        self._compare_plain(names[RunSide.PLAIN])
        found = self._folders.differences(str(self._first), names[RunSide.FOREBAY])
        if all(one.name in self._differences for one in found):
            self._folders.discard(names[RunSide.FOREBAY])
        self._differences = {**{one.name: one for one in found}, **self._differences}
        return True

    def _compare_plain(self, name: str) -> None:
        if self._first is None:
            self._first = name
            return
        found = self._folders.differences(self._first, name)
        self._own = {**(self._own or {}), **{one.name: one for one in found}}
        self._folders.discard(name)

    def _run(self, side: RunSide) -> tuple[str, float]:
        """Runs the program; returns the name of the run and its seconds."""
        self._number += 1
        name = f"{self._number}-{side.value}"
        self._folders.begin_run()
        self._told(self._number, side)
        status, seconds = self._run_plain() if side is RunSide.PLAIN else self._run_forebay()
        written = self._folders.end_run(name)
        self._processes.check()
        if status:
            self._failure = RunFailure(side=side, status=status)
        elif side is RunSide.PLAIN:
            self._written, self._plain_succeeded = written, True
        return name, seconds

    def _run_plain(self) -> tuple[int, float]:
        finished = self._world.processes.run(
            self._request.command, environment=environment_without(self._world.environment)
        )
        return finished.status, finished.seconds

    def _run_forebay(self) -> tuple[int, float]:
        plan = plan_run(self._request, self._world)
        report = carry_out(plan, self._world, progress=self._progress)
        self._reports.append(report)
        if report.pool is not None and not report.pool.end.arrived:
            self._kept = self._folders.keep()
        return report.status, report.seconds

    def outcome(self) -> RunComparison:
        """The outcome of all pairs so far. If files differ and that costs little, the program is
        run once more without Forebay, to see whether they do so by themselves."""
        is_open = bool(self._differences) and self._own is None and self._failure is None
        if is_open and is_cheap(self._pairs):
            name, _ = self._run(RunSide.PLAIN)
            if self._failure is None:
                self._compare_plain(name)
        own = None if self._own is None else tuple(self._own.values())
        if unexplained(self._differences.values(), own):
            self._kept = self._folders.keep()
        return RunComparison(
            pairs=tuple(self._pairs),
            reports=tuple(self._reports),
            written=self._written,
            differences=tuple(self._differences.values()),
            own=own,
            failure=self._failure,
            plain_succeeded=self._plain_succeeded,
            kept=self._kept,
        )


class _Listening:
    """Processes that remember whether a signal announced the end of the batch job: the program may
    end with 0 at it."""

    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self._is_ending = False

    def run(
        self,
        words: Sequence[str],
        *,
        environment: Mapping[str, str],
        started: Hook = None,
        job_ending: Hook = None,
    ) -> Finished:
        """As the port says."""

        def ending() -> None:
            self._is_ending = True
            if job_ending is not None:
                job_ending()

        return self._processes.run(
            words, environment=environment, started=started, job_ending=ending
        )

    def capture(
        self, words: Sequence[str], *, environment: Mapping[str, str], seconds_max: float
    ) -> Captured:
        """As the port says."""
        return self._processes.capture(words, environment=environment, seconds_max=seconds_max)

    def check(self) -> None:
        """Raises StoppedError if the job is about to end."""
        if self._is_ending:
            raise StoppedError(
                "the comparison was stopped by a signal (everything is as it was before). "
                "Start it again.",
                exit_code=_STOPPED,
            )
