"""Tests what the first line about a pool says: how long was waited, and whether the pool paid."""

from pathlib import Path
from typing import Any

import pytest

from forebay.pool.model.pool import PoolEnd, PoolFile, PoolStatus, Rescued
from forebay.pool.model.verdict import Cause, Judgement, PoolVerdict, verdict_of
from forebay.pool.report.text import outcome_verdict
from forebay.pool.report.verdict_text import spoken, verdict_text
from forebay.pool.use_case.run_pool import PoolOutcome

MIB = 1 << 20


def file(**changes: Any) -> PoolFile:
    """A file of 64 MiB that was written in 16 requests, each of 4 MiB."""
    usual: dict[str, Any] = {
        "path": "/out", "state": "closed", "reason": "", "error": 0, "error_text": "",
        "taken": 64 * MIB, "drained": 64 * MIB, "outstanding": 0, "window": 1 << 28, "high": MIB,
        "extents": 0, "oldest_seconds": 0.0, "silent_seconds": 0.0, "waited_seconds": 0.1,
        "opening_seconds": 0.0, "syncing_seconds": 0.0, "draining_seconds": 0.0, "syncs": 0,
        "storage_seconds": 1.3, "storage_bytes": 64 * MIB, "requests": 16, "rate": 1.0, "times": 1,
    }  # fmt: skip
    return PoolFile(**{**usual, **changes})


def ended(*files: PoolFile, **changes: Any) -> PoolEnd:
    """A pool of which the file system was busy for 1.3 s."""
    usual: dict[str, Any] = {
        "process": 7, "uptime_seconds": 3.0, "ended": True, "closing": True, "cap": 1 << 30,
        "leased": 0, "high": MIB, "read_ahead_held": 0, "read_ahead": 0, "lag": 0,
        "oldest_seconds": 0.0, "clients": (), "files": files, "files_dropped": 0, "rescued": (),
        "storage_seconds": 1.3, "clients_high": 1,
    }  # fmt: skip
    return PoolEnd(status=PoolStatus(**{**usual, **changes}), seconds=0.5)


def said(*files: PoolFile, seconds: float | None = 10.0, **changes: Any) -> str:
    return verdict_text(verdict_of(ended(*files, **changes), seconds=seconds))


def small_files(number: int, **changes: Any) -> list[PoolFile]:
    """Files of 2 KiB, each opened, written in one request, and closed."""
    usual = {"taken": 2048, "storage_bytes": 2048, "requests": 1, "storage_seconds": 0.0001}
    each = {**usual, "waited_seconds": 0.0008, "opening_seconds": 0.0006, **changes}
    return [file(path=f"/{n}", **each) for n in range(number)]


# --- it paid


def test_a_program_that_hardly_waited_is_told_what_it_was_spared() -> None:
    sentence = "Your program waited 0.1 s for its files; without the pool about 1.3 s."
    assert said(file()) == sentence
    assert said(file(waited_seconds=0.0)).startswith("Your program waited less than 0.01 s for")
    assert said(file(), storage_seconds=0.001).endswith(
        "; without the pool less than 0.01 s. Leave the pool off for this step."
    )


def test_what_files_took_at_a_time_counts_once() -> None:
    """Two files that were drained together took 1.3 s, not 2.6 s."""
    assert "about 1.3 s" in said(file(), file(path="/b"))


def test_several_processes_are_added_up() -> None:
    text = said(file(waited_seconds=4.0), clients_high=8)
    assert text.startswith("Your program waited 4.0 s for its files (all its processes together);")


@pytest.mark.parametrize(
    "changes",
    [{"requests": 64 << 10}, {"requests": 0, "storage_bytes": 0}],
    ids=["small requests", "nothing moved"],
)
def test_where_it_is_not_known_nothing_is_said_of_a_run_without_the_pool(
    changes: dict[str, int],
) -> None:
    """The file system's time is then the pool's own handling of requests, mostly."""
    assert said(file(**changes)) == "Your program waited 0.1 s for its files."


def test_time_that_the_file_system_took_for_reads_is_not_said_to_be_for_writes() -> None:
    text = said(file(), read_ahead=MIB)
    assert text == "Your program waited 0.1 s for its files (not counting reads)."


def test_files_that_nobody_kept_count_of_are_not_forgotten() -> None:
    assert said(file(), files_dropped=3).startswith("Your program waited at least 0.1 s")


# --- it did not


def test_many_small_files_are_the_reason() -> None:
    """Whatever the file system took for them, which is the pool's own handling, mostly."""
    text = said(*small_files(4000), storage_seconds=9.0)
    assert text == (
        "The pool cost more than it won: your program waited at least 3.2 s for its files, mostly "
        "to open 4000 small files. Leave the pool off for this step."
    )
    few = said(*small_files(99, waited_seconds=0.008, opening_seconds=0.006), storage_seconds=9.0)
    assert few == "Your program waited 0.8 s for its files."


def test_the_way_of_the_answers_counts_where_many_files_are_opened() -> None:
    """The daemon saw 0.1 s of 2000 opens; the program, which ran 19 s, waited longer for them."""
    files = small_files(2000, waited_seconds=0.00005, opening_seconds=0.00004)
    text = said(*files, seconds=19.0)
    assert "your program waited at least 0.1 s for its files, mostly to open 2000 small" in text
    assert said(*files, seconds=3600.0) == "Your program waited at least 0.1 s for its files."


def test_many_large_files_are_not_called_small() -> None:
    files = small_files(
        100, taken=MIB, storage_bytes=MIB, waited_seconds=0.02, opening_seconds=0.02
    )
    assert "mostly to open 100 files; without the pool about 1.3 s." in said(*files)


def test_a_single_open_that_took_long_is_not_called_many() -> None:
    text = said(file(waited_seconds=3.0, opening_seconds=2.9))
    assert text.startswith(
        "The pool cost more than it won: your program waited 3.0 s for its files;"
    )
    assert "to open" not in text


def test_syncs_are_the_reason() -> None:
    text = said(file(waited_seconds=1.3, syncing_seconds=1.2, syncs=1200))
    assert text == (
        "The pool won nothing: your program waited 1.3 s for its files, mostly for 1200 syncs; "
        "without the pool about 1.3 s. Leave the pool off for this step."
    )


def test_files_that_left_are_the_reason() -> None:
    files = [file(path=f"/{n}", reason="mapped", waited_seconds=0.5) for n in range(12)]
    text = said(*files, file(), file(path="/b"), file(path="/c"))
    assert "your program waited 6.3 s for its files, and 12 of 15 files went past it;" in text
    assert text.endswith("Leave the pool off for this step.")


@pytest.mark.parametrize("changes", [{"high": 1 << 28}, {}])
def test_a_full_pool_is_the_reason(changes: dict[str, int]) -> None:
    text = said(file(waited_seconds=1.25, **changes), high=MIB if changes else 1 << 30)
    assert "The pool won nothing: your program waited 1.2 s for its files, mostly for room" in text
    assert "--set pool_window=2GiB" in text
    assert "Leave the pool off" not in text


def test_a_pool_that_was_never_full_is_not_said_to_lack_room() -> None:
    text = said(file(waited_seconds=1.25))
    assert text == (
        "The pool cost more than it won: your program waited 1.2 s for its files; without the pool "
        "about 1.3 s. Leave the pool off for this step."
    )


@pytest.mark.parametrize("number", [3, 300])
def test_changes_of_times_are_not_called_syncs(number: int) -> None:
    """As tar and cp -p make them: 300 files were said to have been synced 300 times."""
    each = {
        "waited_seconds": 3.0 / number,
        "opening_seconds": 0.0,
        "draining_seconds": 2.9 / number,
    }
    text = said(*small_files(number, **each), storage_seconds=9.0 if number > 99 else 1.0)
    assert text == (
        "The pool cost more than it won: your program waited 3.0 s for its files, mostly until "
        "they were written, before it set their times, owner, mode or size. Leave the pool off for "
        "this step."
    )


def test_draining_before_files_left_is_told_as_leaving() -> None:
    left = file(path="/log", reason="append", waited_seconds=1.3, draining_seconds=1.3)
    assert "and 1 of 3 files went past it" in said(file(), file(path="/b"), left)


def test_a_wait_that_nobody_notices_is_no_reason() -> None:
    assert said(file(waited_seconds=0.04), storage_seconds=0.01).startswith("Your program waited")
    assert said(file(waited_seconds=1.3), seconds=600.0).startswith("Your program waited")
    assert said(file(waited_seconds=1.3), seconds=None).startswith("The pool cost more than")


def test_processes_that_waited_together_did_not_wait_one_after_the_other() -> None:
    """8 processes waited 0.5 s at the same time, and were spared 1.3 s: it paid."""
    assert said(file(waited_seconds=4.0), clients_high=8).startswith("Your program waited")
    assert said(file(waited_seconds=12.0), clients_high=8).startswith("The pool cost more than")


@pytest.mark.parametrize(("number", "which"), [(1, "its only file"), (3, "all 3 files")])
def test_a_pool_that_all_files_went_past_won_nothing(number: int, which: str) -> None:
    files = [file(path=f"/{n}", taken=0, reason="append") for n in range(number)]
    text = said(*files)
    assert text == (
        f"The pool won nothing: {which} went past it, for the reasons below. "
        "Leave the pool off for this step. "
        "(Mounted, it takes these, too, if they have 256 KiB or more: --set pool_mount=auto.)"
    )
    full = said(file(taken=0, reason="no_room"))
    assert full.endswith("Leave the pool off for this step.")


# --- it failed


def test_bytes_that_did_not_arrive_come_before_all_else() -> None:
    lost = Rescued(path="/out", error=28, error_text="full", bytes=9, file="/r", problem="")
    text = "Not all that your program wrote arrived: what is missing, and what to do, is below."
    assert said(file(), rescued=(lost,)) == text
    died = PoolEnd(status=None, seconds=0.1, death="SIGKILL ended it")
    assert verdict_text(verdict_of(died, seconds=1.0)) == text


# --- the program failed


@pytest.mark.parametrize(
    ("status", "how"),
    [(3, "ended with status 3"), (137, "was ended by SIGKILL"), (200, "ended with status 200")],
)
def test_of_a_program_that_failed_it_is_said_that_its_bytes_are_there(
    status: int, how: str
) -> None:
    whole = PoolOutcome(paths=(Path("/"),), end=ended(file()))
    assert outcome_verdict(whole, seconds=10.0, status=status) == (
        f"Your program {how}; all that it had written through the pool is in its files. "
        "It waited 0.1 s for its files; without the pool about 1.3 s."
    )
    nothing = PoolOutcome(paths=(Path("/"),), end=ended(file(taken=0, reason="append")))
    assert outcome_verdict(nothing, seconds=10.0, status=status).startswith("The pool won nothing")
    died = PoolOutcome(paths=(Path("/"),), end=PoolEnd(status=None, seconds=0.1, death="killed"))
    assert outcome_verdict(died, seconds=10.0, status=status).startswith("Not all that")


def test_a_journal_that_failed_is_not_called_the_programs_failure() -> None:
    whole = PoolOutcome(paths=(), end=ended(file(), durability_ended="disk full"))
    assert outcome_verdict(whole, seconds=10.0, status=75).startswith("Your program waited")


# --- words


def test_a_pool_of_several_programs_speaks_of_them() -> None:
    verdict = verdict_of(ended(file()), seconds=None)
    text = verdict_text(verdict, whose="programs", its="their")
    assert text == "Programs waited 0.1 s for their files; without the pool about 1.3 s."


@pytest.mark.parametrize("judgement", Judgement)
@pytest.mark.parametrize("cause", [*Cause, None])
def test_each_verdict_is_a_sentence(judgement: Judgement, cause: Cause | None) -> None:
    text = verdict_text(PoolVerdict(judgement=judgement, cause=cause))
    assert text[0].isupper()
    assert text.endswith((".", "pool_cap."))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "less than 0.01 s"), (0.0099, "less than 0.01 s"), (0.04, "0.04 s"), (0.0999, "0.1 s"),
     (0.12, "0.1 s"), (1.25, "1.2 s"), (9.96, "10 s"), (12.4, "12 s"), (3600.0, "3600 s")],
)  # fmt: skip
def test_times_are_said_in_two_digits(seconds: float, text: str) -> None:
    assert spoken(seconds) == text
