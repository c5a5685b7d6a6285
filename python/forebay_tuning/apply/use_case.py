"""Use case: run an unmodified program with the advised settings, and check which took effect."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from forebay.common.model.errors import ForebayError, LayoutError, UsageError
from forebay.common.model.frozen import frozen
from forebay.common.model.printable import shell_words
from forebay.common.model.record import FileSummary
from forebay.common.model.units import exact_bytes, parse_bytes
from forebay.layout.model import Layout, WantedLayout
from forebay.machine_ports import World
from forebay.run.use_case.run_plan import RunPlan, RunRequest, plan_run
from forebay.run.use_case.run_program import carry_out
from forebay.run.use_case.run_report import RunReport
from forebay.settings.model.given import Override
from forebay_tuning.advise.model.advice import Advice
from forebay_tuning.advise.model.ready import chosen, hints_of, settings_of, wanted_layout

PLACE = "{out}"
"""The placeholder for the output directory in the program's command."""
HINTS_VARIABLE = "ROMIO_HINTS"
NOT_APPLIED = 5
"""The exit status if advice did not take effect, as `forebay verify` has it."""
_LAYOUT = "layout"
"""The effect of the directory's layout, and the first word of that of a new file's."""


class Folders(Protocol):
    """The port to directories of output, and to small temporary files."""

    def largest_new(self, folder: Path, *, but: frozenset[Path]) -> Path | None:
        """The largest regular file below `folder` that is not among `but`, or None: most likely
        the program's output, and not a log beside it."""

    def names(self, folder: Path) -> frozenset[Path]:
        """All files and directories below the folder."""

    def make(self, folder: Path) -> None:
        """Creates the folder. Raises UsageError if that fails."""

    def remove(self, folder: Path) -> None:
        """Removes a file, or a folder with everything in it."""

    def write(self, name: str, text: str) -> Path:
        """Writes a small file for the ranks to read, in a folder of its own."""


@frozen
class Effect:
    """One setting. `found` is its actual value, None if that cannot be seen."""

    name: str
    wanted: str
    found: str | None
    reason: str = ""

    @property
    def took(self) -> bool:
        """Whether the setting was seen to be in effect."""
        return self.found == self.wanted


@frozen
class AppliedAdvice:
    """A run with advice. `before` is the directory's previous layout."""

    run: RunReport
    effects: tuple[Effect, ...]
    before: Layout | None

    @property
    def exit_status(self) -> int:
        """The program's status; NOT_APPLIED if that is 0 and the layout did not take effect."""
        missing = any(one.name.startswith(_LAYOUT) and not one.took for one in self.effects)
        return self.run.status or (NOT_APPLIED if missing else 0)


@frozen
class ApplyRequest:
    """The input. `advice` has one entry per direction; `directory` is for the output."""

    advice: tuple[Advice, ...]
    command: tuple[str, ...]
    directory: Path


def directory_of(advice: Advice, given: Path | None) -> Path:
    """The output directory. Raises UsageError if neither the user nor the advice names one."""
    if given is not None:
        return given
    if advice.workload.directory:
        return Path(advice.workload.directory)
    raise UsageError(
        "it is not known where the program writes (the advice names no directory). Say it: "
        "--output-dir DIR."
    )


def apply_advice(request: ApplyRequest, world: World, folders: Folders) -> AppliedAdvice:
    """Applies the advice and runs the program. If it raises UsageError or SetupError, nothing was
    started."""
    one = chosen(request.advice)
    folders.make(request.directory)
    before, effects = set_layout(one, request.directory, world)
    present = folders.names(request.directory)
    with advised_plan(one, request.command, request.directory, world, folders) as (plan, own):
        report = carry_out(plan, own)
    why_none = " ".join(report.reasons) or "the run left no record"
    effects = [*effects, *effects_of_settings(one, report.files, why_none)]
    largest = folders.largest_new(request.directory, but=present)
    effects += _of_new_file(one, largest, world)
    return AppliedAdvice(run=report, effects=tuple(effects), before=before)


def placed(command: Sequence[str], directory: Path) -> tuple[str, ...]:
    """The command with {out} replaced by the directory."""
    return tuple(word.replace(PLACE, str(directory)) for word in command)


@contextmanager
def advised_plan(
    advice: Advice, command: Sequence[str], directory: Path, world: World, folders: Folders
) -> Iterator[tuple[RunPlan, World]]:
    """The plan to run the command under Forebay with the advised settings and with ROMIO's hints,
    whose file exists inside the `with`; and the world in which to run it."""
    overrides = tuple(
        Override(name, value.strip('"')) for name, value in settings_of(advice).items()
    )
    environment = dict(world.environment)
    hints = hints_of(advice)
    written: Path | None = None
    if hints and advice.workload.collective and HINTS_VARIABLE not in environment:
        text = "".join(f"{name} {value}\n" for name, value in hints.items())
        written = folders.write("romio.hints", text)
        environment[HINTS_VARIABLE] = str(written)
    own = replace(world, environment=environment)
    try:
        request = RunRequest(command=placed(command, directory), overrides=overrides)
        yield plan_run(request, own), own
    finally:
        if written is not None:
            folders.remove(written.parent)


def set_layout(advice: Advice, directory: Path, world: World) -> tuple[Layout | None, list[Effect]]:
    """Sets the directory's layout; returns the previous one and the effect."""
    wanted = wanted_layout(advice)
    if not wanted.says_something:
        return None, []
    try:
        before = world.layouts.show(directory)
        if not before.is_known:
            return None, [
                _effect(_LAYOUT, _spelled(wanted), None, "this file system has no stripes")
            ]
        change = world.layouts.set(directory, wanted)
    except LayoutError as error:
        return None, [_effect(_LAYOUT, _spelled(wanted), None, str(error))]
    found = WantedLayout(
        stripe_count=(change.layout.targets or 0) if wanted.stripe_count else 0,
        stripe_bytes=change.layout.stripe_bytes if wanted.stripe_bytes else 0,
    )
    return before, [_effect(_LAYOUT, _spelled(wanted), _spelled(found), change.complaint or "")]


def restore_layout(before: Layout | None, directory: Path, world: World) -> str:
    """Sets the directory's layout to the previous one. Returns why that failed, or no text."""
    if before is None:
        return ""
    wanted = WantedLayout(stripe_count=before.targets or -1, stripe_bytes=before.stripe_bytes)
    try:
        change = world.layouts.set(directory, wanted)
    except ForebayError as error:
        return _not_restored(directory, wanted, str(error))
    found = change.layout
    if (found.targets, found.stripe_bytes) == (before.targets, before.stripe_bytes):
        return ""
    return _not_restored(directory, wanted, change.complaint or "it was set, and is another one.")


def _not_restored(directory: Path, wanted: WantedLayout, why: str) -> str:
    count = "all" if wanted.stripe_count < 0 else wanted.stripe_count
    words = f"-c {count} {shell_words([str(directory)])}"
    if wanted.stripe_bytes:
        words = f"-S {wanted.stripe_bytes} {words}"
    return (
        f"cannot restore the layout of {directory}: {why} Restore it by "
        f"`forebay layout set {words}`."
    )


def _effect(name: str, wanted: str, found: str | None, reason: str) -> Effect:
    return Effect(name=name, wanted=wanted, found=found, reason=reason)


def _spelled(wanted: WantedLayout) -> str:
    words = []
    if wanted.stripe_count:
        words.append(f"{wanted.stripe_count} stripes")
    if wanted.stripe_bytes:
        words.append(f"of {exact_bytes(wanted.stripe_bytes)}")
    return " ".join(words)


def effects_of_settings(
    advice: Advice, files: Sequence[FileSummary], why_none: str
) -> list[Effect]:
    """The effects of settings by the run's record; `why_none` is the reason if it has no files."""
    wanted = settings_of(advice)
    if not advice.workload.collective:
        return []
    effects = _of_romio_alone(advice)
    largest = max(files, key=lambda one: one.bytes_moved, default=None)
    if largest is None:
        lost = [_effect(name, value.strip('"'), None, why_none) for name, value in wanted.items()]
        return lost + effects
    for name, value in wanted.items():
        found = _in_force(name, largest)
        asked = value.strip('"')
        effects.append(_effect(name, asked, found, _why_not(name, asked, found)))
    return effects


def _why_not(name: str, asked: str, found: str | None) -> str:
    if found is None:
        return "set; the record does not tell of its effect"
    if name == "cb_nodes" and int(found) < int(asked):
        return "Forebay takes one aggregator for each storage target at most, and 1 to 4 on a node"
    return ""


def _of_romio_alone(advice: Advice) -> list[Effect]:
    """The effects of hints for which Forebay has no setting."""
    name = "cb_config_list"
    wanted = hints_of(advice).get(name)
    why = "a hint for ROMIO; Forebay, which does the collective calls, places aggregators itself"
    return [] if wanted is None else [_effect(name, wanted, None, why)]


def _in_force(name: str, file: FileSummary) -> str | None:
    if name == "cb_nodes":
        return str(len(file.aggregators)) if file.aggregators else None
    if name == "striping_factor":
        return str(file.targets)
    if name == "striping_unit":
        return exact_bytes(file.stripe_bytes) if file.stripe_bytes else None
    found = file.settings.get(name)
    size = parse_bytes(found) if found is not None and name == "cb_buffer_size" else None
    return found if size is None else exact_bytes(size)


def _of_new_file(advice: Advice, path: Path | None, world: World) -> list[Effect]:
    """The effect on the layout of a file that the program created."""
    wanted = wanted_layout(advice)
    if not wanted.says_something or path is None:
        return []
    try:
        layout = world.layouts.show(path)
    except ForebayError as error:
        return [_effect(f"{_LAYOUT} of {path.name}", _spelled(wanted), None, str(error))]
    if not layout.is_known:
        return []
    found = WantedLayout(
        stripe_count=(layout.targets or 0) if wanted.stripe_count else 0,
        stripe_bytes=layout.stripe_bytes if wanted.stripe_bytes else 0,
    )
    return [_effect(f"{_LAYOUT} of {path.name}", _spelled(wanted), _spelled(found), "")]


_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def measured_in(text: str, pattern: str) -> float:
    """The last positive number that the pattern finds. Raises UsageError if there is none."""
    try:
        found = list(re.finditer(pattern, text, re.MULTILINE))
    except re.error as error:
        raise UsageError(
            f'cannot use "{pattern}" ({error}). Write a regular expression.'
        ) from error
    for one in reversed(found):
        inner = one.group(1) if one.re.groups else one.group(0)
        number = _NUMBER.search(inner or "")
        if number is not None and float(number[0]) > 0:
            return float(number[0])
    raise UsageError(
        f'what the program printed has no number that "{pattern}" finds (above zero). Try the '
        "expression on its output."
    )
