"""Splits the words after `forebay bench …`: our options are taken out wherever they are, all others
go to the program unchanged. Pure: words in, words out."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from forebay.common.model.errors import BenchUsageError
from forebay.common.model.frozen import frozen
from forebay.common.model.known_launchers import Flavour
from forebay.common.model.launcher import start
from forebay.common.model.newer_python import StrEnum, zip_of

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.ASCII | re.DOTALL)

_RANKS = re.compile(r"(?:--?np?=?|--ntasks=?)(?P<attached>\d*)", re.ASCII)


class Tool(StrEnum):
    """The native benchmarks."""

    IOR = "ior"
    HPIO = "hpio"
    META = "meta"

    @property
    def program(self) -> str:
        """The name of its executable."""
        return f"forebay-{self.value}"


@frozen
class Launch:
    """How ranks are started: by the `words` of a launcher, or `ranks` ranks by the default one."""

    words: tuple[str, ...] = ()
    ranks: int | None = None


@frozen
class Split:
    """Our options by name, and the program's words."""

    ours: Mapping[str, str]
    rest: tuple[str, ...]

    @property
    def launch(self) -> Launch:
        """The launch by -np or --launcher. Raises BenchUsageError if both are given, or -np is no
        number."""
        given, launcher = self.ours.get("np"), self.ours.get("launcher")
        if given is not None and launcher is not None:
            raise BenchUsageError(
                "-np and --launcher exclude each other (the launcher says how many ranks there "
                "are). Put the number into the launcher's words."
            )
        if launcher is not None:
            return Launch(words=_words(launcher))
        return Launch(ranks=None if given is None else number("-np", given, least=1))

    @property
    def html(self) -> Path | None:
        """The page's file; None if there is to be none."""
        return Path(self.ours["html"]) if "html" in self.ours else None

    @property
    def json(self) -> bool:
        """Whether standard output is JSON. Raises BenchUsageError for an unknown format."""
        form = self.ours.get("format", "text")
        if form not in ("text", "json"):
            raise BenchUsageError(f'no such format "{form}" (there are text and json). Use one.')
        return form == "json"

    @property
    def wants_help(self) -> bool:
        """Whether our own `--help` was given."""
        return "help" in self.ours


LAUNCHING = {"-np": "np", "--np": "np", "--launcher": "launcher"}
SHOWING = {"--html": "html", "--format": "format", "--help": "help"}


def split(words: Sequence[str], known: Mapping[str, str]) -> Split:
    """Takes out the `known` options, which map words to names: `--html FILE` or `--html=FILE`.
    Raises BenchUsageError if a value is missing."""
    ours: dict[str, str] = {}
    rest: list[str] = []
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        name, equals, value = word.partition("=")
        if name not in known:
            rest.append(word)
        elif known[name] == "help":
            ours["help"] = ""
        elif equals:
            ours[known[name]] = value
        elif waiting:
            ours[known[name]] = waiting.pop(0)
        else:
            raise BenchUsageError(f"{name} lacks its value (the line ends there). Give one.")
    return Split(ours=ours, rest=tuple(rest))


@frozen
class Configuration:
    """One side of a comparison: environment variables, the tool, and its words."""

    variables: Mapping[str, str]
    tool: Tool
    words: tuple[str, ...]

    @property
    def text(self) -> str:
        """The configuration as it was typed."""
        return " ".join([*self._assignments, self.tool.value, *map(shlex.quote, self.words)])

    @property
    def command(self) -> str:
        """The command that runs it alone."""
        words = ("forebay", "bench", self.tool.value, *map(shlex.quote, self.words))
        return " ".join([*self._assignments, *words])

    @property
    def _assignments(self) -> list[str]:
        return [f"{name}={shlex.quote(value)}" for name, value in self.variables.items()]


def configuration(words: Sequence[str], *, side: str) -> Configuration:
    """Parses KEY=VALUE words, then a tool, then its options. Raises BenchUsageError if there is no
    tool."""
    left = list(words)
    variables: dict[str, str] = {}
    while left and _ASSIGNMENT.fullmatch(left[0]):
        name, _, value = left.pop(0).partition("=")
        variables[name] = value
    tools = {one.value: one for one in Tool} | {one.program: one for one in Tool}
    if not left or left[0] not in tools:
        found = f'"{left[0]}"' if left else "nothing"
        raise BenchUsageError(
            f"configuration {side} names no benchmark (it begins with {found}; there are ior, hpio "
            "and meta). Write forebay bench compare ior -t 1m -- ior -t 4m."
        )
    return Configuration(variables=variables, tool=tools[left[0]], words=tuple(left[1:]))


def two_sides(words: Sequence[str]) -> tuple[Configuration, Configuration]:
    """The two configurations in the words A -- B. Raises BenchUsageError if there are not two."""
    if list(words).count("--") != 1:
        raise BenchUsageError(
            "a comparison has two sides (A -- B, with one -- between them). "
            "Write forebay bench compare ior -t 1m -- ior -t 4m."
        )
    at = list(words).index("--")
    return configuration(words[:at], side="A"), configuration(words[at + 1 :], side="B")


def start_words(launch: Launch, *, launcher: str, flavour: Flavour, root: bool) -> tuple[str, ...]:
    """The launcher's part of the command."""
    if launch.words:
        return launch.words
    return start(launcher, flavour=flavour, ranks=launch.ranks or 1, root=root)


def ranks_asked(launch: Launch) -> int | None:
    """The requested number of ranks; None if the launcher's words do not give it plainly."""
    if not launch.words:
        return launch.ranks or 1
    asked = None
    for word, following in zip_of(launch.words, (*launch.words[1:], ""), strict=True):
        found = _RANKS.fullmatch(word)
        text = "" if found is None else found["attached"] or following
        if re.fullmatch(r"\d+", text, re.ASCII):
            asked = int(text)
    return None if ":" in launch.words else asked


def number(name: str, text: str, *, least: int) -> int:
    """The whole number in `text`. Raises BenchUsageError if it is none, or is below `least`."""
    if not re.fullmatch(r"\d+", text, re.ASCII) or int(text) < least:
        raise BenchUsageError(
            f'{name} cannot be "{text}" (it is no whole number of at least {least}). Give one.'
        )
    return int(text)


def fraction(name: str, text: str) -> float:
    """The number in a text such as "5%" or "0.05". Raises BenchUsageError if there is none."""
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError as error:
        raise BenchUsageError(f'{name} cannot be "{text}" (5% or 0.05). Give one.') from error


def _words(text: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise BenchUsageError(
            f"cannot read the launcher {text} ({error}). Close its quotes."
        ) from error
    if not words:
        raise BenchUsageError(
            "cannot use --launcher (it is empty: is a variable not set?). "
            "Write --launcher 'srun -n 8'."
        )
    return words
