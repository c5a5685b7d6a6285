"""Finds two facts in a benchmark's own options: the file for the result, and whether some ranks do
not take part. All other options are passed on without being understood."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from forebay.bench.model.command_line import Tool

JSON_OPTION = "--json"
RESULT_OPTION = "--result"
"""As the first option, it is our --json: the program leaves it out of the command line that it
reports."""
HPIO_FLAGS = "BehkE"
FlagLetters = Mapping[Tool, str]
"""Letters of options without a value, by tool. They may precede another option in the same word, as
in -wO json=f."""


def json_file(tool: Tool, words: Sequence[str], letters: FlagLetters) -> Path | None:
    """The file to which the program will write its result; None if the words do not give one. If
    they give several, the last one is used, as the programs do."""
    given = None
    for word, following in _options(words):
        for value in _json_values(tool, word, following, letters):
            given = Path(value)
    return given


def leaves_ranks_out(tool: Tool, words: Sequence[str], letters: FlagLetters) -> bool:
    """Whether fewer ranks than are started may take part: by IOR's -N, or by -O and scripts, which
    can set the same."""
    return tool is Tool.IOR and any(
        word.lower().startswith(("--numtasks", "--scriptfile"))
        or _letter(letters[tool], "[NOf]", word)
        for word, _ in _options(words)
    )


def _options(words: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Each word with its successor. Words after -- are no options."""
    end = list(words).index("--") if "--" in words else len(words)
    for at in range(end):
        yield words[at], words[at + 1] if at + 1 < len(words) else None


def _json_values(
    tool: Tool, word: str, following: str | None, letters: FlagLetters
) -> Iterator[str]:
    name, equals, attached = word.partition("=")
    value = attached if equals else following
    if value is not None and (name.lower() if tool is Tool.IOR else name) == JSON_OPTION:
        yield value
    if tool is Tool.IOR:
        yield from _json_directives(_value_of(letters[tool], "O", word, following) or "")
    if tool is Tool.HPIO:
        folder = value if name == "--output_dir" else _value_of(letters[tool], "o", word, following)
        if folder is not None:
            yield f"{folder}/hpio.json"


def _json_directives(text: str) -> Iterator[str]:
    for directive in text.split(","):
        name, equals, value = directive.partition("=")
        if equals and name.strip().lstrip("-").lower() == "json":
            yield value.strip()


def _value_of(flags: str, letter: str, word: str, following: str | None) -> str | None:
    found = _letter(flags, letter, word)
    if found is None:
        return None
    return found[1] if found[1] or word.endswith("=") else following


def _letter(flags: str, letter: str, word: str) -> re.Match[str] | None:
    return re.fullmatch(rf"-[{flags}]*?{letter}=?(.*)", word, re.DOTALL)
