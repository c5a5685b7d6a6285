"""Sources use nothing that Linux 4.18 and glibc 2.28 lack, outside of src/foundation/kernel.

Clusters run such systems (RHEL 8). The compiler here does not notice: its headers are newer. The
table is newer.toml; checks.needed looks at what was linked.
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from checks import layer_table
from checks.report import Finding, Outcome, Place, run

TABLE = Path(__file__).with_name("newer.toml")
KERNEL = "foundation/kernel/"
# It defines functions of these names itself, so that there only ::name is libc's.
CAPTURE = "pool/capture/"
NUMBERS = Path("src/pool/capture/functions.toml")
_NOT_CODE = re.compile(r'"(?:[^"\\]|\\.)*"|//.*')
_WORD = re.compile(r"\w+")
_WHY = "Linux 4.18 or glibc 2.28 lacks it, and Forebay compiles there, too"
_TODO = (
    "Take it from src/foundation/kernel: newer_linux.hpp has constants and numbers, newer_calls.hpp"
    " calls with a replacement for older kernels."
)


def _any_of(names: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, names)))


class Newer:
    """The table, as patterns for a line of code."""

    def __init__(self, table: Path = TABLE) -> None:
        rows = {
            kind: names.split()
            for kind, names in tomllib.loads(table.read_text(encoding="utf-8")).items()
        }
        self.numbers = frozenset(rows["numbers"])
        self._include = re.compile(rf"#\s*include <({_any_of(rows['headers'])})>")
        functions = _any_of(rows["functions"])
        self._qualified = re.compile(rf"(?<!\w)::({functions})\b")
        self._called = re.compile(rf"(?<![\w:>.])({functions})\s*\(")
        numbers = rf"(?:SYS|__NR)_(?:{_any_of(rows['numbers'])})"
        self._named = re.compile(rf"\b({_any_of(rows['constants'])}|{numbers})\b")
        self._words = {f"{kind}_{name}" for kind in ("SYS", "__NR") for name in self.numbers}
        self._words.update(rows["functions"], rows["constants"])

    def may_name(self, text: str) -> bool:
        """Whether one of the lines may use a newer name. Looks at words only, which is fast."""
        return bool(self._include.search(text)) or not self._words.isdisjoint(_WORD.findall(text))

    def names_in(self, line: str, *, defines: bool) -> Iterator[str]:
        """The newer names that a line uses. With `defines`, the file has functions of these names
        of its own."""
        if found := self._include.search(line):
            yield f"<{found[1]}>"
            return
        code = _NOT_CODE.sub("", line)
        patterns = [self._qualified, self._named] + ([] if defines else [self._called])
        for pattern in patterns:
            yield from pattern.findall(code)


def numbers_findings(newer: Newer, table: Path) -> Iterator[Finding]:
    """System calls that the table of captured functions names as if all headers had them."""
    if not table.exists():
        return
    for row in tomllib.loads(table.read_text(encoding="utf-8"))["function"]:
        for number in sorted(newer.numbers & set(row.get("numbers", []))):
            yield Finding(
                NUMBERS.as_posix(),
                f"SYS_{number} is used",
                _WHY,
                "Name it in newer_numbers, and in src/foundation/kernel/newer_linux.hpp.",
            )


def check(place: Place) -> Outcome:
    """Sources use nothing that Linux 4.18 and glibc 2.28 lack, outside of
    src/foundation/kernel."""
    newer = Newer()
    findings = list(numbers_findings(newer, place.root / NUMBERS))
    count = 0
    for name, path in layer_table.sources(place.root, "*.cpp", "*.hpp", "*.S", "*.inc"):
        if name.startswith(KERNEL):
            continue
        count += 1
        defines = name.startswith(CAPTURE)
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines() if newer.may_name(text) else []
        for number, line in enumerate(lines, start=1):
            where = f"{path.relative_to(place.root)}:{number}"
            for used in newer.names_in(line, defines=defines):
                findings.append(Finding(where, f"{used} is used", _WHY, _TODO))
    return Outcome(f"newer names in {count} sources", findings)


if __name__ == "__main__":
    sys.exit(run(check))
