"""The source of man pages and completions: every command and program with its options, read
from the same help texts that `--help` and `-h` show."""

import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NATIVE = ("forebay-ior", "forebay-hpio", "forebay-meta")
SIMULATOR = "forebay_sim"
_FAMILIES = ("mpich", "openmpi")
_VALUE = re.compile(r"^(\[?[A-Z][A-Z=]*\]?|N|\[N\]|\d+%),?$")


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option: its spellings, what its value is called ("" for a flag), what it does."""

    names: tuple[str, ...]
    value: str = ""
    doc: str = ""
    choices: tuple[str, ...] = ()
    directive: str = ""  # IOR's -O NAME


@dataclass(frozen=True, kw_only=True)
class Page:
    """One command, as in ("forebay", "layout", "set"), or one program."""

    words: tuple[str, ...]
    summary: str
    usage: str
    text: str
    options: tuple[Option, ...] = ()
    arguments: tuple[tuple[str, str], ...] = ()
    pages: tuple["Page", ...] = ()
    lists_options: bool = False  # in its text, which is shown as it is

    @property
    def name(self) -> str:
        """Name of the man page."""
        return "-".join(self.words)

    def all(self) -> Iterator["Page"]:
        """This page and all below it."""
        yield self
        for page in self.pages:
            yield from page.all()


def command_page(command: Any, words: tuple[str, ...], parent: Any = None) -> Page:
    """The page of a command of click's (or typer's own kind of it), with those below it."""
    context = command.make_context(words[-1], [], parent=parent, resilient_parsing=True)
    parameters = [
        (one, one.get_help_record(context))
        for one in command.get_params(context)
        if one.get_help_record(context)
    ]
    options = tuple(_option(*record) for one, record in parameters if _is_option(one))
    text = command.help or ""
    first = " ".join(text.strip().split("\n\n")[0].split()).split(": ")[0]
    summary = (command.short_help or first).strip().rstrip(".")
    answers_itself = not options
    if answers_itself:
        text = _own_help(command, words)
        options = tuple(text_options(text))
    arguments = [(_metavar(one), record) for one, record in parameters if not _is_option(one)]
    below = getattr(command, "commands", {})
    tail = [metavar for metavar, _ in arguments]
    if not any(metavar.startswith("[OPTIONS]") for metavar in tail):
        tail.insert(0, "[OPTIONS]")
    return Page(
        words=words,
        summary=summary,
        usage=" ".join([*words, *tail, *(["COMMAND [ARGS]..."] if below else [])]),
        text=text,
        options=options,
        arguments=tuple((metavar, record[1]) for metavar, record in arguments if record[1]),
        pages=tuple(command_page(one, (*words, name), context) for name, one in below.items()),
        lists_options=answers_itself,
    )


def _is_option(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "option")


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _own_help(command: Any, words: tuple[str, ...]) -> str:
    """The help of a command that answers --help itself: all other options are its program's."""
    import contextlib
    import io

    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        command.main(["--help"], prog_name=" ".join(words), standalone_mode=False)
    return said.getvalue()


def _option(spelling: str, doc: str) -> Option:
    """From the two columns of a help text: `-S, --striping-unit SIZE`, what it does."""
    tokens = spelling.replace(",", " ").split()
    value = " ".join(token for token in tokens if not token.startswith("-")).strip("<>")
    return Option(
        names=tuple(token for token in tokens if token.startswith("-")),
        value=value,
        doc=doc,
        choices=tuple(value.strip("[]").split("|")) if "|" in value else (),
    )


def program_page(name: str, text: str, usage: str) -> Page:
    """The page of a program from what its -h says."""
    first, _, rest = text.strip().partition("\n")
    options = tuple(text_options(rest))
    directives = Option(names=("-O",), value="NAME=VALUE", doc="directives, by name")
    summary = first.removeprefix(f"{name}:").split(". ")[0].strip().rstrip(".")
    return Page(
        words=(name,),
        summary=summary,
        usage=usage,
        text=rest,
        options=(*options, directives) if any(one.directive for one in options) else options,
        lists_options=True,
    )


def text_options(text: str) -> Iterator[Option]:
    """Options that a help text lists, one a line, in the ways that our programs write them."""
    for line in text.splitlines():
        if re.match(r"^ {2,6}-", line):
            yield from _line_options(line.split())


def _line_options(tokens: Sequence[str]) -> Iterator[Option]:
    """`-a, -O api=TEXT doc`, `-d --dir VALUE doc`, `-np N, --launcher WORDS doc`."""
    names: list[str] = []
    value = directive = ""
    used = 0
    for index, token in enumerate(tokens):
        used = index
        if index and tokens[index - 1] == "-O" and not directive and "-O" not in names:
            directive, _, value = token.partition("=")
            names.append(f"--{directive}")
        elif token == "-O" and re.match(r"^[a-zA-Z]\w*(=[A-Z]+)?$", (*tokens, "")[index + 1]):
            continue
        elif token.startswith("-") and len(token) > 1:
            if value and names:
                yield Option(names=tuple(names), value=value)
                names, value = [], ""
            name, _, after = token.rstrip(",").partition("=")
            names.append(name)
            value = after or value
        elif _VALUE.match(token) and not value:
            value = token.rstrip(",")
        else:
            break
    else:
        used = len(tokens)
    doc = " ".join(tokens[used:])
    choices: tuple[str, ...] = ()
    if names == ["--format"]:
        value, choices, doc = "text|json", ("text", "json"), doc.removeprefix("json ")
    yield Option(names=tuple(names), value=value, doc=doc, choices=choices, directive=directive)


def native_pages(libraries: Path, emulator: Sequence[str] = ()) -> Iterator[Page]:
    """Pages of the programs that were built: what they say themselves. Those that were built for
    another processor are started by the words of `emulator`."""
    for name in NATIVE:
        for program in (libraries / family / name for family in _FAMILIES):
            text = _said_by([*emulator, str(program), "-h"]) if program.is_file() else ""
            if text:
                yield program_page(name, text, f"mpiexec -n N {name} [OPTIONS]")
                break
    simulator = libraries / SIMULATOR
    text = _said_by([str(simulator), "--help"]) if simulator.is_file() else ""
    if text:
        usage, _, rest = text.strip().partition("\n")
        summary = f"{SIMULATOR}: the simulator that `forebay simulate` runs\n\n"
        yield program_page(SIMULATOR, summary + rest, usage)


def _said_by(words: Sequence[str]) -> str:
    """Empty where it cannot run here: another machine's build, or a library that is missing."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def named(pages: Sequence[Page]) -> Mapping[str, Page]:
    """All pages by name."""
    return {page.name: page for top in pages for page in top.all()}
