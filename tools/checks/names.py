"""No type name is defined twice in production code, and a C++ name of one word is in GLOSSARY.md.

names.toml lists the exceptions that are older than the rule. It may only become shorter."""

import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from checks import layer_table
from checks.report import Finding, Outcome, Place, run

_HELP = re.compile(r"_(test|fuzz|bench|wrong)\.cpp$|_(check|contract)\.hpp$|oracle|/scripted/")
# A definition at namespace level is not indented; its base classes may be on the next line.
_TYPE = re.compile(
    r"^(?:class|struct|union|enum class|enum)\s+(?:\[\[\w+\]\]\s+|alignas\([^)]*\)\s+)?"
    r"(\w+)(?:\s+final)?\s*(?::(?!:)[^;{]*)?\{",
    re.MULTILINE,
)
_WORD = re.compile(r"[a-z0-9][A-Z]")
_ENTRY = re.compile(r"^\| \*\*([^*]+)\*\*", re.MULTILINE)


def definitions(root: Path) -> Mapping[str, Sequence[str]]:
    """For each type that is defined at namespace level, the files that define it."""
    found: dict[str, list[str]] = defaultdict(list)
    for name, path in layer_table.sources(root, "*.hpp", "*.cpp"):
        if not _HELP.search(name):
            for match in _TYPE.finditer(path.read_text(encoding="utf-8")):
                found[match[1]].append(path.relative_to(root).as_posix())
    return found


def python_definitions(root: Path) -> Mapping[str, Sequence[str]]:
    """For each class at the top of a module that users get, the modules that define it."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted((root / "python").glob("forebay*/**/*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                found[node.name].append(path.relative_to(root).as_posix())
    return found


def explained(root: Path) -> frozenset[str]:
    """The words that GLOSSARY.md explains."""
    glossary = root / "GLOSSARY.md"
    text = glossary.read_text(encoding="utf-8") if glossary.exists() else ""
    return frozenset(word.lower() for word in _ENTRY.findall(text))


def _unlisted(
    broken: Mapping[str, str], listed: Sequence[str], key: str, why: str, todo: str
) -> Iterator[Finding]:
    for name in sorted(broken.keys() - set(listed)):
        yield Finding(broken[name], f"the type {name} {key.replace('_', ' ')}", why, todo)
    for name in sorted(set(listed) - broken.keys()):
        yield Finding(
            "tools/checks/names.toml",
            f"{name} is listed under {key} and keeps the rule",
            "the list may only become shorter",
            "Take it out.",
        )


def check(place: Place) -> Outcome:
    """No type's name is defined twice, and one of C++ of a single word is in GLOSSARY.md."""
    types = definitions(place.root)
    words = explained(place.root)
    known_file = place.root / "tools" / "checks" / "names.toml"
    known = tomllib.loads(known_file.read_text(encoding="utf-8")) if known_file.exists() else {}
    classes = python_definitions(place.root)
    twice = {
        name: files[-1]
        for found in (types, classes)
        for name, files in found.items()
        if len(files) > 1
    }
    single = {
        name: files[0]
        for name, files in types.items()
        if not _WORD.search(name) and name.lower() not in words
    }
    findings = [
        *_unlisted(
            twice,
            known.get("is_defined_twice", []),
            "is_defined_twice",
            "who searches for it is led to the wrong one",
            "Give one of them a name of two words.",
        ),
        *_unlisted(
            single,
            known.get("has_one_word", []),
            "has_one_word",
            "one word means many things, and GLOSSARY.md does not say which is meant",
            "Name it by two words, or explain the word in GLOSSARY.md.",
        ),
    ]
    left = sum(len(listed) for listed in known.values())
    return Outcome(
        f"{len(types)} types, {len(classes)} classes, {left} names from before the rule", findings
    )


if __name__ == "__main__":
    sys.exit(run(check))
