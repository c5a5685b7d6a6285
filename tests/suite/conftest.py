"""The fixtures of every integration test, and the order in which tests run."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from suite import mounted, sanitized
from suite import mpi as m
from suite.tiers import Tier, new_tier

_PASSED = pytest.StashKey[bool]()
_MEMORY = Path("/dev/shm")


def _name_of(item: pytest.Item) -> str:
    return re.sub(r"\W+", "-", item.name.removeprefix("test_")).strip("-")


@pytest.fixture
def folder(request: pytest.FixtureRequest) -> Iterator[Path]:
    """An empty folder of the test's own; it stays when the test fails. Marked `memory`, it is one
    for which no disk is waited for: programs that sync each file many times take a minute on a disk
    that others keep busy."""
    kept = m.BUILD / "work" / _name_of(request.node)
    shutil.rmtree(kept, ignore_errors=True)
    in_memory = request.node.get_closest_marker("memory") is not None and _MEMORY.is_dir()
    path = Path(tempfile.mkdtemp(prefix="forebay-test-", dir=_MEMORY)) if in_memory else kept
    path.mkdir(parents=True, exist_ok=True)
    yield path
    passed = request.node.stash.get(_PASSED, False)
    if in_memory and not passed:
        shutil.copytree(path, kept, symlinks=True, ignore_dangling_symlinks=True)
    if in_memory or passed:
        shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def below() -> Iterator[Path]:
    """An empty folder that may be mounted over."""
    with tempfile.TemporaryDirectory(prefix="mount.", dir="/tmp") as made:
        folder = Path(made, "below")
        folder.mkdir()
        try:
            yield folder
        finally:
            mounted.unmount(folder)


@pytest.fixture
def tier() -> Iterator[Tier]:
    """A folder with a fast place, which nobody has mounted yet."""
    with new_tier() as made:
        yield made


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
