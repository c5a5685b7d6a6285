"""A real striped file system: the CephFS that tests/cephfs.sh brought up, whose mount point is in
FOREBAY_CEPHFS. Without it there are no tests here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from suite import mpi as m
from suite.compare import RECORD, compare, first_difference
from suite.on import EACH
from suite.prober import PACKAGES, Prober
from suite.programs import VIEWS
from suite.record import Record
from suite.striping import TARGETS, UNIT, ensure_striped, layout, recorded, shown, write
from suite.verdict import ensure

VARIABLE = "FOREBAY_CEPHFS"
pytestmark = [
    pytest.mark.full,
    pytest.mark.cephfs,
    pytest.mark.skipif(VARIABLE not in os.environ, reason=f"no {VARIABLE} (tools/ci/cephfs.sh)"),
]
EXCHANGE = {"collective_write": "enable", "cb_buffer_size": "65536"}
RANKS = 4
FILE_ATTRIBUTE = "ceph.file.layout"


def mount() -> Path:
    return Path(os.environ[VARIABLE])


def _fresh(name: str) -> Path:
    folder = mount() / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


@EACH
def test_views(mpi: m.Mpi, folder: Path) -> None:
    """All files on CephFS, with stripes over three targets, against what the MPI alone writes."""
    plain, ours = _fresh(f"{folder.name}-plain"), _fresh(folder.name)
    done = layout("set", "-c", str(TARGETS), "-S", "64k", ours)
    ensure(done.returncode == 0, done.stderr)
    VIEWS.run(mpi, RANKS, plain, {})
    VIEWS.run(mpi, RANKS, ours, m.forebay(ours / RECORD, **EXCHANGE))
    compare(plain, ours, ranks=RANKS)
    lines = recorded(ours)
    striped = [x for x in lines if (x["targets"], x["stripe_bytes"]) == (TARGETS, UNIT)]
    ensure(striped, "no file was taken for a striped one")
    shutil.rmtree(plain)
    shutil.rmtree(ours)


@EACH
@pytest.mark.parametrize("how", ["create", "exclusive"])
def test_hints(mpi: m.Mpi, how: str, folder: Path) -> None:
    """The same bytes with stripes that the program asked for, and one that it did not."""
    there = _fresh(folder.name)
    plain = write(mpi, folder, there / "plain", how=how, environment={})
    told = write(mpi, folder, there / "file", how=how)
    ensure(plain["open"] == told["open"] == "MPI_SUCCESS", f"{plain} and {told}")
    ensure(told["amode"] == "as asked", f"told {told}")
    ensure_striped(folder, told)
    ensure(recorded(folder)[0]["warnings"] == [], f"{recorded(folder)[0]['warnings']}")
    Record.read(folder / RECORD).of("file").ensure_taken(writes=1, reads=1)
    text = os.getxattr(there / "file", FILE_ATTRIBUTE).decode()
    ensure(f"stripe_unit={UNIT} stripe_count={TARGETS} " in text, text)
    ensure("stripe_count=1 " in os.getxattr(there / "plain", FILE_ATTRIBUTE).decode(), "plain")
    fault = first_difference(there / "plain", there / "file")
    ensure(not fault, fault)
    shutil.rmtree(there)


@EACH
def test_mismatch(mpi: m.Mpi, folder: Path) -> None:
    """CephFS refuses the layout, or the file has data: nothing changes, and a warning says so."""
    there = _fresh(folder.name)
    told = write(mpi, folder, there / "odd", unit=5000)
    ensure(told["open"] == "MPI_SUCCESS", f"told {told}")
    write(mpi, folder, there / "full", factor=1, unit=1 << 20)
    write(mpi, folder, there / "full")
    odd, _, full = recorded(folder)
    ensure("multiple of 64 KiB" in "".join(odd["warnings"]), f"{odd['warnings']}")
    ensure(odd["targets"] == 1, f"{odd['targets']} targets")
    ensure("bytes already" in "".join(full["warnings"]), f"{full['warnings']}")
    ensure((full["targets"], full["stripe_bytes"]) == (1, 4 << 20), f"{full}")
    shutil.rmtree(there)


@EACH
def test_exclusive(mpi: m.Mpi, folder: Path) -> None:
    there = _fresh(folder.name)
    (there / "file").touch()
    plain = write(mpi, folder, there / "file", how="exclusive", environment={})
    told = write(mpi, folder, there / "file", how="exclusive")
    ensure(told["open"] == plain["open"] != "MPI_SUCCESS", f"{told} instead of {plain}")
    ensure(shown(there / "file")["targets"] == 1, "the file was given another layout")
    shutil.rmtree(there)


def test_command(folder: Path) -> None:
    """`forebay layout` on files, on directories, and on what is in them."""
    there = _fresh(folder.name)
    before = shown(there)
    ensure((before["file_system"], before["from"]) == ("ceph", str(mount())), f"{before}")
    ensure((before["targets"], before["stripe_bytes"]) == (1, 4 << 20), f"{before}")
    done = layout("set", "-c", "3", "-S", "64k", there)
    ensure(done.returncode == 0, done.stderr)
    (there / "below").mkdir()
    inherited = shown(there / "below")
    ensure(inherited["from"] == str(there), f"from {inherited['from']}")
    (there / "below" / "file").touch()
    found = shown(there / "below" / "file")
    ensure((found["targets"], found["stripe_bytes"]) == (TARGETS, UNIT), f"{found}")
    ensure(layout("set", "-c", "2", there / "below" / "file").returncode == 0, "an empty file")
    ensure(shown(there / "below" / "file")["targets"] == 2, "it was not changed")
    (there / "below" / "file").write_text("data")
    full = layout("set", "-c", "3", there / "below" / "file")
    ensure(full.returncode == 1 and "4 bytes already" in full.stderr, full.stderr)
    big = layout("set", "-c", "1", "-S", "16m", there / "big")
    ensure(big.returncode == 0, big.stderr)
    ensure(shown(there / "big")["components"][0]["object_bytes"] == 16 << 20, "its objects")
    everywhere = layout("set", "-c", "all", there / "all")
    ensure(everywhere.returncode == 1 and "how many targets" in everywhere.stderr, "all")
    nobody = layout("set", "-c", "2", "--pool", "no-such-pool", there / "pool")
    ensure(nobody.returncode == 1, f"a pool that is not there: {nobody.stdout}")
    shutil.rmtree(there)


def test_probing_knows_the_quota_of_a_directory(folder: Path) -> None:
    """And of the directories above the one that is probed."""
    limited = _fresh("limited")
    os.setxattr(limited, "ceph.quota.max_bytes", str(100 << 20).encode())
    below = limited / "below"
    below.mkdir()
    prober = Prober(folder=folder)
    words = prober.words(below, "--bytes", "960m", "--dry-run", "--format", "json")
    environment = {**os.environ, "PYTHONPATH": PACKAGES}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    ensure(done.returncode == 0, done.stderr)
    told = json.loads(done.stdout)
    ensure(told["bytes_limit"].endswith(f"left of the quota of {limited} (100 MiB)"), f"{told}")
    ensure(0 < told["bytes"] <= 100 << 20, f"{told}")
    shutil.rmtree(limited)
