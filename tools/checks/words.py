"""No comment, docstring, help text or paragraph begins with "Of", "What" or "Who": such a sentence
leaves out its subject, or puts a clause in its place.

Headings may be questions. CHANGELOG.md tells what was, and is left as it is."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from checks import docs
from checks.report import Finding, Outcome, Place, run

_WORD = r"(?:Of|What|Who)\b"
_BEGINS = re.compile(_WORD, re.IGNORECASE)
_SLASHES = {".cpp", ".hpp", ".h", ".c", ".go", ".rs"}
_HASHES = {".py", ".sh", ".toml", ".cmake", ".txt", ".yml", ".yaml", ".spec", ".def", ".in", ".j2"}
_NAMES = {"Makefile", "Dockerfile", ".clang-tidy", ".clang-format", "run"}
# The first word of a comment. The comment before it on its own line makes it a later line.
_COMMENTS = {
    "//": re.compile(rf"(?:^|(?<=\s))(?://+|/\*+)\s*({_WORD})"),
    "#": re.compile(rf"(?:^|(?<=[\s{{]))#+\s*({_WORD})"),
}
_MEANING = re.compile(rf"\b(?:meaning|doc|help)\s*=\s*\"+({_WORD})", re.IGNORECASE)
_PARAGRAPH = re.compile(rf"\s*(?:[-*]\s+|\d+\.\s+|>\s+)?({_WORD})")
_MARK = re.compile(r"\s*(?:[-*]\s|\d+\.\s|>\s)")


def comment_sign(path: Path) -> str:
    """The sign that begins a comment in such a file; "" if the check does not read it."""
    if path.suffix in _SLASHES:
        return "//"
    return "#" if path.suffix in _HASHES or path.name in _NAMES else ""


def begun_comments(text: str, sign: str) -> Iterator[int]:
    """The lines, from 1, where a comment begins with one of the words. A line of a comment that
    goes on from the line before is not its beginning."""
    within = False
    for number, line in enumerate(text.splitlines(), 1):
        if not within and _COMMENTS[sign].search(line):
            yield number
        within = line.lstrip().startswith(sign) and not line.startswith("#!")


def _is_help(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.keyword)
        and node.arg in {"help", "description", "epilog"}
        and isinstance(node.value, ast.Constant | ast.JoinedStr)
    )


def _beginning(node: ast.expr) -> str:
    """The text that a literal begins with."""
    if isinstance(node, ast.JoinedStr):
        return _beginning(node.values[0]) if node.values else ""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def begun_texts(text: str) -> Iterator[int]:
    """The lines of Python where a docstring or a help text begins with one of the words."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) or _is_help(node):
            value: ast.expr = node.value  # type: ignore[attr-defined]
            if _BEGINS.match(_beginning(value).lstrip()):
                yield value.lineno


def begun_paragraphs(text: str) -> Iterator[int]:
    """The lines of a document where a paragraph or an item of a list begins with one of the
    words."""
    fenced, before = False, ""
    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= line.lstrip().startswith("```")
        begins = not before.strip() or before.startswith("#") or _MARK.match(line) is not None
        if not fenced and begins and _PARAGRAPH.match(line):
            yield number
        before = line


def begun(path: Path, text: str) -> Iterator[int]:
    """The lines of a file where any of these begins with one of the words."""
    if path.suffix == ".md":
        yield from begun_paragraphs(text)
        return
    yield from begun_comments(text, comment_sign(path))
    if path.suffix == ".py":
        yield from begun_texts(text)
    if path.suffix == ".toml":
        lines = enumerate(text.splitlines(), 1)
        yield from (number for number, line in lines if _MEANING.match(line))


def files(root: Path) -> Iterator[Path]:
    """The files that are read: those that Git has, or would have, and all documents."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = [root / name for name in listed.stdout.splitlines()]
    yield from (path for path in paths if comment_sign(path) and path.is_file())
    yield from (path for path in docs.documents(root) if path.name != "CHANGELOG.md")


def check(place: Place) -> Outcome:
    """No comment, docstring, help text or paragraph begins with "Of", "What" or "Who"."""
    paths = list(files(place.root))
    findings = [
        Finding(
            f"{path.relative_to(place.root).as_posix()}:{number}",
            'a sentence begins with "Of", "What" or "Who"',
            "it has no subject, or a clause for one",
            "Name the thing: who does what to what.",
        )
        for path in paths
        for number in begun(path, path.read_text(encoding="utf-8"))
    ]
    return Outcome(f"{len(paths)} files", findings)


if __name__ == "__main__":
    sys.exit(run(check))
