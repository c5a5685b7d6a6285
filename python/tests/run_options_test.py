"""`forebay run` is parsed twice: at once, and by typer, for help and for mistakes. Both agree."""

from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from forebay.application import application, application_for
from forebay.common.model.errors import UsageError
from forebay.common.model.output_format import Format
from forebay.run import command
from forebay.run.command_line import RunOptions, options_of
from forebay.run.use_case.io_ranks import IoRanks

LINES = [
    "true",
    "-- true",
    "-- -x true",
    "-- -- true",
    "- true",
    "true --pool x",
    "--pool a --pool=b -- true",
    "--pool -- true",
    "--pool --set -- true",
    "--set a=1 --set=b=2=3 --set c= -- true",
    "--settings s.toml --record r --summary s true",
    "--record first --record last true",
    "--record= true",
    "--format json -- true",
    "--format text --format=json true",
    "-v -- true",
    "--verbose -v --pool . true -v",
    "--compare -- true",
    "--compare --pairs 3 --output-dir o --pool=o -- true",
]
WRONG = [
    "",
    "--",
    "--help",
    "-h",
    "--pool",
    "--pool x",
    "--pol x true",
    "--form json true",
    "--format yaml true",
    "--format JSON true",
    "-x true",
    "-vh true",
    "--verbose=1 true",
    "-pool x true",
]


def by_typer(words: list[str], monkeypatch: pytest.MonkeyPatch) -> RunOptions | None:
    """The options that typer makes of the words after `forebay run`; None if it starts nothing."""
    found: list[RunOptions] = []

    def perform(options: RunOptions) -> int:
        found.append(options)
        return 0

    monkeypatch.setattr(command, "perform", perform)
    CliRunner().invoke(application_for(["run"]), ["run", *words])
    return found[0] if found else None


@pytest.mark.parametrize("line", LINES)
def test_a_line_means_what_it_means_to_typer(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = line.split()
    options = options_of(words)
    assert options is not None
    assert options == by_typer(words, monkeypatch)


@pytest.mark.parametrize("line", WRONG)
def test_typer_is_asked_about_what_is_wrong(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = line.split()
    assert options_of(words) is None
    assert by_typer(words, monkeypatch) is None


_VALUES = {"--format": "text", "--pairs": "2", "--io-ranks": "2", "--spread": "1"}
_WITH = {
    "--pairs": ["--compare"],
    "--output-dir": ["--compare"],
    "--spread": ["--io-ranks", "1"],
}


def test_every_option_is_known_to_both() -> None:
    options = [one for one in run_command().params if one.param_type_name == "option"]
    for option in options:
        for name in option.opts:
            value = _VALUES.get(name, "x=1")
            words = [*_WITH.get(name, []), name, value, "true"]
            found = options_of([name, "true"] if option.is_flag else words)
            assert found is not None, name
            assert found.request.command == ("true",)


def run_command() -> Any:
    group: Any = typer.main.get_command(application_for(["run"]))
    return group.commands["run"]


def test_all_that_is_given_arrives() -> None:
    words = (
        "-v --format json --settings s --set a=b --record r --summary t --pool p "
        "--io-ranks 4 --spread 2 -- x -v"
    )
    options = options_of(words.split())
    assert options is not None
    assert (options.verbose, options.form) == (True, Format.JSON)
    asked = options.request
    assert asked.io_ranks == IoRanks(count=4, spread=2)
    assert asked.command == ("x", "-v")
    assert [(one.name, one.text) for one in asked.overrides] == [("a", "b")]
    assert (asked.settings_file, asked.record, asked.summary) == (Path("s"), Path("r"), Path("t"))
    assert asked.pool == (Path("p"),)


@pytest.mark.parametrize(
    "words",
    [
        ["--pool", "", "--", "true"],
        ["--set", "a", "--", "true"],
        ["--compare", "--output-dir", "", "--", "true"],
        ["--compare", "--pairs", "0", "--", "true"],
        ["--compare", "--pairs", "many", "--", "true"],
        ["--pairs", "2", "--", "true"],
        ["--output-dir", "o", "--", "true"],
    ],
)
def test_a_value_that_cannot_be_used_is_a_usage_error(words: list[str]) -> None:
    with pytest.raises(UsageError):
        options_of(words)


def test_the_help_that_imports_nothing_is_that_of_all_subcommands() -> None:
    helps = [
        CliRunner().invoke(app, ["--help"], prog_name="forebay").output
        for app in (application_for(["--help"]), application())
    ]
    assert helps[0] == helps[1]
    assert "Run a program, with MPI or without" in helps[0]
