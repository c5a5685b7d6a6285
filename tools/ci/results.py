"""Counts test results and their times, from JUnit XML (of pytest and ctest) or from the scripts'
lines "N passed, N failed"."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path


class Outcome(Enum):
    """How a test ended."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Result:
    """The result of one test."""

    name: str
    seconds: float
    outcome: Outcome


@dataclass(frozen=True)
class Count:
    """Numbers of tests that passed, failed and were skipped."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(
            self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped
        )

    def __str__(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


_PLAIN = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.MULTILINE)
_SHARD = re.compile(r"(.+)\.\d+_of_\d+$")
_ENDED = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] (\S+?),? .*\((\d+) ms\)$", re.MULTILINE)
_GTEST = {"OK": Outcome.PASSED, "FAILED": Outcome.FAILED, "SKIPPED": Outcome.SKIPPED}


def said(log: str) -> Count:
    """The sum of the lines `N passed, N failed` in a log."""
    total = Count()
    for passed, failed, skipped in _PLAIN.findall(log):
        total += Count(int(passed), int(failed), int(skipped or 0))
    return total


def count(results: Iterable[Result]) -> Count:
    """The numbers of results by outcome."""
    outcomes = [result.outcome for result in results]
    return Count(*(outcomes.count(one) for one in Outcome))


def read(folder: Path) -> list[Result]:
    """All results in the XML files of a folder."""
    found: list[Result] = []
    for file in sorted(folder.glob("*.xml")):
        if file.stat().st_size == 0:
            continue  # pytest was killed before it wrote results; the step's status shows it
        for case in ElementTree.parse(file).getroot().iter("testcase"):
            found += _results(case)
    return found


def slowest(results: Iterable[Result], number: int) -> list[str]:
    """Lines that name the `number` slowest tests."""
    ordered = sorted(results, key=lambda result: -result.seconds)
    return [f"{result.seconds:8.1f} s  {result.name}" for result in ordered[:number]]


def _results(case: ElementTree.Element) -> list[Result]:
    """The tests in one JUnit case: one, or for a shard of GoogleTest all that the shard ran."""
    one = Result(_name(case), float(case.get("time") or 0), _outcome(case))
    shard = _SHARD.fullmatch(one.name)
    if shard is None:
        return [one]
    output = case.findtext("system-out") or ""
    found = [
        Result(f"{shard[1]}:{name}", int(milliseconds) / 1000, _GTEST[word])
        for word, name, milliseconds in _ENDED.findall(output)
    ]
    if one.outcome is Outcome.FAILED and not any(x.outcome is Outcome.FAILED for x in found):
        started = re.findall(r"^\[ RUN +\] (\S+)", output, re.MULTILINE)
        died = f"{shard[1]}:{started[-1]}" if started else one.name
        found.append(Result(died, one.seconds, Outcome.FAILED))
    return found


def _name(case: ElementTree.Element) -> str:
    """The test's name, after the module's for pytest; ctest repeats the name as the class."""
    name, place = case.get("name") or "", case.get("classname") or ""
    return name if place in ("", name) else f"{place.rpartition('.')[2]}:{name}"


def _outcome(case: ElementTree.Element) -> Outcome:
    if case.find("failure") is not None or case.find("error") is not None:
        return Outcome.FAILED
    if case.find("skipped") is not None:
        return Outcome.SKIPPED
    return Outcome.FAILED if case.get("status") == "fail" else Outcome.PASSED
