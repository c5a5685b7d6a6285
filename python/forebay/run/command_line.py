"""Carries `forebay run` out. The user's program waits for what is imported here, so options are
parsed without typer, and the report is imported when the program has ended."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.common.model.frozen import frozen
from forebay.common.model.named_path import named_path
from forebay.common.model.output_format import Format
from forebay.common.model.printable import printable, printable_name
from forebay.pool.use_case.ports import Progress
from forebay.run.use_case.run_plan import RunPlan, RunRequest, plan_run
from forebay.run.use_case.run_program import carry_out
from forebay.settings.model.given import overrides_of
from forebay.world import run_world

if TYPE_CHECKING:
    from forebay.run.use_case.run_report import RunReport

_FLAGS = ("-v", "--verbose", "--private")
_WITH_VALUES = ("--settings", "--set", "--record", "--summary", "--pool", "--format")
_FORMATS = {form.value: form for form in Format}


@frozen
class RunOptions:
    """The options of `forebay run`: what is asked for, and how it is reported."""

    request: RunRequest
    form: Format = Format.TEXT
    verbose: bool = False
    """Whether the summary explains its columns."""


def options_of(words: Sequence[str]) -> RunOptions | None:
    """The options in the words after `forebay run`. None if they are not all well-formed, or ask
    for help: then typer, which knows all about them (`forebay.run.command`), tells the user. Raises
    UsageError if a value cannot be used."""
    given: dict[str, list[str]] = {name: [] for name in _WITH_VALUES}
    flags: set[str] = set()
    left = list(words)
    while left and left[0].startswith("-") and left[0] != "-":
        word = left.pop(0)
        if word == "--":
            break
        if word in _FLAGS:
            flags.add(word)
            continue
        name, equals, value = word.partition("=")
        if name not in given or not (equals or left):
            return None
        given[name].append(value if equals else left.pop(0))
    if not left or not set(given["--format"]) <= set(_FORMATS):
        return None
    return RunOptions(
        request=RunRequest(
            command=tuple(left),
            settings_file=_last_path(given["--settings"]),
            overrides=overrides_of(given["--set"]),
            record=_last_path(given["--record"]),
            summary=_last_path(given["--summary"]),
            pool=tuple(named_path(text) for text in given["--pool"]),
            is_private="--private" in flags,
        ),
        form=_FORMATS[given["--format"][-1]] if given["--format"] else Format.TEXT,
        verbose=bool(flags & {"-v", "--verbose"}),
    )


def _last_path(texts: Sequence[str]) -> Path | None:
    return Path(texts[-1]) if texts else None


def perform(options: RunOptions) -> int:
    """Runs the program, shows the summary, and returns the exit status. If it raises a
    ForebayError, no program was started."""
    world = run_world()
    plan = plan_run(options.request, world)
    for warning in plan.warnings:
        print(f"forebay: warning: {printable(warning)}", file=sys.stderr)
    report = carry_out(plan, world, progress=_progress(plan))
    _show(report, options, told=plan.warnings)
    return report.status


def _progress(plan: RunPlan) -> Progress | None:
    if plan.pool is None:
        return None
    from forebay.pool.report.drain_progress import DrainProgress

    return DrainProgress()


def _show(report: RunReport, options: RunOptions, *, told: Sequence[str]) -> None:
    """Prints the summary, or writes it to its file. `told` are the warnings that were printed."""
    from forebay.common.report.output import json_line
    from forebay.run.report import as_json, as_text

    summary = options.request.summary
    if options.form is Format.JSON:
        text = json_line(as_json(report))
    else:
        text = as_text(report, told=told if summary is None else (), with_legend=options.verbose)
    if summary is None:
        print(text, file=sys.stderr)
        return
    from forebay.common.files.safe_files import write_named

    try:
        write_named(summary, text + "\n")
    except OSError as error:  # the run is over, so print the summary at least
        print(text, file=sys.stderr)
        print(
            f"forebay: cannot write {printable_name(summary)} ({error.strerror}). "
            "The summary is above.",
            file=sys.stderr,
        )
