"""Files, lines and Python functions are within STYLE.md's limits. (clang-tidy checks C++ code.)"""

import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from checks.report import Finding, Outcome, Place, run

FILE_LINES_MAX = 600
LINE_COLUMNS_MAX = 100
FUNCTION_LINES_MAX = 70

_FOLDERS = ("src", "benchmarks", "python", "tools", "tests", "evaluation", "examples", "cmake")
_SUFFIXES = {".cpp", ".hpp", ".c", ".h", ".py", ".cmake", ".sh", ".f90", ".F90", ".toml"}
_CODE = {".cpp", ".hpp", ".c", ".h", ".py", ".f90", ".F90", ".sh"}


def text_findings(name: str, text: str) -> Iterator[Finding]:
    """Findings about a text: too many lines, long lines, tabs, blanks at the end of lines."""
    lines = text.splitlines()
    if len(lines) > FILE_LINES_MAX and Path(name).suffix in _CODE:
        yield Finding(
            name,
            f"{len(lines)} lines",
            f"a file holds one idea, in at most {FILE_LINES_MAX} lines",
            "Split it by idea.",
        )
    for number, line in enumerate(lines, start=1):
        if len(line) > LINE_COLUMNS_MAX and Path(name).suffix in _CODE:
            yield Finding(
                f"{name}:{number}",
                f"{len(line)} columns",
                f"a line has at most {LINE_COLUMNS_MAX}",
                "Break it.",
            )
        if line.rstrip() != line or "\t" in line:
            yield Finding(
                f"{name}:{number}",
                "a tab or blanks at the end of the line",
                "four spaces indent, nothing trails",
                "Take it out.",
            )


def function_findings(name: str, text: str) -> Iterator[Finding]:
    """Findings about a Python file: functions that are too long."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        todo = "Write what 3.11 reads."
        yield Finding(f"{name}:{error.lineno}", "not Python 3.11", error.msg, todo)
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES_MAX:
                yield Finding(
                    f"{name}:{node.lineno}",
                    f"{node.name} has {lines} lines",
                    f"a function has at most {FUNCTION_LINES_MAX}",
                    "Take what it decides apart from what it does.",
                )


def files(root: Path) -> Sequence[Path]:
    """The project's text files that the limits apply to."""
    found = [
        path
        for folder in _FOLDERS
        for path in sorted((root / folder).rglob("*"))
        if path.suffix in _SUFFIXES and path.is_file() and "node_modules" not in path.parts
    ]
    return [*found, root / "CMakeLists.txt"]


def check(place: Place) -> Outcome:
    """Files, lines and Python functions keep to STYLE.md's sizes."""
    findings: list[Finding] = []
    paths = files(place.root)
    for path in paths:
        name = path.relative_to(place.root).as_posix()
        text = path.read_text(encoding="utf-8")
        findings += text_findings(name, text)
        if path.suffix == ".py":
            findings += function_findings(name, text)
    return Outcome(f"{len(paths)} files", findings)


if __name__ == "__main__":
    sys.exit(run(check))
