"""Snippets that must not compile indeed do not: every `// WRONG:` in src/**/*_wrong.cpp fails, and
fails because of its own lines."""

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from checks import headers, layer_table
from checks.report import Finding, Outcome, Place, run

_MARK = re.compile(r"^// (RIGHT|WRONG): (.+)$")
_ERROR = re.compile(r"^<stdin>:(\d+):\d+: (?:fatal )?error:", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """A snippet: lines `first` to `last` of a file. The unmarked lines belong to all snippets."""

    what: str
    wrong: bool
    first: int
    last: int


def cases(text: str) -> Sequence[Case]:
    """The marked snippets of a file. A snippet ends at the next mark or at the namespace's end."""
    lines = text.splitlines()
    marks = [(n, m) for n, line in enumerate(lines, start=1) if (m := _MARK.match(line))]
    closing = [n for n, line in enumerate(lines, start=1) if line.startswith("}  // namespace")]
    end = closing[-1] if closing else len(lines) + 1
    ends = [n for n, _ in marks[1:]] + [end]
    return [
        Case(mark[2], mark[1] == "WRONG", first, last - 1)
        for (first, mark), last in zip(marks, ends, strict=True)
    ]


def alone(text: str, case: Case, every: Sequence[Case]) -> str:
    """The file with only this snippet; the others' lines are blanked, so that numbers are kept."""
    others = {n for one in every if one != case for n in range(one.first, one.last + 1)}
    lines = text.splitlines()
    return "\n".join("" if n in others else line for n, line in enumerate(lines, start=1)) + "\n"


def complaint(case: Case, returned: int, errors: str) -> str:
    """How the compiler's result contradicts the snippet's mark; empty if it does not."""
    lines = [int(number) for number in _ERROR.findall(errors)]
    if not case.wrong:
        first = next((line for line in errors.splitlines() if "error" in line), errors.strip())
        return f"does not compile: {first}" if returned != 0 else ""
    if returned == 0:
        return "compiles"
    elsewhere = not any(case.first <= line <= case.last for line in lines)
    return "fails for another reason than its own lines" if elsewhere else ""


def file_findings(file: Path, place: Place, flags: Sequence[str]) -> Iterator[Finding]:
    """The findings about the snippets of one file."""
    text = file.read_text(encoding="utf-8")
    every = cases(text)
    name = file.relative_to(place.root).as_posix()
    if not any(case.wrong for case in every):
        yield Finding(name, "no // WRONG:", "it checks nothing", "Mark what must not compile.")
    for case in every:
        done = subprocess.run(
            [*flags, f"-I{place.root / 'src'}", "-fsyntax-only", "-x", "c++", "-"],
            input=alone(text, case, every),
            capture_output=True,
            text=True,
            check=False,
        )
        if problem := complaint(case, done.returncode, done.stderr):
            yield Finding(
                f"{name}:{case.first}",
                f"{case.what}: {problem}",
                "a type that lets this through protects nobody" if case.wrong else "it is right",
                "Mend the type, or the snippet.",
            )


def check(place: Place) -> Outcome:
    """Check that snippets that must not compile do not: every `// WRONG:` of src, for its own
    reason."""
    source = place.root / "src"
    layers = layer_table.read(place.root / "layers.toml")
    flags = headers.flags_by_layer(place)
    files = sorted(source.rglob("*_wrong.cpp"))

    def findings_of(file: Path) -> Sequence[Finding]:
        layer = layer_table.layer_of(layers, layer_table.name_of(place.root, file))
        own = flags.get(layer.name if layer else "", headers.BARE)
        return list(file_findings(file, place, own))

    with ThreadPoolExecutor(max_workers=2) as pool:
        findings = [one for found in pool.map(findings_of, files) for one in found]
    total = sum(len(cases(file.read_text(encoding="utf-8"))) for file in files)
    return Outcome(f"{total} snippets of {len(files)} files", findings)


if __name__ == "__main__":
    sys.exit(run(check))
