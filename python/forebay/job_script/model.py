"""A batch job as a value: what it asks of the batch system, and the steps that it runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from pathlib import PurePath

from forebay.common.model.errors import UsageError
from forebay.common.model.frozen import frozen
from forebay.common.model.known_launchers import Flavour
from forebay.common.model.launcher import (
    find_launcher,
    find_programs,
    flavour_of_name,
    starts_others,
)

TASK = "{task}"
"""Stands for the number of the task of an array job in words of the user."""

_TIME = re.compile(r"([0-9]{1,4}):([0-5][0-9]):([0-5][0-9])")
_SIGNAL = re.compile(r"(USR1|USR2|TERM)@([1-9][0-9]{0,4})")
_SIGNAL_SECONDS_MAX = 65535
"""The most that Slurm takes."""
_ARRAY = re.compile(r"([0-9]+)-([0-9]+)(%[1-9][0-9]*)?")
_UNSUITED = re.compile(r"[^A-Za-z0-9_.-]")
_NAME_MAX = 64
_PBS_NAME_MAX = 15
"""The longest name of a job that every PBS takes."""


class BatchSystem(Enum):
    """The batch systems for which scripts are written."""

    SLURM = "slurm"
    PBS = "pbs"
    LSF = "lsf"


@frozen
class EndSignal:
    """A signal, without SIG, that the batch system sends `seconds` before the end of the job."""

    name: str
    seconds: int


@frozen
class BatchJob:
    """A job. `tasks` are those of one node, `seconds` its time limit. `pool` are the paths of the
    pool, none for a job without. `array` is the range of an array job's tasks. `settings` are
    Forebay's, as KEY=VALUE. `record` is the file of the record, if it is kept."""

    system: BatchSystem
    name: str
    steps: tuple[tuple[str, ...], ...]
    nodes: int = 1
    tasks: int = 1
    seconds: int = 3600
    pool: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    signal: EndSignal | None = None
    array: str | None = None
    record: str | None = None

    @property
    def ranks(self) -> int:
        """The tasks of all nodes together."""
        return self.nodes * self.tasks

    @property
    def has_daemon_of_its_own(self) -> bool:
        """Whether one daemon serves all steps. `forebay pool start` starts it on one node only;
        on several nodes, each step has its own daemons."""
        return bool(self.pool) and len(self.steps) > 1 and self.nodes == 1


def seconds_of(text: str) -> int:
    """The seconds of a time limit such as 02:30:00. Raises UsageError."""
    found = _TIME.fullmatch(text)
    hours, minutes, seconds = (int(part) for part in found.groups()) if found else (0, 0, 0)
    total = 3600 * hours + 60 * minutes + seconds
    if total == 0:
        raise UsageError(
            f'cannot use --time "{text}" (it is not HOURS:MINUTES:SECONDS). '
            "Write --time 02:30:00 for two and a half hours."
        )
    return total


def time_text(seconds: int) -> str:
    """The time limit as Slurm and PBS read it."""
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def end_signal_of(text: str) -> EndSignal:
    """The signal in a text such as USR1@180. Raises UsageError."""
    found = _SIGNAL.fullmatch(text)
    if found is None or int(found[2]) > _SIGNAL_SECONDS_MAX:
        raise UsageError(
            f'cannot use --signal "{text}" (it is not NAME@SECONDS with a NAME of USR1, USR2 and '
            f"TERM, and at most {_SIGNAL_SECONDS_MAX} seconds). Write --signal USR1@180."
        )
    return EndSignal(name=found[1], seconds=int(found[2]))


def array_of(text: str) -> str:
    """A range of tasks that all batch systems understand. Raises UsageError."""
    found = _ARRAY.fullmatch(text)
    if found and int(found[1]) > int(found[2]):
        raise UsageError(
            f'cannot use --array "{text}" (it ends before it begins). '
            f"Write --array {found[2]}-{found[1]}."
        )
    if not found:
        raise UsageError(
            f'cannot use --array "{text}" (it is not FIRST-LAST). Write --array 1-100, or 1-100%4 '
            "where at most four tasks are to run at a time."
        )
    return text


def job_name(given: str | None, words: Sequence[str], system: BatchSystem) -> str:
    """The name of the job: the given one, else that of the program in `words`. Characters that a
    batch system might misread become underscores: in a directive, a newline would begin a
    command."""
    name = _UNSUITED.sub("_", PurePath(_program_of(words)).name if given is None else given)
    longest = _PBS_NAME_MAX if system is BatchSystem.PBS else _NAME_MAX
    return name.lstrip("-.")[:longest] or "job"


def _program_of(words: Sequence[str]) -> str:
    at = find_launcher(words)
    if at is None:
        return words[0]
    found = find_programs(
        words,
        launcher=at,
        flavour=flavour_of_name(PurePath(words[at]).name) or Flavour.OTHER,
        is_program=lambda _: True,
    )
    return words[found[0]] if found else ""


def launched(words: Sequence[str], *, system: BatchSystem, ranks: int) -> tuple[str, ...]:
    """The words with a launcher in front, if there are several ranks and `words` starts none. A
    shell or a wrapper such as `env` is left alone, since it may start one itself."""
    if ranks == 1 or find_launcher(words) is not None or starts_others(words):
        return tuple(words)
    if system is BatchSystem.SLURM:
        return ("srun", *words)
    return ("mpiexec", "-n", str(ranks), *words)
