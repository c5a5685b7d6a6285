"""Carries `forebay run` out. The user's program waits for what is imported here, so options are
parsed without typer, and the report is imported when the program has ended."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.common.model.errors import UsageError
from forebay.common.model.frozen import frozen
from forebay.common.model.named_path import named_path
from forebay.common.model.output_format import Format
from forebay.common.model.printable import printable, printable_name
from forebay.pool.use_case.ports import Progress
from forebay.run.use_case.io_ranks import io_ranks_of
from forebay.run.use_case.run_plan import RunRequest, plan_run
from forebay.run.use_case.run_program import carry_out
from forebay.settings.model.given import overrides_of
from forebay.world import run_world

if TYPE_CHECKING:
    from forebay.ports import RunWorld
    from forebay.run.use_case.run_plan import RunPlan
    from forebay.run.use_case.run_report import RunReport

_FLAGS = ("-v", "--verbose", "--private", "--compare")
_WITH_VALUES = (
    "--settings", "--set", "--record", "--summary", "--pool", "--format", "--pairs", "--output-dir",
    "--tier", "--io-ranks", "--spread",
)  # fmt: skip
_PAIRS_MAX = 1000
_NOT_ARRIVED = 74
"""The status of a run that ended well, but whose bytes are not all where they belong."""
_FORMATS = {form.value: form for form in Format}


@frozen
class ComparisonOptions:
    """The options of `forebay run --compare`: the number of pairs of runs, and the folder that is
    moved aside, None if the program is to run in copies of the working folder."""

    pairs: int = 1
    output: Path | None = None


def comparison_of(
    *, compare: bool, pairs: str | None, output: Path | None
) -> ComparisonOptions | None:
    """The options of a comparison, None if there is to be none. Raises UsageError if they cannot be
    used."""
    if not compare:
        if pairs is not None or output is not None:
            name = "--pairs" if pairs is not None else "--output-dir"
            raise UsageError(f"cannot use {name} (it is for comparing runs). Say --compare, too.")
        return None
    if pairs is not None and not (
        pairs.isascii() and pairs.isdecimal() and 0 < int(pairs) <= _PAIRS_MAX
    ):
        raise UsageError(
            f'cannot use --pairs "{pairs}" (it is no number from 1 to {_PAIRS_MAX}). '
            "With 6 or more there is an interval: --pairs 6"
        )
    return ComparisonOptions(pairs=int(pairs or 1), output=output)


@frozen
class RunOptions:
    """The options of `forebay run`: what is asked for, and how it is reported."""

    request: RunRequest
    form: Format = Format.TEXT
    verbose: bool = False
    """Whether the summary explains its columns."""
    comparison: ComparisonOptions | None = None
    tiers: tuple[tuple[Path, Path], ...] = ()
    """Folders, and the fast storage that their files are kept in meanwhile."""


def tiers_of(texts: Sequence[str], *, compares: bool) -> tuple[tuple[Path, Path], ...]:
    """The values of --tier. Raises UsageError if they cannot be used."""
    if texts and compares:
        raise UsageError(
            "cannot use --tier with --compare (that is not built yet). Say one of both."
        )
    found = []
    for text in texts:
        folder, equals, fast = text.partition("=")
        if not equals:
            raise UsageError(
                f'cannot use --tier "{text}" (it names one folder). Say --tier DIR=FAST: the '
                "folder, and the one in fast storage."
            )
        found.append((named_path(folder), named_path(fast)))
    return tuple(found)


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
    tiers = tiers_of(given["--tier"], compares="--compare" in flags)
    return RunOptions(
        request=RunRequest(
            command=tuple(left),
            settings_file=_last_path(given["--settings"]),
            overrides=overrides_of(given["--set"]),
            record=_last_path(given["--record"]),
            summary=_last_path(given["--summary"]),
            pool=tuple(named_path(text) for text in given["--pool"]),
            io_ranks=io_ranks_of(
                _last(given["--io-ranks"]),
                _last(given["--spread"]),
                has_tiers=bool(given["--tier"]),
                compares="--compare" in flags,
            ),
            is_private="--private" in flags,
            tiers=tuple(folder for folder, _ in tiers),
        ),
        form=_FORMATS[given["--format"][-1]] if given["--format"] else Format.TEXT,
        verbose=bool(flags & {"-v", "--verbose"}),
        comparison=comparison_of(
            compare="--compare" in flags,
            pairs=_last(given["--pairs"]),
            output=named_path(given["--output-dir"][-1]) if given["--output-dir"] else None,
        ),
        tiers=tiers,
    )


def _last(texts: Sequence[str]) -> str | None:
    return texts[-1] if texts else None


def _last_path(texts: Sequence[str]) -> Path | None:
    return Path(texts[-1]) if texts else None


def perform(options: RunOptions) -> int:
    """Runs the program, shows the summary, and returns the exit status. If it raises a
    ForebayError, no program was started."""
    world = run_world()
    if options.comparison is not None:
        return _compare(options, options.comparison, world)
    plan = plan_run(options.request, world)
    _warn(plan.warnings)
    if plan.io_ranks is not None and plan.io_ranks.why:
        print(f"forebay: {printable(plan.io_ranks.why)}", file=sys.stderr)
    if options.tiers:
        return _run_in_tiers(plan, world, options)
    report = carry_out(plan, world, progress=_progress(has_pool=plan.pool is not None))
    _tell(report, options, told=plan.warnings)
    return report.status


def _tell(report: RunReport, options: RunOptions, *, told: Sequence[str]) -> None:
    _show(report, options, told=told)
    if report.pool is not None and not report.pool.end.arrived:
        from forebay.pool.files.system_log import send_messages
        from forebay.pool.model.system_message import messages_of

        send_messages(messages_of(report.pool.end))


def _run_in_tiers(plan: RunPlan, world: RunWorld, options: RunOptions) -> int:
    """Runs the program with tiers that end with it. A pool is before them: it ends first."""
    from dataclasses import replace

    from forebay.common.files.batch_job import job_end_of
    from forebay.tier.files import LocalTiers
    from forebay.tier.model import TierStart

    tiers = LocalTiers(world.libraries)
    end = job_end_of(world.environment, world.processes)
    starts = [
        TierStart(folder=folder, fast=fast, policy="write", job_end=end)
        for folder, fast in options.tiers
    ]
    with tiers.around(starts, world.folder) as ends:
        report = carry_out(plan, world, progress=_progress(has_pool=plan.pool is not None))
    together = ends.together()
    _tell(replace(report, tiers=together.totals), options, told=plan.warnings)
    for message in together.messages:
        print(f"forebay: {printable(message)}", file=sys.stderr)
    return report.status or (_NOT_ARRIVED if together.lacks_files else 0)


def _warn(warnings: Sequence[str]) -> None:
    for warning in warnings:
        print(f"forebay: warning: {printable(warning)}", file=sys.stderr)


def _compare(options: RunOptions, comparison: ComparisonOptions, world: RunWorld) -> int:
    """Runs the program without and with Forebay, shows what came of it, and returns the exit
    status. What was in the folder before is there again when it returns, or raises."""
    from forebay.common.report.output import json_line
    from forebay.run.files import OutputAside, RunCopies, ended_by_signals
    from forebay.run.model import RunSide
    from forebay.run.report.comparison import comparison_as_json, comparison_as_text
    from forebay.run.use_case.compare_runs import check_comparison, compare_runs

    request, pairs = options.request, comparison.pairs
    output = None if comparison.output is None else (world.folder / comparison.output).resolve()

    def told(number: int, side: RunSide) -> None:
        how = "with" if side is RunSide.FOREBAY else "without"
        of = f" of {2 * pairs}" if number <= 2 * pairs else ", to see what differs by itself"
        print(f"── forebay: run {number}{of}, {how} Forebay", file=sys.stderr, flush=True)

    folder = world.folder.resolve()
    runs = RunCopies(folder) if output is None else OutputAside(output, folder)
    warnings = check_comparison(request, world, output=output)
    _warn(warnings)
    with ended_by_signals(), runs as folders:
        found = compare_runs(
            request,
            world,
            folders,
            pairs=pairs,
            told=told,
            progress=_progress(has_pool=bool(request.pool)),
        )
    if options.form is Format.JSON:
        text = json_line(comparison_as_json(found))
    else:
        text = comparison_as_text(found, told=warnings, with_summary=options.verbose)
    _print_or_write(text, request.summary and folder / request.summary)
    return found.status


def _progress(*, has_pool: bool) -> Progress | None:
    if not has_pool:
        return None
    from forebay.pool.report.drain_progress import DrainProgress

    return DrainProgress()


def _show(report: RunReport, options: RunOptions, *, told: Sequence[str]) -> None:
    """Prints the summary, or writes it to its file. `told` are warnings that are known already."""
    from forebay.common.report.output import json_line
    from forebay.run.report.summary import as_json, as_text

    summary = options.request.summary
    if options.form is Format.JSON:
        text = json_line(as_json(report))
    else:
        known = (*told, *report.told) if summary is None else ()
        text = as_text(report, told=known, with_legend=options.verbose)
    _print_or_write(text, summary)


def _print_or_write(text: str, summary: Path | None) -> None:
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
