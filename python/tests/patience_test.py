"""Calls on file systems that may hang."""

import os
import signal
from pathlib import Path

import pytest

from forebay.common.model.errors import HangError, UsageError
from forebay_tuning.probe.files import patience
from forebay_tuning.probe.files.patience import patiently


def test_what_a_call_returns_and_raises_comes_back(tmp_path: Path) -> None:
    assert patiently(tmp_path, lambda: (tmp_path, [1, 2])) == (tmp_path, [1, 2])
    assert patiently(tmp_path, lambda: b"x" * (1 << 20)) == b"x" * (1 << 20)

    def refuse() -> None:
        raise UsageError("no such thing")

    with pytest.raises(UsageError, match="no such thing"):
        patiently(tmp_path, refuse)
    with pytest.raises(FileNotFoundError):
        patiently(tmp_path, (tmp_path / "none").stat)


def test_a_call_may_take_its_time_while_the_file_system_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call ends when it has been asked for in vain."""
    monkeypatch.setattr(patience, "ANSWER_SECONDS", 1.0)
    asked = tmp_path / "asked"
    monkeypatch.setattr(patience, "_ask", lambda _: asked.touch())

    def slow() -> int:
        while not asked.exists():
            pass
        return 7

    assert patiently(tmp_path, slow) == 7


def test_a_file_system_without_an_answer_is_left_and_so_is_what_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "ANSWER_SECONDS", 0.01)
    monkeypatch.setattr(patience, "_ask", lambda _: signal.pause())
    ends, its = os.pipe()

    def hang() -> None:
        signal.pause()

    with pytest.raises(HangError, match=r"hangs .*--clean"):
        patiently(tmp_path, hang)
    os.close(its)
    assert os.read(ends, 1) == b""  # nobody has the other end: the processes are gone
    os.close(ends)


def test_a_call_that_is_killed_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="ended from outside"):
        patiently(tmp_path, lambda: os.kill(os.getpid(), signal.SIGKILL))
