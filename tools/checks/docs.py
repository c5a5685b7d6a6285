"""Everything that the documents name exists: `make X`, `forebay X`, scripts, [text](path), and
`symbol` in `path`; and README.md links every document."""

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from checks import symbols
from checks.report import Finding, Outcome, Place, run

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")
_MAKE = re.compile(r"^\s*(?:\$ )?make ([a-z][\w-]*)\b", re.MULTILINE)
_FOREBAY = re.compile(r"^\s*(?:\$ )?forebay ([a-z][\w-]*)\b", re.MULTILINE)
_TARGET = re.compile(r"^([a-z][\w-]*):", re.MULTILINE)
_SCRIPT = re.compile(
    r"^(?:bash |python3 )?((?:tools|tests|evaluation|examples)/[\w./-]+\.(?:sh|py))\b"
)


def commands(text: str) -> str:
    """All commands in a document, one per line: fenced shell blocks and inline code."""
    blocks = [body for kind, body in _FENCE.findall(text) if kind in {"", "sh", "bash", "console"}]
    prose = _FENCE.sub("", text)
    return "\n".join([*blocks, *_INLINE.findall(prose)])


def subcommands(root: Path) -> frozenset[str] | None:
    """The subcommands of `forebay`, which are the folders with a module `command`. None if there is
    no such module yet."""
    found = (root / "python").glob("forebay*/*/command.py")
    return frozenset(path.parent.name for path in found) or None


def missing_commands(
    typed: str, targets: frozenset[str], known: frozenset[str] | None
) -> Iterator[tuple[str, str]]:
    """For each command that does not exist: the command, and the thing that would have to exist."""
    for target in _MAKE.findall(typed):
        if target not in targets:
            yield f"make {target}", "a target of the Makefile"
    for name in _FOREBAY.findall(typed):
        if known is not None and name.replace("-", "_") not in known:
            yield f"forebay {name}", f"python/forebay/{name}/command.py"


def document_findings(root: Path, document: Path) -> Iterator[Finding]:
    """The findings about one Markdown file."""
    where = document.relative_to(root).as_posix()
    text = document.read_text(encoding="utf-8")
    targets = frozenset(
        target
        for makefile in (root / "Makefile", document.parent / "Makefile")
        if makefile.exists()
        for target in _TARGET.findall(makefile.read_text())
    )
    typed = commands(text)
    for command, needs in missing_commands(typed, targets, subcommands(root)):
        yield Finding(
            where,
            f"`{command}` does not work",
            f"there is no {needs}",
            "Correct the document, or write it.",
        )
    paths = [(match, document.parent / match) for match in _LINK.findall(text)]
    paths += [
        (found[1], root / found[1])
        for line in typed.splitlines()
        if (found := _SCRIPT.match(line.strip()))
    ]
    for name, path in paths:
        if not path.exists():
            yield Finding(
                where,
                f"{name} does not exist",
                "the document points at it",
                "Correct the path or write the file.",
            )
    for symbol, name in symbols.missing(root, text):
        yield Finding(
            where,
            f"{name} does not define {symbol}",
            "the document says that it does",
            "Name the file that does.",
        )


def documents(root: Path) -> Sequence[Path]:
    """The Markdown files for users and contributors."""
    patterns = ("*.md", "src/*.md", "docs/**/*.md", "schema/*.md", "examples/**/*.md")
    return sorted(path for pattern in patterns for path in root.glob(pattern))


def off_site(root: Path, paths: Sequence[Path]) -> Iterator[Finding]:
    """The links to Markdown files that are no documents, so that the site (`make docs`) has no page
    of them."""
    pages = {path.resolve() for path in paths}
    for path in paths:
        for name in _LINK.findall(path.read_text(encoding="utf-8")):
            target = (path.parent / name).resolve()
            if target.suffix == ".md" and target.exists() and target not in pages:
                yield Finding(
                    path.relative_to(root).as_posix(),
                    f"{name} is not in the site of the documents",
                    "`make docs` fails at a link to it",
                    "Name it without a link.",
                )


def unlinked(root: Path, paths: Sequence[Path]) -> Iterator[Finding]:
    """The documents that README.md does not link. Decisions and examples have lists of their own,
    which it has to link instead."""
    readme = root / "README.md"
    linked = {root / name for name in _LINK.findall(readme.read_text(encoding="utf-8"))}
    for path in paths:
        listed = path.parent if path.name != "README.md" else path.parent.parent
        if path in linked or path == readme or (listed / "README.md") in linked - {readme}:
            continue
        yield Finding(
            path.relative_to(root).as_posix(),
            "README.md does not link it",
            "a reader begins there, and finds no other way to it",
            "Link it in README.md's table of documents.",
        )


def check(place: Place) -> Outcome:
    """Commands, links, paths and symbols that the documents name exist."""
    paths = documents(place.root)
    findings = [finding for path in paths for finding in document_findings(place.root, path)]
    findings += off_site(place.root, paths)
    if place.root / "README.md" in paths:
        findings += unlinked(place.root, paths)
    return Outcome(f"{len(paths)} documents", findings)


if __name__ == "__main__":
    sys.exit(run(check))
