"""A daemon replays no journal that another user has put there, and its own user's only into the
job's folders."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from suite.conversation import opened
from suite.pool import pool
from suite.pool_journal_damage_test import left_by_a_killed_daemon
from suite.pool_journal_test import (
    files_of,
    journaled,
    notes,
    rescue_of,
    rescued,
    start,
    told,
    writes,
)
from suite.verdict import ensure

STRANGER = 12345


def given_to_a_stranger(*paths: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root gives files to others")
    for path in paths:
        os.chown(path, STRANGER, STRANGER, follow_symlinks=False)


def all_in(folder: Path) -> list[Path]:
    return [folder, *folder.iterdir()]


def ensure_refused(files: Path, settings: dict[str, str], why: str) -> None:
    said = start(files, settings)
    ensure(why in said, said)
    ensure((files / "file").stat().st_size == 0, "it was replayed")


def test_a_planted_journal_is_not_replayed(folder: Path) -> None:
    """It wrote any file of whoever named it."""
    files, settings = left_by_a_killed_daemon(folder)
    given_to_a_stranger(*all_in(folder / "journal"))
    ensure_refused(files, dict(settings), f"it belongs to user {STRANGER}")


def test_a_planted_segment_is_not_replayed(folder: Path) -> None:
    files, settings = left_by_a_killed_daemon(folder)
    given_to_a_stranger(folder / "journal" / "segment-000000")
    ensure_refused(files, dict(settings), f"it belongs to user {STRANGER}")


@pytest.mark.parametrize("mode", [0o770, 0o777, 0o1777])
def test_a_folder_that_others_can_write_to_is_refused(mode: int, folder: Path) -> None:
    files, settings = left_by_a_killed_daemon(folder)
    (folder / "journal").chmod(mode)
    ensure_refused(files, dict(settings), "others may write to it")


def test_a_link_to_a_journal_is_refused(folder: Path) -> None:
    files, settings = left_by_a_killed_daemon(folder)
    (folder / "link").symlink_to("journal")
    ensure_refused(files, {**settings, "pool_journal": str(folder / "link")}, "it is a link")


def test_a_link_of_somebody_else_on_the_way_is_not_followed(folder: Path) -> None:
    files, settings = left_by_a_killed_daemon(folder)
    link = folder.parent / f"{folder.name}-link"
    link.symlink_to(folder)
    try:
        given_to_a_stranger(link)
        settings = {**settings, "pool_journal": str(link / "journal")}
        ensure_refused(files, dict(settings), "a link of another user")
    finally:
        link.unlink()


def test_a_link_in_place_of_a_segment_is_refused(folder: Path) -> None:
    files, settings = left_by_a_killed_daemon(folder)
    segment = folder / "journal" / "segment-000000"
    segment.rename(folder / "elsewhere")
    segment.symlink_to(folder / "elsewhere")
    ensure_refused(files, dict(settings), "it is a link")


def test_segments_of_another_journal_are_not_replayed(folder: Path) -> None:
    (folder / "one").mkdir()
    (folder / "two").mkdir()
    left_by_a_killed_daemon(folder / "one")
    files, settings = left_by_a_killed_daemon(folder / "two")
    name = "segment-000000"
    shutil.copy(folder / "one" / "journal" / name, folder / "two" / "journal" / name)
    ensure_refused(files, dict(settings), "cannot replay the journal")


def test_only_files_below_the_paths_of_the_pool_are_written(folder: Path) -> None:
    files, settings = left_by_a_killed_daemon(folder, count=3)
    kept, other = rescue_of(folder), folder / "other"
    other.mkdir()
    with pool(other, {**settings, "pool_paths": str(other)}, rescue=kept) as one:
        ensure("it is not below a path of this pool" in notes(one), notes(one))
        ensure((files / "file").stat().st_size == 0, "it was written")
        ensure(len(rescued(kept)) == 1, "it was not kept")


def test_files_below_a_path_of_the_pool_are_written(folder: Path) -> None:
    files, settings = left_by_a_killed_daemon(folder, count=3)
    (folder / "link").symlink_to(files)
    paths = f"{folder / 'nowhere'},{folder / 'link'}"
    with pool(files, {**settings, "pool_paths": paths}) as one:
        ensure((files / "file").stat().st_size == 3000, notes(one))


def test_a_folder_that_became_a_link_is_not_followed(folder: Path) -> None:
    """Another file now has the file's name, elsewhere."""
    files, kept = files_of(folder), rescue_of(folder)
    settings = journaled(folder)
    (files / "below").mkdir()
    with pool(files, settings) as one, told(one) as program:
        writes(program, opened(program, files / "below" / "file"), 1, 0)
        one.kill()
    (files / "below").rename(folder / "moved")
    (files / "below").symlink_to(folder / "moved")
    with pool(files, settings, rescue=kept) as one:
        ensure("there is no such file any more" in notes(one), notes(one))
        ensure((folder / "moved" / "file").stat().st_size == 0, "it was written")
        ensure(len(rescued(kept)) == 1, "it was not kept")
