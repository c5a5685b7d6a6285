"""The parts that all checks share: how a finding reads, how options are parsed, how a check
ends."""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, order=True)
class Finding:
    """One broken rule: where, what, why it is wrong, and what to do about it."""

    where: str
    problem: str
    why: str
    todo: str

    def __str__(self) -> str:
        return f"{self.where}: {self.problem} ({self.why}). {self.todo}"


@dataclass(frozen=True)
class Outcome:
    """The scope of a check, in one phrase, and its findings."""

    looked_at: str
    findings: Sequence[Finding]


@dataclass(frozen=True)
class Place:
    """The source tree and a build directory of it (which a check may not need)."""

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
