"""`forebay advise` on programs whose logs show a trouble that no setting mends."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import pytest
from tuning_verdict_test import HERE


@pytest.mark.parametrize(
    ("name", "told", "keep"),
    [
        ("rootwriter-2x200x4194304", "what cost most is: rank 0 writes for all", False),
        ("bound-2x50x4194304", "the log shows no cause of what I/O took", False),
        ("nearly-empty-partial", "the log does not have all I/O", False),
        ("healthy-4x20x1048576", "keep everything as it is", True),
    ],
)
def test_advice_without_a_portrait_was_to_keep_everything_of_whatever_a_log_shows(
    forebay: Callable[..., subprocess.CompletedProcess[str]], name: str, told: str, *, keep: bool
) -> None:
    pytest.importorskip("darshan")
    log = str(HERE / f"{name}.darshan")
    done = forebay("advise", "--darshan", log)
    assert told in done.stdout.splitlines()[0]
    assert ("nothing in the log held" in done.stdout) is keep
    (line,) = json.loads(forebay("advise", "--darshan", log, "--format", "json").stdout)["advice"]
    assert line["keep"] is keep
    assert bool(line["held_back"]) is not keep


@pytest.mark.parametrize(
    ("name", "told", "not_told"),
    [
        ("ior-hard", "small writes of 45.9 KiB each", "stripe count: 8 → 4"),
        ("all-read-the-restart-file", "stripe count: 4 → 16", "layout set -c 1 "),
        ("collective-reads-with-holes", "data sieving in reads", "stripe count"),
        ("run-of-half-a-second", "below a second nothing is worth it", "asks for stripe"),
        (
            "input-on-four-stripes",
            "in the log, what cost most is: shared lies on 4 targets",
            "keep",
        ),
    ],
)
def test_rules_of_thumb_did_harm_where_the_log_shows_another_cause(
    forebay: Callable[..., subprocess.CompletedProcess[str]], name: str, told: str, not_told: str
) -> None:
    """A file of pieces that share stripes was to get fewer of them, one that 2048 ranks read a
    single one, and one on ext4, which has none, sixteen."""
    pytest.importorskip("darshan")
    said = forebay("advise", "--darshan", str(HERE / f"{name}.darshan")).stdout
    assert told in said
    assert not_told not in said


def test_advice_on_a_program_that_moves_no_bytes_names_its_trouble(
    forebay: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    pytest.importorskip("darshan")
    done = forebay("advise", "--darshan", str(HERE / "openstorm-1x20000x8.darshan"))
    assert done.returncode != 0
    assert "What cost most: opening and closing files." in done.stderr
