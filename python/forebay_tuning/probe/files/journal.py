"""What probing has measured so far, as JSON Lines: a probing that was killed goes on from there."""

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from forebay.common.files.decoding import decoded
from forebay.common.files.safe_files import open_named, read_to_apply
from forebay.common.model.errors import ProbeError
from forebay.common.model.frozen import frozen
from forebay_tuning.model.point import COORDINATES, Point
from forebay_tuning.model.sample import Ask, Passage, Purpose, Sample
from forebay_tuning.probe.use_case.probe import ProbePlan

SCHEMA = "forebay.probe/1"


class ProbeJournal:
    """The port Journal over a file. With `resume` what is in it counts; without, it must not be
    there."""

    def __init__(self, path: Path, *, folder: str, resume: bool) -> None:
        self._path = path
        self._folder = folder
        self._resume = resume
        self._past: list[tuple[Sample, float]] = []
        self._placed = False

    def past(self) -> Sequence[tuple[Sample, float]]:
        """What is in the file."""
        return self._past

    def place(self, directory: Path, results: Sequence[Path] = ()) -> None:
        """Says where files will be, before there are any. ProbeError: as `begin`."""
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
        """Nothing was begun at the place, and nothing is left there."""
        if self._placed:
            self._path.unlink(missing_ok=True)

    def _refuse_unless_resumed(self) -> None:
        if not self._resume:
            raise ProbeError(
                f"there is a journal already ({self._path}: a probing that did not end). Say "
                "--resume to go on with it, or --clean to remove it and its files."
            )

    def begin(self, plan: ProbePlan) -> None:
        """Opens or makes the file."""
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
        # What failed at the end may have been mended meanwhile: it is probed again.
        while self._past and self._past[-1][0].discarded:
            self._past.pop()

    def asked(self, number: int, ask: Ask) -> None:
        """What is about to be probed."""
        self._append({"kind": "ask", "number": number, **_ask(ask)})

    def answered(self, number: int, sample: Sample, seconds: float) -> None:
        """What came of it."""
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
    """The port Journal for what takes no time."""

    def past(self) -> Sequence[tuple[Sample, float]]:
        """Nothing."""
        return ()

    def begin(self, plan: ProbePlan) -> None:
        """Nothing to do."""

    def asked(self, number: int, ask: Ask) -> None:
        """Nothing to do."""

    def answered(self, number: int, sample: Sample, seconds: float) -> None:
        """Nothing to do."""


def read_journal(path: Path) -> list[dict[str, Any]]:
    """Its lines; the last one may have been cut off by what ended the probing."""
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
    """Of a probing that was begun: its folder below `directory`, and the bytes of a probe, if it
    came so far as to plan them."""

    directory: str
    folder: str
    probe_bytes: int | None
    results: tuple[str, ...] = ()
    """Folders of what ranks say."""


def is_blank(path: Path) -> bool:
    """Whether there is no whole line: it was killed before anything was made."""
    try:
        return b"\n" not in path.read_bytes()
    except OSError:
        return False


def begun(path: Path) -> Begun:
    """ProbeError: it is no journal."""
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


def _ask(ask: Ask) -> dict[str, Any]:
    point = {name: getattr(ask.point, name) for name in COORDINATES}
    return {"purpose": ask.purpose.value, "point": {**point, "shared": ask.point.shared}}


def _sample(line: Mapping[str, Any]) -> Sample:
    point = Point(**line["point"])
    return Sample(
        ask=Ask(point=point, purpose=Purpose(line["purpose"])),
        write=None if line["write"] is None else Passage(**line["write"]),
        read=None if line["read"] is None else Passage(**line["read"]),
        discarded=str(line["discarded"]),
        cached=bool(line["cached"]),
    )
