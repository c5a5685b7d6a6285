"""Carries `forebay report` out. Its words are parsed without typer, whose import takes as long as
reading a small log, and what only pages, folders and comparisons need is imported for them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.common.model.errors import EvidenceError, UsageError
from forebay.common.model.frozen import frozen
from forebay.common.model.output_format import Format
from forebay.common.model.printable import printable_lines
from forebay.common.model.units import counted
from forebay.common.report.output import json_pretty
from forebay.common.report.sparkline import shows_columns
from forebay_tuning.report.files.darshan_log import DarshanLogs
from forebay_tuning.report.report.text import as_json, as_text
from forebay_tuning.report.use_case import Sources, diagnose_all, diagnose_file

if TYPE_CHECKING:
    from forebay_tuning.model.portrait import Portrait

_WITH_VALUES = ("--html", "--portrait", "--format")
_FORMATS = {form.value: form for form in Format}


@frozen
class ReportOptions:
    """The words of `forebay report`: a log, record or folder, and what to make of it."""

    file: Path
    after: Path | None = None
    """A later run to compare with."""
    html: Path | None = None
    portrait: Path | None = None
    form: Format = Format.TEXT


def options_of(words: Sequence[str]) -> ReportOptions | None:
    """The options in the words after `forebay report`. None if they are not all well-formed, or ask
    for help: then typer (`forebay_tuning.report.command`) tells the user."""
    given: dict[str, list[str]] = {name: [] for name in _WITH_VALUES}
    files: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if not word.startswith("-"):
            files.append(word)
            continue
        name, equals, value = word.partition("=")
        if name not in given or not (equals or left):
            return None
        given[name].append(value if equals else left.pop(0))
    texts = [*files, *given["--html"], *given["--portrait"]]
    if not all(texts) or any(one.startswith("-") for one in texts) or len(files) not in (1, 2):
        return None
    if not set(given["--format"]) <= set(_FORMATS):
        return None
    return ReportOptions(
        file=Path(files[0]),
        after=Path(files[1]) if len(files) > 1 else None,
        html=_last_path(given["--html"]),
        portrait=_last_path(given["--portrait"]),
        form=_FORMATS[given["--format"][-1]] if given["--format"] else Format.TEXT,
    )


def _last_path(texts: Sequence[str]) -> Path | None:
    return Path(texts[-1]) if texts else None


def perform(options: ReportOptions) -> int:
    """Reads the file or folder, prints the report, and returns the exit status. Raises
    EvidenceError if there is nothing to report, and UsageError if options contradict each other."""
    if options.html is not None:
        _check_page(options, options.html)
    _check_is_one(options)
    sources = _sources()
    if options.file.is_dir():
        _report_folder(options, sources)
        return 0
    portrait = _portrait(options.portrait)
    diagnosis = diagnose_file(_existing(options.file), sources, portrait=portrait)
    if options.after is not None:
        from forebay_tuning.report.model.several import compare
        from forebay_tuning.report.report.several import comparison_json, comparison_text

        both = compare(diagnosis, diagnose_file(_existing(options.after), sources))
        _give(options.form, comparison_text(both), comparison_json(both))
        return 0
    is_ascii = not shows_columns(sys.stdout.encoding)
    _give(options.form, as_text(diagnosis, is_ascii=is_ascii), as_json(diagnosis))
    if options.html is not None:
        from forebay_tuning.report.report.page import ReportPages

        ReportPages().write(diagnosis, options.html)
    return 0


def _sources() -> Sources:
    from forebay.common.files.records import RecordFiles

    return Sources(logs=DarshanLogs(), records=RecordFiles())


def _check_page(options: ReportOptions, page: Path) -> None:
    from forebay_tuning.report.report.page import ReportPages

    ReportPages().check(page)


def _check_is_one(options: ReportOptions) -> None:
    """Raises UsageError if there are several logs, and an option is of one."""
    if options.after is None and not options.file.is_dir():
        return
    for name, value in (("--html", options.html), ("--portrait", options.portrait)):
        if value is not None:
            raise UsageError(f"{name} is of one log (there are several). Leave one of them out.")


def _portrait(path: Path | None) -> Portrait | None:
    if path is None:
        return None
    from forebay_tuning.probe.files.portrait_file import read_portrait

    return read_portrait(path)


def _report_folder(options: ReportOptions, sources: Sources) -> None:
    from forebay_tuning.report.report.several import folder_json, folder_text

    found, refused = diagnose_all(_logs_in(options.file), sources)
    for reason in refused:
        print(f"forebay: {printable_lines(reason)}", file=sys.stderr)
    if not found:
        raise EvidenceError(
            f"no log in {options.file} can be read ({counted(len(refused), 'reason')} above). Name "
            "another folder."
        )
    _give(options.form, folder_text(found), folder_json(found, refused))


def _give(form: Format, text: str, document: object) -> None:
    print(json_pretty(document) if form is Format.JSON else printable_lines(text))


def _existing(file: Path) -> Path:
    if not file.is_file():
        raise EvidenceError(
            f"there is no file {file} (or it is a directory). Name a log or record."
        )
    return file


def _logs_in(folder: Path) -> list[Path]:
    found = sorted(one for one in folder.rglob("*.darshan*") if one.is_file())
    if not found:
        raise EvidenceError(
            f"cannot report on {folder} (no file there ends in .darshan). Name a folder with logs, "
            "or a log."
        )
    return found
