"""Files under names where another user may have put something before. Where the tests are run by
root, another user is one to whom files are given."""

import os
import socket
import stat
import subprocess
from pathlib import Path

import pytest

from forebay.common.files import safe_files
from forebay.common.files.output_files import OutputFiles
from forebay.common.files.safe_files import (
    folder_problem,
    make_private,
    open_named,
    open_own,
    planted,
    read_own,
    read_to_apply,
    write_named,
)
from forebay.common.model.errors import (
    PoolError,
    PoolStartError,
    ProbeError,
    RescueError,
    SettingsError,
)
from forebay.pool.files.daemon_socket import PoolSocket
from forebay.pool.files.daemon_start import started
from forebay.pool.files.fleet import task_text
from forebay.pool.files.rescue_files import RescueFiles
from forebay.pool.model.place import PoolPlace
from forebay.settings.files.toml_settings import read_settings_file
from forebay_tuning.advise.files.advice_file import read_advice

STRANGER = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def of_a_stranger(path: Path, text: str = "", mode: int = 0o644) -> Path:
    path.write_text(text)
    path.chmod(mode)
    os.chown(path, STRANGER, STRANGER)
    return path


def open_folder(path: Path, mode: int = 0o1777) -> Path:
    path.mkdir()
    path.chmod(mode)
    return path


def test_own_files_are_not_links_nor_open_to_others(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    link = tmp_path / "log"
    link.symlink_to(victim)
    with pytest.raises(OSError, match="it is a link"):
        open_own(link, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    victim.chmod(0o666)
    with pytest.raises(OSError, match="others may write to it"):
        read_own(victim)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="it is no regular file"):
        read_own(tmp_path / "pipe")
    os.close(open_own(tmp_path / "new", os.O_WRONLY | os.O_CREAT))
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600


@needs_root
def test_own_files_are_not_another_users(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="it is another user's"):
        read_own(of_a_stranger(tmp_path / "file"))


def test_private_folders_are_the_users_alone(tmp_path: Path) -> None:
    make_private(tmp_path / "new")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
    (tmp_path / "link").symlink_to("new")
    with pytest.raises(OSError, match="it is no folder, or a link to one"):
        make_private(tmp_path / "link")
    assert folder_problem(open_folder(tmp_path / "open", 0o755)) == "other users can enter it"
    assert folder_problem(tmp_path / "none") is None


@needs_root
def test_pool_start_follows_no_link_of_another_user_to_its_log(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("")
    theirs = tmp_path / "forebay-0"
    theirs.mkdir(mode=0o700)
    (theirs / "pool.log").symlink_to(victim)
    os.chown(theirs, STRANGER, STRANGER)
    place = PoolPlace(socket=theirs / "pool", environment={}, folder=tmp_path)
    with pytest.raises(PoolStartError, match="it is another user's"):
        started(["/bin/sh", "-c", "echo planted >&2"], place, stdin=subprocess.DEVNULL)
    assert victim.read_text() == ""


def test_a_log_that_is_a_link_is_not_followed_in_ones_own_folder_either(tmp_path: Path) -> None:
    make_private(tmp_path / "own")
    (tmp_path / "own/pool.log").symlink_to(tmp_path / "victim")
    place = PoolPlace(socket=tmp_path / "own/pool", environment={}, folder=tmp_path)
    with pytest.raises(PoolStartError, match="it is a link"):
        started(["/bin/sh", "-c", "echo planted >&2"], place, stdin=subprocess.DEVNULL)
    assert not (tmp_path / "victim").exists()


# --- what is written where the user said


@needs_root
def test_outputs_do_not_go_where_another_users_link_leads(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    shared = open_folder(tmp_path / "shared")
    (shared / "link").symlink_to(victim)
    os.chown(shared / "link", STRANGER, STRANGER, follow_symlinks=False)
    theirs = of_a_stranger(shared / "theirs", mode=0o666)
    for path in (shared / "link", theirs):
        assert "another user's" in str(planted(path))
        assert "another user's" in str(OutputFiles().obstacle(path))
        with pytest.raises(OSError, match="another user's"):
            write_named(path, "text")
    assert victim.read_text() == "mine"


def test_outputs_go_where_ones_own_link_leads(tmp_path: Path) -> None:
    shared = open_folder(tmp_path / "shared")
    (shared / "link").symlink_to(tmp_path / "target")
    write_named(shared / "link", "text")
    write_named(shared / "new", "longer text")
    write_named(shared / "new", "text")
    assert (tmp_path / "target").read_text() == (shared / "new").read_text() == "text"


@needs_root
def test_an_output_is_not_written_through_a_link_that_comes_after_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    path = open_folder(tmp_path / "shared", 0o777) / "new"

    def checked_and_then_planted(path: Path) -> str | None:
        why = planted(path)
        path.symlink_to(victim)
        os.chown(path, STRANGER, STRANGER, follow_symlinks=False)
        return why

    monkeypatch.setattr(safe_files, "planted", checked_and_then_planted)
    with pytest.raises(OSError, match="another user's"):
        write_named(path, "text")
    assert victim.read_text() == "mine"


@needs_root
def test_another_users_file_is_not_emptied_before_it_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(safe_files, "planted", lambda _: None)
    path = of_a_stranger(open_folder(tmp_path / "shared") / "file", "theirs", mode=0o666)
    with pytest.raises(OSError, match="another user's"):
        open_named(path, os.O_TRUNC)
    assert path.read_text() == "theirs"


@needs_root
def test_an_output_that_would_be_refused_at_the_end_is_refused_at_the_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root's file was said to be fine, since settings may be root's, and then not written."""
    path = open_folder(tmp_path / "shared") / "file"
    path.write_text("root's")
    monkeypatch.setattr(os, "geteuid", lambda: STRANGER)
    assert "another user's" in str(planted(path))
    assert "another user's" in str(OutputFiles().obstacle(path))


def test_outputs_go_where_ones_own_links_lead_one_after_another(tmp_path: Path) -> None:
    shared = open_folder(tmp_path / "shared")
    (shared / "link").symlink_to("../first")
    (tmp_path / "first").symlink_to(shared / "second")
    write_named(shared / "link", "text")
    assert (shared / "second").read_text() == "text"
    (shared / "circle").symlink_to("circle")
    with pytest.raises(OSError, match="symbolic links"):
        write_named(shared / "circle", "text")


# --- what is done as a file says


def test_what_everybody_may_write_to_is_not_applied(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("cb_nodes = 2\n")
    path.chmod(0o666)
    with pytest.raises(SettingsError, match="everybody may write to it"):
        read_settings_file(path)
    path.chmod(0o664)
    assert [one.text for one in read_settings_file(path)] == ["2"]


@needs_root
def test_what_another_user_put_into_a_shared_folder_is_not_applied(tmp_path: Path) -> None:
    shared = open_folder(tmp_path / "shared")
    theirs = of_a_stranger(shared / "file", "cb_nodes = 2\n")
    with pytest.raises(SettingsError, match="another user's"):
        read_settings_file(theirs)
    with pytest.raises(ProbeError, match="another user's"):
        read_advice(theirs)
    mine = shared / "mine"
    mine.symlink_to(tmp_path / "target")
    (tmp_path / "target").write_text("cb_nodes = 2\n")
    assert read_to_apply(mine) == b"cb_nodes = 2\n"
    os.chown(mine, STRANGER, STRANGER, follow_symlinks=False)
    with pytest.raises(OSError, match="a link that is another user's"):
        read_to_apply(mine)


@needs_root
def test_what_another_user_keeps_in_a_folder_of_his_own_is_applied_where_it_is_named(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    theirs = of_a_stranger(home / "site.toml", "cb_nodes = 2\n")
    os.chown(home, STRANGER, STRANGER)
    assert [one.text for one in read_settings_file(theirs)] == ["2"]


# --- rescue files


def test_a_planted_rescue_file_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "1-out"
    path.write_text("forebay.rescue/1\n")
    path.chmod(0o660)
    with pytest.raises(RescueError, match=r"others may write to it.*Rescue it as its owner"):
        RescueFiles().head(path)
    path.chmod(0o600)
    (tmp_path / "2-out").symlink_to(path)
    with pytest.raises(RescueError, match="it is a link"):
        RescueFiles().head(tmp_path / "2-out")
    assert RescueFiles().files(tmp_path) == (path,)


@needs_root
def test_root_rescues_no_file_of_another_user(tmp_path: Path) -> None:
    with pytest.raises(RescueError, match="it is another user's"):
        RescueFiles().head(of_a_stranger(tmp_path / "1-out", "forebay.rescue/1\n"))


def test_bytes_are_rescued_to_the_very_file_that_was_looked_at(tmp_path: Path) -> None:
    kept = tmp_path / "1-out"
    kept.write_text("forebay.rescue/1\n{}\n")
    kept.chmod(0o600)
    files = RescueFiles()
    (tmp_path / "target").write_text("target")
    found = files.look(tmp_path / "target")
    (tmp_path / "target").rename(tmp_path / "old")
    (tmp_path / "target").symlink_to("victim")
    (tmp_path / "victim").write_text("mine")
    for seen in (found, None):
        with pytest.raises(RescueError, match=r"another file has got its name|File exists"):
            files.write(kept, (), tmp_path / "target", found=seen, modified_ns=0)
    assert (tmp_path / "victim").read_text() == "mine"


# --- who listens


def listening(path: Path) -> socket.socket:
    one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    one.bind(str(path))
    one.listen(8)
    return one


def test_nothing_is_said_in_a_folder_that_others_can_enter(tmp_path: Path) -> None:
    with listening(open_folder(tmp_path / "s", 0o755) / "pool") as door:
        door.setblocking(False)
        with pytest.raises(PoolError, match="other users can enter it"):
            PoolSocket(tmp_path / "s/pool")
        with pytest.raises(BlockingIOError):
            door.accept()


def test_only_the_daemon_that_was_started_is_talked_to(tmp_path: Path) -> None:
    make_private(tmp_path / "s")
    with listening(tmp_path / "s/pool"):
        PoolSocket(tmp_path / "s/pool").close()
        PoolSocket(tmp_path / "s/pool", daemon=os.getpid()).close()
        with pytest.raises(PoolError, match="listens there, not the daemon"):
            PoolSocket(tmp_path / "s/pool", daemon=os.getpid() + 1)


# --- folders of several nodes


def guarded(place: Path) -> subprocess.CompletedProcess[str]:
    """The task of a node, with a daemon that only says who may enter the folder of its socket."""
    daemon = place.parents[1] / "daemon"
    daemon.write_text('#!/bin/sh\nstat -c %a "${2%/*}"\n')
    daemon.chmod(0o755)
    return subprocess.run(
        ["/bin/sh", "-c", task_text(), str(daemon), str(place), "2", "0"],
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_a_job_is_told_goes_through_no_folder_that_was_there_before(tmp_path: Path) -> None:
    assert guarded(tmp_path / "new/pool").stdout == "700\n"
    make_private(tmp_path / "new")
    (tmp_path / "new/messages").touch()
    assert guarded(tmp_path / "new/pool").stdout == "700\n"
    (tmp_path / "link").symlink_to("new")
    open_folder(tmp_path / "open", 0o755)
    for name in ("link", "open"):
        done = guarded(tmp_path / name / "pool")
        assert (done.returncode, done.stdout) == (1, "")
        assert "alone can enter" in done.stderr
    if os.geteuid() == 0:
        os.chown(tmp_path / "new", STRANGER, STRANGER)
        assert guarded(tmp_path / "new/pool").returncode == 1
