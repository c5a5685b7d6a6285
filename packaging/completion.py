"""Completion scripts from the pages of pages.py. They hold all words themselves: pressing the tab
key starts no Python.

bash and zsh share functions that answer three questions about a command such as `forebay run`:
which commands are below it, which options it has, and which words an option (or the key of a
KEY=VALUE) takes. fish has a table of its own form, with the explanations.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pages import Option, Page

_HERE = Path(__file__).parent
_FILES = ("FILE", "PATH", "DIR")


@dataclass(frozen=True, kw_only=True)
class Words:
    """Completions of words that are no options: names of settings with their values, platforms and
    their keys."""

    settings: Mapping[str, tuple[str, ...]]
    platforms: tuple[str, ...]
    keys: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Scripts:
    """One text for bash and for zsh, and for fish one for each program."""

    bash: str
    zsh: str
    fish: Mapping[str, str]


def scripts(pages: Sequence[Page], words: Words) -> Scripts:
    """All of them."""
    whole = _with_programs(pages)
    table = "\n".join(_table(whole, words))
    return Scripts(
        bash=_template("completion.bash").replace("@TABLE@", table),
        zsh=_template("completion.zsh").replace("@TABLE@", table),
        fish={
            program: _fish(program, [one for one in whole if one.words[0] == program], words)
            for program in dict.fromkeys(page.words[0] for page in whole)
            if program.startswith("forebay") and "_" not in program
        },
    )


def _template(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _with_programs(pages: Sequence[Page]) -> list[Page]:
    """`forebay bench ior` takes the options of forebay-ior, too."""
    programs = {page.name: page for page in pages if len(page.words) == 1}
    whole = []
    for page in pages:
        program = programs.get(f"forebay-{page.words[-1]}")
        more = program.options if page.words[:2] == ("forebay", "bench") and program else ()
        whole.append(
            Page(
                words=page.words,
                summary=page.summary,
                usage=page.usage,
                text=page.text,
                options=(*page.options, *more),
                pages=page.pages,
            )
        )
    return whole


def _table(pages: Sequence[Page], words: Words) -> Iterator[str]:
    known = "|".join(" ".join(page.words) for page in pages)
    yield f"_forebay_is_command() {{ [[ '|{known}|' == *\"|$1|\"* ]]; }}"
    yield "_forebay_below() {  # COMMAND: the words that may follow it"
    yield '    case "$1" in'
    for page in pages:
        below = [one.words[-1] for one in page.pages] or _arguments(page, words)
        if below:
            yield _case(" ".join(page.words), below)
    yield from ("    esac", "}", "_forebay_options() {  # COMMAND", '    case "$1" in')
    for page in pages:
        names = [name for option in page.options for name in option.names]
        if names:
            yield _case(" ".join(page.words), dict.fromkeys(names))
    yield from ("    esac", "}")
    yield "_forebay_values() {  # COMMAND OPTION-OR-KEY: fails where no value follows"
    yield '    case "$1 $2" in'
    for page in pages:
        for option in page.options:
            if option.value:
                spelled = [f"{' '.join(page.words)} {name}" for name in option.names]
                yield _case("' | '".join(dict.fromkeys(spelled)), _values(page, option, words))
    for name, choices in words.settings.items():
        yield f"        *' {name}') echo '{' '.join(choices)}' ;;"
    yield from ("        *) return 1 ;;", "    esac", "}")


def _case(pattern: str, words: Sequence[str] | Mapping[str, None]) -> str:
    return f"        '{pattern}') echo '{' '.join(words)}' ;;"


def _arguments(page: Page, words: Words) -> Sequence[str]:
    if page.words[-1] == "simulate":
        return [*words.platforms, *(f"{key}=" for key in words.keys)]
    return ["ior", "hpio", "meta"] if page.words[-1] == "compare" else []


def _values(page: Page, option: Option, words: Words) -> Sequence[str]:
    if option.names == ("--set",):
        return [f"{name}=" for name in words.settings]
    if option.names == ("-O",):
        return [f"{one.directive}=" for one in page.options if one.directive]
    return option.choices


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _fish(program: str, pages: Sequence[Page], words: Words) -> str:
    """`complete` lines, each for the command that it belongs to."""
    known = " ".join(_quoted(" ".join(page.words)) for page in pages)
    text = _template("completion.fish").replace("@PROGRAM@", program).replace("@KNOWN@", known)
    function = f"__{program.replace('-', '_')}_at"
    lines = [text.replace("@FUNCTION@", function)]
    for page in pages:
        start = f"complete -c {program} -n \"{function} '{' '.join(page.words)}'\""
        lines += [f"{start} -f -a {one.words[-1]} -d {_quoted(one.summary)}" for one in page.pages]
        arguments = [] if page.pages else _arguments(page, words)
        if arguments:
            lines.append(f"{start} -a {_quoted(' '.join(arguments))}")
        lines += [f"{start} {_fish_option(page, one, words)}" for one in page.options]
    return "\n".join(lines) + "\n"


def _fish_option(page: Page, option: Option, words: Words) -> str:
    flags = []
    for name in option.names:
        letters = name.lstrip("-")
        kind = "-l" if name.startswith("--") else "-s" if len(letters) == 1 else "-o"
        flags.append(f"{kind} {letters}")
    if option.value in _FILES:
        flags.append("-r")
    elif option.value:
        values = _values(page, option, words)
        flags.append(f"-x -a {_quoted(' '.join(values))}" if values else "-x")
    return " ".join([*flags, "-d", _quoted(option.doc)])
