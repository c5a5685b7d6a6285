"""The common part of all checks: the form of a finding, the options, the exit status."""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, order=True)
class Finding:
    """One violation of a rule: where it is, what it is, why it is wrong, and what to do."""

    where: str
    problem: str
    why: str
    todo: str

    def __str__(self) -> str:
        return f"{self.where}: {self.problem} ({self.why}). {self.todo}"


@dataclass(frozen=True)
class Outcome:
    """The result of a check: in one phrase how much it looked at, and its findings."""

    looked_at: str
    findings: Sequence[Finding]


@dataclass(frozen=True)
class Place:
    """The source tree, and its build directory, which not every check needs."""

    root: Path
    build: Path


def run(check: Callable[[Place], Outcome], argv: Sequence[str] | None = None) -> int:
    """Runs `check` as a program and returns its exit status."""
    parser = argparse.ArgumentParser(description=check.__doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    parser.add_argument("--build", type=Path, help="build directory (build/dev)")
    options = parser.parse_args(argv)
    root: Path = options.root.resolve()
    build: Path = (options.build or root / "build" / "dev").resolve()
    outcome = check(Place(root, build))
    for finding in sorted(outcome.findings):
        print(finding)
    if outcome.findings:
        print(f"{len(outcome.findings)} to mend; {outcome.looked_at}", file=sys.stderr)
        return 1
    print(f"fine: {outcome.looked_at}")
    return 0
