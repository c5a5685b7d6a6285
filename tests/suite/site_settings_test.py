"""A site's settings as real daemons and programs get them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from suite import mpi as m
from suite.command import FOREBAY, forebay
from suite.on import on
from suite.verdict import ensure

SITE_FILE = Path("/etc/forebay/settings.toml")
MIB = 1 << 20
STATUS = [*FOREBAY, "pool", "status", "--format", "json"]
WRITER = f"""
import subprocess
with open("file", "wb") as file:
    file.write(b"x" * 100)
    file.flush()
    subprocess.run({STATUS!r}, check=True)
"""

pytestmark = pytest.mark.skipif(SITE_FILE.exists(), reason="this machine has a site's file")


def site(folder: Path) -> Path:
    path = folder / "site.toml"
    path.write_text('pool_cap = "64 MiB"\npool_window = "3 MiB"\nlocked = ["pool_cap"]\n')
    return path


def test_the_daemon_of_a_run_obeys_the_sites_locks(folder: Path) -> None:
    path = site(folder)
    told = {"FOREBAY_SITE_SETTINGS": str(path), "FOREBAY_POOL_CAP": "128MiB"}
    done = forebay("run", "--pool", ".", "--", sys.executable, "-c", WRITER, cwd=folder, more=told)
    ensure(done.returncode == 0, done.stderr)
    status = json.loads(done.stdout)
    ensure(status["cap"] == 64 * MIB, f"the cap is {status['cap']}")
    ensure(status["files"][0]["window"] == 3 * MIB, f"the window is {status['files'][0]['window']}")
    ignored = f"FOREBAY_POOL_CAP is ignored ({path}:3 locks pool_cap"
    ensure(done.stderr.count(ignored) == 1, done.stderr)


def test_the_daemon_of_several_programs_obeys_the_sites_locks(folder: Path) -> None:
    told = {"FOREBAY_SITE_SETTINGS": str(site(folder)), "FOREBAY_POOL_CAP": "128MiB"}
    socket = ("--socket", folder / "run" / "pool")
    (folder / "run").mkdir(mode=0o700)
    done = forebay("pool", "start", *socket, ".", cwd=folder, more=told)
    ensure(done.returncode == 0, done.stderr)
    try:
        shown = forebay("pool", "status", *socket, "--format", "json", cwd=folder)
        ensure(json.loads(shown.stdout)["cap"] == 64 * MIB, shown.stdout)
    finally:
        forebay("pool", "stop", *socket, cwd=folder)


def test_an_option_against_a_lock_starts_nothing(folder: Path) -> None:
    path = site(folder)
    line = ("run", "--pool", ".", "--set", "pool_cap=1GiB", "--", "touch", "made")
    done = forebay(*line, cwd=folder, more={"FOREBAY_SITE_SETTINGS": str(path)})
    ensure(done.returncode == 2, f"status {done.returncode}")
    ensure(f"{path}:3 locks pool_cap" in done.stderr, done.stderr)
    ensure(not (folder / "made").exists(), "the program was started")


@on(m.MPICH, full=[m.OPEN_MPI])
def test_a_hint_leaves_a_locked_setting_alone(mpi: m.Mpi, folder: Path) -> None:
    program = m.build(mpi, "striping.c")
    ended = m.run(
        mpi,
        2,
        [program, folder, folder / "file", "3", "65536", "create"],
        seconds_max=60,
        environment=m.forebay(None, locked="striping_factor", verbose="true"),
    )
    ended.ensure_success()
    ignored = "hint striping_factor is ignored: the site has locked this setting"
    ensure(ignored in ended.text, ended.tail)
    ensure("hint striping_unit is ignored" not in ended.text, ended.tail)
