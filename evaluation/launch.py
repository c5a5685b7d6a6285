"""One launch: the command line for a case in a stack, its time limit, and its output as a sample.
The ranks end themselves by alarm(2), so that none is left if the launcher dies."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from evaluation.model import (
    BenchError,
    Case,
    Limit,
    Outcome,
    Repetition,
    Sample,
    Stack,
    StorageKind,
)
from evaluation.mpis import BuiltMpi
from forebay.common.files.decoding import decoded
from forebay.common.model.frozen import frozen
from forebay.common.model.launcher import start

PATIENCE_SECONDS = 15
"""Seconds that a launcher may need after its ranks' own time limit."""


@frozen
class Bench:
    """The programs, folders and preloaded library that every launch needs."""

    mpis: Mapping[str, BuiltMpi]
    limits_program: Path
    folders: Mapping[StorageKind, Path]
    library: Path | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    """FOREBAY_* variables, which only the Forebay stacks get."""
    kept: Path | None = None
    """A file that writes keep and reads reuse; None for a fresh file in each launch."""

    def measure(self, *, case: Case, stack: Stack, block: int) -> Sample:
        """Runs one launch. A failure is the sample's outcome, not an exception."""
        if case.storage is StorageKind.DISK:
            os.sync()  # so that this launch does not pay for older dirty pages
        scratch = Path(tempfile.mkdtemp(prefix="forebay-bench-", dir=self.folders[case.storage]))
        told = Path(tempfile.mkdtemp(prefix="forebay-bench-"))  # outside the pool: read at once
        load, start = os.getloadavg()[0], time.monotonic()
        try:
            output = told / "measured.jsonl"
            ended = _run(
                self.command(case=case, stack=stack, scratch=scratch, output=output),
                environment=self._environment(),
                seconds_max=case.seconds_max + PATIENCE_SECONDS,
            )
            seconds = time.monotonic() - start
            return _sample(
                case=case,
                stack=stack,
                block=block,
                load=load,
                seconds=seconds,
                ended=ended,
                text=output.read_text() if output.exists() else "",
            )
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
            shutil.rmtree(told, ignore_errors=True)

    def command(self, *, case: Case, stack: Stack, scratch: Path, output: Path) -> list[str]:
        """The whole command line, beginning with the launcher."""
        mpi = self.mpis[stack.mpi.name]
        command = start(
            str(mpi.launcher),
            flavour=stack.mpi.family.flavour,
            ranks=case.ranks,
            root=os.geteuid() == 0,
            variables=self._forwarded(stack),
            parameters=stack.mca,
        )
        program = [str(mpi.patterns), *pattern_arguments(case, stack)]
        path = [str(self.kept), "--keep"] if self.kept else [str(scratch / "file")]
        return [*command, *program, "--path", *path, "--output", str(output)]

    def limits(self, *, storage: StorageKind, block: int, total: int) -> tuple[Limit, ...]:
        """Measures the machine's present limits in the folder of that storage."""
        command = [str(self.limits_program), str(self.folders[storage]), str(total)]
        ended = _run(command, environment=dict(os.environ), seconds_max=300)
        if ended.status != 0:
            raise BenchError(
                f"limits failed ({ended.text.strip()}). Check space and rights in "
                f"{self.folders[storage]}."
            )
        return tuple(
            decoded(Limit, one, storage=storage, block=block) for one in json.loads(ended.text)
        )

    def _forwarded(self, stack: Stack) -> dict[str, str]:
        if not stack.forebay:
            return {}
        return {"LD_PRELOAD": str(self.library), **self.settings}

    def _environment(self) -> dict[str, str]:
        return {
            key: value
            for key, value in os.environ.items()
            if not key.startswith("FOREBAY_") and key != "LD_PRELOAD"
        }


def pattern_arguments(case: Case, stack: Stack) -> list[str]:
    """The arguments of `patterns` for the case, except file names."""
    arguments = ["--op", case.operation, "--region", str(case.region), "--total", str(case.total)]
    arguments += ["--gap", str(case.gap), "--memory", case.memory, "--view", case.view]
    arguments += ["--calls", str(case.calls), "--warm-up", str(case.warm_up)]
    arguments += ["--repetitions", str(case.repetitions), "--verify"]
    arguments += ["--seconds-max", str(case.seconds_max)]
    arguments += ["--nonblocking"] if case.nonblocking else []
    for hint in (*case.hints, *(hint for hint in stack.hints if hint not in case.hints)):
        arguments += ["--hint", hint]
    return [str(argument) for argument in arguments]


@frozen
class _Ended:
    status: int
    text: str
    late: bool


def _run(command: list[str], *, environment: dict[str, str], seconds_max: float) -> _Ended:
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
        late = False
        try:
            process.wait(timeout=seconds_max)
        except subprocess.TimeoutExpired:
            late = True
        finally:
            _end(process)
        out.seek(0)
        return _Ended(status=process.returncode, text=out.read(), late=late)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the launcher's process group: SIGTERM, then SIGKILL."""
    for signal_number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        os.killpg(process.pid, signal_number)
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            continue


def _sample(
    *,
    case: Case,
    stack: Stack,
    block: int,
    load: float,
    seconds: float,
    ended: _Ended,
    text: str,
) -> Sample:
    repetitions: list[Repetition] = []
    job: dict[str, Any] = {}
    for line in text.splitlines():
        try:
            record: dict[str, Any] = json.loads(line)
        except json.JSONDecodeError:
            break  # the program was killed while it wrote this line
        if record.get("kind") == "job":
            job = record
        else:
            repetitions.append(decoded(Repetition, record))
    outcome, message = _judged(
        case, stack, ended=ended, seconds=seconds, job=job, done=len(repetitions)
    )
    return Sample(
        case=case.name,
        stack=stack.name,
        block=block,
        load=load,
        seconds=seconds,
        outcome=outcome,
        message=message,
        library=str(job.get("library", "")),
        repetitions=tuple(repetitions),
    )


def _judged(
    case: Case, stack: Stack, *, ended: _Ended, seconds: float, job: dict[str, Any], done: int
) -> tuple[Outcome, str]:
    if ended.late or (ended.status != 0 and seconds >= case.seconds_max - 1):
        return Outcome.TIMEOUT, f"Not done after {case.seconds_max} s."
    if ended.status != 0 or done != case.warm_up + case.repetitions:
        return Outcome.FAILED, f"Exit status {ended.status}. {ended.text.strip()[-600:]}"
    if stack.forebay and not job.get("forebay", False):
        return Outcome.INACTIVE, "MPI_File_get_info shows no forebay_* key."
    return Outcome.OK, ""
