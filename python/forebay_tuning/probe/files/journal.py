"""A journal of the measured probes as JSON Lines, from which a killed probing is resumed."""

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Optional

from forebay.common.files.decoding import decoded
from forebay.common.files.safe_files import open_named, read_to_apply
from forebay.common.model.errors import ProbeError
from forebay.common.model.frozen import frozen
from forebay_tuning.model.point import COORDINATES, Point
from forebay_tuning.model.sample import NextProbe, Passage, Purpose, Sample
from forebay_tuning.probe.use_case.probe import ProbePlan

SCHEMA = "forebay.probe/1"


class ProbeJournal:
    """The port Journal, over a file. With `resume`, its probes count; otherwise the file must not
    exist."""

    def __init__(self, path: Path, *, folder: str, resume: bool) -> None:
        self._path = path
        self._folder = folder
        self._resume = resume
        self._past: list[tuple[Sample, float]] = []
        self._placed = False

    def past(self) -> Sequence[tuple[Sample, float]]:
        """The probes that were in the file."""
        return self._past

    def place(self, directory: Path, results: Sequence[Path] = ()) -> None:
        """Records where files will be created, before there are any. Raises ProbeError as `begin`
        does."""
        if is_blank(self._path):
            self._path.unlink(missing_ok=True)
        if self._path.exists():
            self._refuse_unless_resumed()
            return
        line = {
            "schema": SCHEMA,
            "kind": "place",
            "directory": str(directory),
            "folder": self._folder,
            "results": [str(one) for one in results],
        }
        self._append(line, fresh=True)
        self._placed = True

    def withdraw(self) -> None:
        """Removes the journal if `place` made it: nothing was begun, and no files are left."""
        if self._placed:
            self._path.unlink(missing_ok=True)

    def _refuse_unless_resumed(self) -> None:
        if not self._resume:
            raise ProbeError(
                f"there is a journal already ({self._path}: a probing that did not end). Say "
                "--resume to go on with it, or --clean to remove it and its files."
            )

    def begin(self, plan: ProbePlan) -> None:
        """Creates the file, or reads the probes in it. Raises ProbeError if it is of another
        plan."""
        header = {"schema": SCHEMA, "kind": "plan", "folder": self._folder, **_plan(plan)}
        if not self._path.exists():
            self._append(header, fresh=True)
            return
        if not self._placed:
            self._refuse_unless_resumed()
        lines = read_journal(self._path)
        if lines and lines[0]["kind"] == "place":
            del lines[0]
            if not lines:
                self._append(header)
                return
        if not lines or {**lines[0], "folder": ""} != {**header, "folder": ""}:
            raise ProbeError(
                f"cannot go on with the journal {self._path} (it belongs to another directory, "
                "level, budget or seed). Repeat the command that began it, or say --clean."
            )
        past = {
            int(line["number"]): (_sample(line), float(line["seconds"]))
            for line in lines
            if line["kind"] == "sample"
        }
        self._past = [past[number] for number in sorted(past)]
        # The cause of failures at the end may be gone by now, so those probes are repeated.
        while self._past and self._past[-1][0].discarded:
            self._past.pop()

    def asked(self, number: int, ask: NextProbe) -> None:
        """Records a probe that is about to be made."""
        self._append({"kind": "ask", "number": number, **_ask(ask)})

    def answered(self, number: int, sample: Sample, seconds: float) -> None:
        """Records the result of the probe."""
        self._append(
            {
                "kind": "sample",
                "number": number,
                "seconds": seconds,
                **_ask(sample.ask),
                "write": None if sample.write is None else asdict(sample.write),
                "read": None if sample.read is None else asdict(sample.read),
                "discarded": sample.discarded,
                "cached": sample.cached,
            }
        )

    def _append(self, line: Mapping[str, Any], *, fresh: bool = False) -> None:
        try:
            how = os.O_CREAT | (os.O_EXCL if fresh else 0) | os.O_APPEND
            with open_named(self._path, how) as file:
                file.write(json.dumps(line).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise ProbeError(
                f"cannot write the journal {self._path} ({error.strerror}). Give -o a folder that "
                "can be written."
            ) from error


class NoJournal:
    """The port Journal without a file, for systems whose probes take no real time."""

    def past(self) -> Sequence[tuple[Sample, float]]:
        """No probes."""
        return ()

    def begin(self, plan: ProbePlan) -> None:
        """Does nothing."""

    def asked(self, number: int, ask: NextProbe) -> None:
        """Does nothing."""

    def answered(self, number: int, sample: Sample, seconds: float) -> None:
        """Does nothing."""


def read_journal(path: Path) -> list[dict[str, Any]]:
    """The complete lines of a journal. The last one may be cut off, if the probing was killed."""
    lines = []
    try:
        texts = read_to_apply(path).decode("utf-8", "replace").splitlines()
    except OSError as error:
        raise ProbeError(
            f"cannot read the journal {path} ({error.strerror}). Is there a probing to go on with?"
        ) from error
    for text in texts:
        with contextlib.suppress(ValueError):
            line = json.loads(text)
            if isinstance(line, dict) and "kind" in line:
                lines.append(line)
    return lines


@frozen
class Begun:
    """A probing that was begun: its folder below `directory`, and the bytes of one probe, None if
    it was not planned yet."""

    directory: str
    folder: str
    probe_bytes: Optional[int]
    results: tuple[str, ...] = ()
    """Folders in which ranks leave their results."""


def is_blank(path: Path) -> bool:
    """Whether the journal has no complete line: the probing was killed before it made anything."""
    try:
        return b"\n" not in path.read_bytes()
    except OSError:
        return False


def begun(path: Path) -> Begun:
    """The probing that a journal is of. Raises ProbeError if the file is no journal."""
    lines = read_journal(path)
    try:
        plan = next((line for line in lines[:2] if line["kind"] == "plan"), {})
        line = {"probe_bytes": plan.get("probe_bytes"), "results": (), **lines[0]}
        return decoded(Begun, line)
    except (IndexError, KeyError, ValueError) as error:
        raise ProbeError(
            f"{path} is no journal of a probing (its first line does not say what was planned). "
            "Remove it, and look for forebay-probe-* in the directory that was probed."
        ) from error


def _plan(plan: ProbePlan) -> dict[str, Any]:
    request = plan.request
    return {
        "directory": plan.ground.identity.directory,
        "level": request.level,
        "seed": request.seed,
        "direction": request.direction.value,
        "seconds": request.budget.seconds,
        "probe_bytes": plan.space.bytes_max,
        "levels": {name: list(plan.space.levels[name]) for name in COORDINATES},
    }


def _ask(ask: NextProbe) -> dict[str, Any]:
    point = {name: getattr(ask.point, name) for name in COORDINATES}
    return {"purpose": ask.purpose.value, "point": {**point, "shared": ask.point.shared}}


def _sample(line: Mapping[str, Any]) -> Sample:
    point = Point(**line["point"])
    return Sample(
        ask=NextProbe(point=point, purpose=Purpose(line["purpose"])),
        write=None if line["write"] is None else Passage(**line["write"]),
        read=None if line["read"] is None else Passage(**line["read"]),
        discarded=str(line["discarded"]),
        cached=bool(line["cached"]),
    )
