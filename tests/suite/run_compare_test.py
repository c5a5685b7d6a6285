"""`forebay run --compare` as users have it: real programs, without and with Forebay."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from suite import mpi as m
from suite.command import FOREBAY, environment, forebay
from suite.pooled import tree
from suite.verdict import ensure

# Copies what it finds in `in` to `out`, and says in `where` what its arguments are for.
WRITER = """
import os, sys, time
what = sys.argv[1]
given = open("in").read()
with open("out", "wb", buffering=0) as file:
    for number in range(16):
        file.write(given.encode() * 65536)
if what == "times":
    open("stamp", "w").write(str(time.time_ns()))
if what == "differs":
    open("how", "w").write("pool" if "forebay" in os.environ.get("LD_PRELOAD", "") else "none")
if what == "fails":
    sys.exit(3)
"""
COLLECTIVE = """
#include <mpi.h>
int main(int argc, char **argv)
{
    static char bytes[65536];
    MPI_File file;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int at = 0; at < 65536; at++)
        bytes[at] = (char)(rank + at);
    MPI_File_open(MPI_COMM_WORLD, "out", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, rank * 65536, bytes, 65536, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    return MPI_Finalize();
}
"""


def words(what: str = "") -> list[str]:
    return [sys.executable, "-c", WRITER, what]


@pytest.fixture
def here(folder: Path) -> Path:
    """A folder with what the program reads, and with what an earlier run has left."""
    for name in ("in", "out"):
        (folder / name).write_text(name)
    return folder


def names(folder: Path) -> set[str]:
    return {one.name for one in folder.iterdir()}


def test_a_program_runs_in_copies_and_leaves_the_same_bytes(here: Path) -> None:
    before = tree(here)
    done = forebay("run", "--compare", "--pool", ".", "--", *words(), cwd=here)
    ensure(done.returncode == 0, done.stderr)
    ensure("same bytes in 1 file (2.00 MiB)." in done.stderr, done.stderr)
    ensure("run 1 of 2, without Forebay" in done.stderr, done.stderr)
    ensure("Forebay changed nothing" not in done.stderr, f"no pool:\n{done.stderr}")
    ensure(tree(here) == before, "the folder was changed")


def test_a_program_that_writes_times_differs_by_itself(here: Path) -> None:
    done = forebay("run", "--compare", "--pool", ".", "--", *words("times"), cwd=here)
    ensure(done.returncode == 0, done.stderr)
    ensure("1 file differs, as it does without Forebay, too" in done.stderr, done.stderr)
    ensure(names(here) == {"in", "out"}, "something is left")


def test_other_bytes_have_a_status_and_stay_to_be_seen(here: Path) -> None:
    line = ("run", "--compare", "--format", "json", "--summary", "told.json", "--pool", ".")
    done = forebay(*line, "--", *words("differs"), cwd=here)
    ensure(done.returncode == 76, done.stderr)
    told = json.loads((here / "told.json").read_text())
    ensure(told["schema"] == "forebay.run.compare/1" and told["status"] == 76, told)
    (one,) = told["differences"]
    ensure((one["name"], one["contrast"], one["offset"]) == ("how", "bytes", 0), told)
    ensure(told["own_differences"] == [] and told["unexplained"] == ["how"], told)
    left = sorted(path.read_text() for path in Path(told["kept"]).glob("*/how"))
    ensure(left == ["none", "pool"], f"{left} in {told['kept']}")


def test_a_failure_of_the_program_is_its_own(here: Path) -> None:
    before = tree(here)
    done = forebay("run", "--compare", "--pool", ".", "--", *words("fails"), cwd=here)
    ensure(done.returncode == 3, done.stderr)
    ensure(
        "failed without Forebay (status 3). There is nothing to compare" in done.stderr, done.stderr
    )
    ensure(tree(here) == before, "the folder was changed")


def test_an_output_folder_is_moved_aside_and_back(here: Path) -> None:
    (here / "results").mkdir()
    (here / "results" / "old").write_text("old")
    before = tree(here)
    there = f"import os; os.chdir({str(here / 'results')!r}); open('in', 'w').write('in')\n"
    line = ("run", "--compare", "--pairs", "2", "--pool", "results", "--output-dir", "results")
    done = forebay(*line, "--", sys.executable, "-c", there + WRITER, "", cwd=here)
    ensure(done.returncode == 0, done.stderr)
    ensure("same bytes in 2 files" in done.stderr and "in 2 pairs" in done.stderr, done.stderr)
    ensure("run 4 of 4" in done.stderr, done.stderr)
    ensure(tree(here) == before, "the folder was changed")


WAITS = "import sys; open('out', 'w').write('new'); print('written', flush=True); sys.stdin.read()"


def started(here: Path) -> subprocess.Popen[str]:
    """A comparison whose first run has overwritten the user's file, and waits."""
    process = subprocess.Popen(
        [*FOREBAY, "run", "--compare", "--output-dir", ".", "--", sys.executable, "-c", WAITS],
        cwd=here,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    ensure(process.stdout.readline() == "written\n", "the program has not written")
    ensure((here / "out").read_text() == "new", "it does not run here")
    return process


def test_a_comparison_that_is_interrupted_puts_everything_back(here: Path) -> None:
    before = tree(here)
    process = started(here)
    os.killpg(process.pid, signal.SIGTERM)
    _, told = process.communicate(timeout=180)
    ensure(process.returncode == 128 + signal.SIGTERM, told)
    ensure(tree(here) == before, f"the folder was changed\n{told}")


def test_of_a_killed_comparison_the_next_one_says_where_everything_lies(here: Path) -> None:
    process = started(here)
    process.kill()
    _, told = process.communicate(timeout=180)
    ensure("until the comparison has ended" in told, told)
    line = ("run", "--compare", "--output-dir", ".", "--", "true")
    done = forebay(*line, cwd=here)
    ensure(done.returncode == 2 and "was killed" in done.stderr, done.stderr)
    (kept,) = [*here.parent.glob(".forebay-compare-*/kept"), *here.glob(".forebay-compare-*/kept")]
    ensure(str(kept) in done.stderr, f"{kept} is not named:\n{done.stderr}")
    ensure((kept / "out").read_text() == "out", "it is not what was there")
    for one in kept.iterdir():
        one.replace(here / one.name)
    kept.rmdir()
    done = forebay(*line, cwd=here)
    ensure(done.returncode == 0, done.stderr)
    ensure(names(here) == {"in", "out"}, "something is left")
    ensure(not [*here.parent.glob(".forebay-compare-*")], "its folder is left")


def test_a_line_with_mpiexec_needs_no_pool(here: Path) -> None:
    (here / "program.c").write_text(COLLECTIVE)
    subprocess.run([m.MPICH.cc, "program.c", "-o", "program"], cwd=here, check=True)
    before = tree(here)
    start = m.MPICH.start(2, {})
    done = forebay("run", "-v", "--compare", "--", *start, "./program", cwd=here)
    ensure(done.returncode == 0, done.stderr)
    ensure("same bytes in 1 file (128 KiB)." in done.stderr, done.stderr)
    ensure("2 ranks on 1 node" in done.stderr, f"Forebay was not there:\n{done.stderr}")
    ensure(tree(here) == before, "the folder was changed")
