"""What every integration test is given, and in which order they run."""

from __future__ import annotations

import re
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from suite import mpi as m
from suite import sanitized

_PASSED = pytest.StashKey[bool]()


def _name_of(item: pytest.Item) -> str:
    return re.sub(r"\W+", "-", item.name.removeprefix("test_")).strip("-")


@pytest.fixture
def folder(request: pytest.FixtureRequest) -> Iterator[Path]:
    """An empty folder of the test's own; it stays when the test fails."""
    path = m.BUILD / "work" / _name_of(request.node)
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    yield path
    if request.node.stash.get(_PASSED, False):
        shutil.rmtree(path, ignore_errors=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    if sanitized.IS_ON:
        with sanitized.judged(_name_of(item)):
            yield
    else:
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call":
        item.stash[_PASSED] = not report.failed
    return report
