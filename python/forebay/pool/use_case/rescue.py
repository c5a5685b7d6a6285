"""Use case: writes the bytes in rescue files to the files that they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from forebay.common.model.errors import RescueError, UsageError
from forebay.common.model.frozen import frozen
from forebay.pool.model.rescue import FoundFile, RescueHead, RescueOutcome, RunAt, obstacle


class Rescues(Protocol):
    """The port to rescue files and to the files that their bytes belong to."""

    def files(self, path: Path) -> Sequence[Path]:
        """`path`, or the rescue files in that folder. Raises RescueError if there are none."""

    def head(self, file: Path) -> RescueHead:
        """The head of a rescue file. Raises RescueError if it is no rescue file, or damaged."""

    def runs(self, file: Path) -> tuple[Sequence[RunAt], str | None]:
        """The runs whose checksums are right, and a message about the others, or None."""

    def look(self, target: Path) -> FoundFile | None:
        """The file as it is now, or None if there is none."""

    def write(
        self,
        file: Path,
        runs: Sequence[RunAt],
        target: Path,
        *,
        found: FoundFile | None,
        modified_ns: int,
    ) -> None:
        """Writes the runs to `target` and syncs them, then sets its time of last modification.
        `target` must still be the file that was `found`, or be a new one if that is None. Raises
        RescueError if not all could be written."""

    def remove(self, file: Path) -> None:
        """Removes a rescue file, and its folder if that is empty then."""


@frozen
class RescueRequest:
    """The options of `forebay pool rescue`. `into` replaces the target that is named in the only
    rescue file."""

    paths: tuple[Path, ...]
    into: Path | None = None
    force: bool = False
    dry_run: bool = False


def rescue(request: RescueRequest, rescues: Rescues) -> tuple[RescueOutcome, ...]:
    """One outcome per rescue file. If it raises UsageError or RescueError, nothing was written."""
    files = list(dict.fromkeys(file for path in request.paths for file in rescues.files(path)))
    if request.into is not None and len(files) != 1:
        raise UsageError(
            f"cannot write {len(files)} rescue files into one (they are of several files). "
            "Name one with --into."
        )
    return tuple(_one(file, request, rescues) for file in files)


def _one(file: Path, request: RescueRequest, rescues: Rescues) -> RescueOutcome:
    try:
        head = rescues.head(file)
    except RescueError as error:
        return RescueOutcome(file=file, target="", bytes=0, problem=str(error))
    target = request.into or Path(head.path)
    outcome = RescueOutcome(file=file, target=str(target), bytes=head.bytes)
    found = rescues.look(target)
    problem = _problem(head, request, found)
    if problem is not None:
        return _failed(outcome, problem)
    runs, damage = rescues.runs(file)
    if damage is not None and not request.force:
        return _failed(
            outcome, f"{damage}. --force writes what is whole and keeps the rescue file."
        )
    written = sum(run.length for run in runs)
    if request.dry_run:
        return RescueOutcome(file=file, target=str(target), bytes=head.bytes, written=written)
    try:
        rescues.write(file, runs, target, found=found, modified_ns=head.kept_ns)
    except RescueError as error:
        return _failed(outcome, str(error))
    if damage is not None:
        return RescueOutcome(
            file=file, target=str(target), bytes=head.bytes, written=written, problem=damage
        )
    rescues.remove(file)
    return RescueOutcome(
        file=file, target=str(target), bytes=head.bytes, written=written, is_removed=True
    )


def _problem(head: RescueHead, request: RescueRequest, found: FoundFile | None) -> str | None:
    if request.into is None and not head.is_whole_path:
        return f"only the end of the file's long name is known (…{head.path}). Name it by --into."
    if request.force or request.into is not None:
        return None
    why = obstacle(head, found)
    return None if why is None else f"{why}. Look at it, and say --force if it is to be written."


def _failed(outcome: RescueOutcome, problem: str) -> RescueOutcome:
    return RescueOutcome(
        file=outcome.file, target=outcome.target, bytes=outcome.bytes, problem=problem
    )
