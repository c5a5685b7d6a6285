"""Compares the files and output of a program of tests/mpi (see tests/mpi/common.h): plain against
Forebay."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from suite.record import Record
from suite.verdict import Failed, ensure

OUTPUT = "out.txt"
RECORD = "record.jsonl"
ONE_RANK = "file of one rank"
NOT_COMPARED = ".any"


@dataclass
class Case:
    """A section of the output."""

    told: list[str] = field(default_factory=list)
    wrong: str = ""
    files: set[str] = field(default_factory=set)


@dataclass
class Output:
    cases: dict[str, Case] = field(default_factory=dict)
    expectations: list[list[str]] = field(default_factory=list)
    info: dict[str, dict[str, str]] = field(default_factory=dict)
    complete: bool = False

    @staticmethod
    def read(folder: Path) -> Output:
        output = Output()
        current = Case()
        path = folder / OUTPUT
        for line in path.read_text(errors="replace").splitlines() if path.exists() else []:
            word, _, rest = line.partition(" ")
            if word == "expect":
                output.expectations.append(rest.split(" ", 3))
                current.files.add(output.expectations[-1][1])
            elif word == "info":
                file, _, pair = rest.partition(" ")
                key, _, value = pair.partition("=")
                output.info.setdefault(file, {})[key] = value
            elif word == "=":
                current.told.append(rest)
            elif word == "check":
                name, _, verdict = rest.partition(": ")
                current.wrong = "" if verdict == "ok" else verdict
                output.cases[name] = current
                current = Case()
            elif word == "end":
                output.complete = True
        return output


def compare(plain: Path, forebay: Path, *, ranks: int) -> None:
    """Fails with everything that differs, or that was not taken over as it should have been."""
    a, b = Output.read(plain), Output.read(forebay)
    ensure(a.complete, f"the plain program did not come to its end ({plain})")
    ensure(b.complete, f"the program did not come to its end with Forebay ({forebay})")
    ensure(b.cases.keys() == a.cases.keys(), "different cases were run")
    faults: list[str] = []
    excused: set[str] = set()
    for name, case in b.cases.items():
        expected = a.cases[name]
        # Forebay leaves the calls of a single rank to the MPI, mistakes included.
        if case.wrong and not (ranks == 1 and expected.wrong):
            faults.append(f"{name}: {case.wrong}")
        if expected.wrong:
            excused |= expected.files
            continue
        faults += _told_otherwise(name, expected.told, case.told)
    faults += _different_files(plain, forebay, excused)
    faults += _not_as_expected(b, Record.read(forebay / RECORD), ranks)
    if faults:
        raise Failed("\n".join(faults[:12]) + f"\n({len(faults)} faults, in {forebay})")


def _told_otherwise(name: str, plain: list[str], forebay: list[str]) -> list[str]:
    faults = [
        f"{name}: plain     {x}\n{name}: forebay   {y}"
        for x, y in zip(plain, forebay, strict=False)
        if x != y
    ]
    if len(plain) != len(forebay):
        least = min(len(plain), len(forebay))
        first = [*plain[least:], *forebay[least:]][0]
        faults.append(
            f"{name}: {len(plain)} lines told plain, {len(forebay)} with Forebay; the first that "
            f"only one of them told: {first}"
        )
    return faults


def _different_files(plain: Path, forebay: Path, excused: set[str]) -> list[str]:
    faults = []
    names = {file.name for folder in (plain, forebay) for file in folder.iterdir()}
    names -= {OUTPUT, RECORD} | excused
    for name in sorted(name for name in names if not name.endswith(NOT_COMPARED)):
        fault = first_difference(plain / name, forebay / name)
        if fault:
            faults.append(fault)
    return faults


def first_difference(plain: Path, forebay: Path) -> str:
    """Empty where both files hold the same bytes."""
    for file in (plain, forebay):
        if not file.exists():
            return f"there is no {file}"
    a, b = plain.read_bytes(), forebay.read_bytes()
    if a == b:
        return ""
    at = next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )
    return f"{plain.name} differs from byte {at} on ({len(a)} bytes plain, {len(b)} with Forebay)"


def _not_as_expected(output: Output, record: Record, ranks: int) -> list[str]:
    faults = []
    for expectation in output.expectations:
        try:
            files = record.of(expectation[1])
            if expectation[0] == "left":
                files.ensure_left(expectation[2], "*" if ranks == 1 else expectation[3])
            elif ranks == 1:
                files.ensure_all_left(ONE_RANK)
            elif expectation[0] == "taken":
                files.ensure_taken(writes=int(expectation[2]), reads=int(expectation[3]))
            else:
                files.ensure_some_taken()
        except Failed as failed:
            faults.append(str(failed))
    return faults
