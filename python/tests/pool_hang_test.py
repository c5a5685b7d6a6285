"""A file system that does not answer is told while it lasts."""

import io
from collections.abc import Sequence

import pytest

from forebay.pool.model.pool import PoolFile, PoolStatus
from forebay.pool.report.drain_progress import DrainProgress
from forebay.pool.report.text import status_lines


def silent_for(*seconds: float) -> PoolStatus:
    """Files of which a byte waits; for each of them, how long nothing was answered."""
    files = tuple(
        PoolFile(
            path=f"/{number}", state="pooled", reason="", error=0, error_text="", taken=1 << 20,
            drained=0, outstanding=1 << 20, window=1 << 28, high=1 << 20, extents=1,
            oldest_seconds=99.0, silent_seconds=silent, waited_seconds=0.0, storage_seconds=1.0,
            opening_seconds=0.0, syncing_seconds=0.0, draining_seconds=0.0, syncs=0,
            storage_bytes=0, requests=1, rate=0.0, times=1,
        )
        for number, silent in enumerate(seconds)
    )  # fmt: skip
    return PoolStatus(
        process=77, uptime_seconds=3.0, ended=False, closing=False, cap=1 << 30, leased=1 << 20,
        high=1 << 20, read_ahead_held=0, read_ahead=0, lag=0, oldest_seconds=99.0, clients=(),
        files=files, files_dropped=0, rescued=(),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        ((), ""),
        ((29.9, 0.0), ""),
        ((30.0, 0.0), "30 s (/0)"),
        ((40.0, 42.4), "42 s (/1)"),
    ],
)
def test_the_status_says_so(seconds: Sequence[float], told: str) -> None:
    """By the file for which it has been silent longest. That bytes are old says nothing."""
    lines = [line for line in status_lines(silent_for(*seconds), "/s") if "not answered" in line]
    assert len(lines) == (1 if told else 0)
    assert all(f"not answered for {told}. Nothing is lost" in line for line in lines)


def test_the_progress_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forebay.pool.report.drain_progress._SILENT_SECONDS", 0.0)
    monkeypatch.setattr("forebay.pool.report.drain_progress._LINE_SECONDS", 0.0)
    said = io.StringIO()
    progress = DrainProgress(said)
    for seconds in (12.0, 42.0, 0.0):
        progress.show(silent_for(seconds))
    lines = said.getvalue().splitlines()
    assert len(lines) == 3
    assert lines[0] == lines[2] == "forebay: draining the pool, 1.00 MiB to go: /0 (1.00 MiB)"
    assert lines[1].startswith("forebay: the file system has not answered for 42 s (/0).")


def test_the_progress_names_the_files_that_have_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the batch system kills everything then, nothing else is left to tell of them."""
    monkeypatch.setattr("forebay.pool.report.drain_progress._SILENT_SECONDS", 0.0)
    said = io.StringIO()
    DrainProgress(said).show(silent_for(*[0.0] * 7))
    assert said.getvalue().endswith(", /4 (1.00 MiB), and 2 more files\n")


class Terminal(io.StringIO):
    """Which a bar is shown on."""

    def isatty(self) -> bool:
        return True


def test_the_bar_says_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forebay.pool.report.drain_progress._SILENT_SECONDS", 0.0)
    said = Terminal()
    progress = DrainProgress(said)
    for seconds in (0.0, 12.0, 42.0, 52.0):
        progress.show(silent_for(seconds))
    progress.end()
    assert said.getvalue().count("has not answered for") == 1
