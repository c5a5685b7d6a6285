"""forebay-ior beside IOR: real command lines, and the reference's tables and documents."""

from __future__ import annotations

import csv
import functools
import json
import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from suite import mpi as m
from suite.ior import DATA_WRONG, GOOD, RESULTS, SUMMARY, USAGE, Ior, lines_of, program, rows_of
from suite.on import BENCHMARK, FULL, on
from suite.verdict import ensure

REFERENCE = m.ROOT / "tests" / "reference" / "ior"
SAMPLE = REFERENCE / "command-lines-sample.txt"
FURTHER = m.ROOT / "tests" / "command_lines" / "ior.txt"
COMMAND_LINE = re.compile(r"mpiexec.mpich -n (\d+) ior (.*)")
BUILT = ("POSIX", "MPIIO", "HDF5", "MMAP", "DUMMY")
WRONG_DATA = {
    "15-read-R-G-wrong.txt": "-t 256k -b 4m -w -k -G 42 -l o -o tf",
    "21-exitcode-wrap-128errors.txt": "-t 64k -b 4m -w -k -G 42 -l o -o tf",
}
"""The command that writes the data that a reference's command then finds wrong."""
HOW_FAST = {
    *("bw(MiB/s)", "IOPS", "Latency(s)", "open(s)", "wr/rd(s)", "close(s)", "total(s)"),
    *("Max(MiB)", "Min(MiB)", "Mean(MiB)", "StdDev", "Max(OPs)", "Min(OPs)", "Mean(OPs)"),
    *("Mean(s)", "Stonewall(s)", "Stonewall(MiB)"),
}


def _dry_run(mpi: m.Mpi, folder: Path, line: str) -> None:
    done = subprocess.run(
        [str(program(mpi)), "--dry-run", *line.split()[1:]],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**m.clean_environment(), "OMPI_ALLOW_RUN_AS_ROOT": "1"},
    )
    found = re.search(r"-a[= ](\w+)", line)
    api = found[1].upper() if found else "POSIX"
    if api not in (*BUILT, "NCMPI" if mpi.is_open_mpi else ""):
        ensure(done.returncode == USAGE, f"status {done.returncode}: {line}")
        ensure(f"not built: {api}" in done.stderr, done.stderr)
    else:
        ensure(done.returncode == GOOD, f"status {done.returncode}: {line}\n{done.stderr}")
        ensure("Estimate: " in done.stdout, f"no estimate: {line}")


@BENCHMARK
def test_command_lines(mpi: m.Mpi, folder: Path) -> None:
    """All real lines parse, and only back ends that are not built are refused, by name."""
    lines = lines_of(SAMPLE)
    ensure(len(lines) == 300, f"{len(lines)} command lines")
    lines += lines_of(FURTHER)
    step = 1 if mpi is m.MPICH else 20  # Open MPI takes a quarter of a second to start alone
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(functools.partial(_dry_run, mpi, folder), lines[::step]))
    Ior(mpi=mpi, folder=folder).ensure_clean()


def _references() -> Iterator[ParameterSet]:
    """Each file of the reference that is the output of a command line; every second one in `make
    test`. Others are documents, and scripts of other names."""
    found = [
        path
        for path in sorted(REFERENCE.glob("*.txt"))
        if COMMAND_LINE.search(path.read_text()) and not path.name.startswith(("06", "07", "30"))
    ]
    for number, path in enumerate(found):
        yield pytest.param(path, id=path.stem, marks=[FULL] if number % 2 else [])


@on(m.OPEN_MPI, full=[m.MPICH])  # four ranks of MPICH spin where two fit
@pytest.mark.parametrize("path", list(_references()))
def test_tables(mpi: m.Mpi, folder: Path, path: Path) -> None:
    """A reader that knows names of columns reads the reference's output and ours: the same columns
    in the same order, and in those that say what was run, the same words."""
    found = COMMAND_LINE.search(path.read_text())
    assert found is not None
    run = Ior(mpi=mpi, folder=folder, ranks=int(found[1]))
    if path.name in WRONG_DATA:
        run(WRONG_DATA[path.name])
    status = DATA_WRONG if path.name in WRONG_DATA else GOOD
    text = run(found[2].replace("-b 1g", "-b 16m"), status=status)
    _compare(path, path.read_text(), text, smaller="-b 1g" in found[2])


def _compare(path: Path, theirs: str, ours: str, *, smaller: bool) -> None:
    sizes = {"block(KiB)", "blksiz", "aggs(MiB)"} if smaller else set()
    for head in (RESULTS, SUMMARY):
        if head not in theirs:
            continue
        their_names, their_rows = rows_of(theirs, head)
        names, rows = rows_of(ours, head)
        ensure(names == their_names, f"{path.name}: {names} instead of {their_names}")
        ensure(len(rows) >= len(their_rows), f"{path.name}: {len(rows)} rows")
        said = [i for i, name in enumerate(names) if name not in HOW_FAST | sizes]
        for their_row, row in zip(their_rows, rows, strict=False):
            for i in said:
                ensure(row[i] == their_row[i], f"{path.name}: {names[i]} is {row[i]}: {row}")
    their_block, block = _options(theirs), _options(ours)
    for name, value in their_block.items():
        ensure(name in block, f"{path.name}: no {name}")
        same = name == "apiVersion" or (smaller and name in ("blocksize", "aggregate filesize"))
        ensure(same or block[name] == value, f"{path.name}: {name} is {block[name]}, not {value}")
    for line in re.findall(r"^(?:WARNING: Incorrect.*|Used Time Stamp 43.*)$", theirs, re.M):
        ensure(line in ours or path.name.startswith("23"), f"{path.name}: no line {line}")


def _options(text: str) -> dict[str, str]:
    block = text.partition("Options: \n")[2].partition("\n\n")[0]
    return {
        name.strip(): value.strip()
        for name, _, value in (line.partition(":") for line in block.splitlines())
    }


@BENCHMARK
def test_documents(mpi: m.Mpi, folder: Path) -> None:
    """summaryFormat JSON and CSV: every key and column of the reference, of the same kind."""
    run = Ior(mpi=mpi, folder=folder, ranks=4)
    for name in ("06-json", "07-csv"):
        reference = (REFERENCE / f"{name}.txt").read_text()
        text = run(reference.splitlines()[0].partition(" ior ")[2])
        ensure(text.startswith(reference.splitlines()[1] + "\n"), text[:300])
    theirs = json.loads((REFERENCE / "06-json.json").read_text())
    ours = json.loads((folder / "06-json.json").read_text())
    for part in ("tests", "summary"):
        ensure(len(ours[part]) == len(theirs[part]), f"{len(ours[part])} {part}")
    ensure(len(ours["tests"][0]["Results"]) == 6, "not 6 results")
    missing = _shape(theirs) - _shape(ours)
    ensure(not missing, f"not there, or of another kind: {sorted(missing)}")
    for a, b in zip(theirs["summary"], ours["summary"], strict=True):
        for key in set(a) - {key for key in a if key.startswith(("bw", "OPs", "Mean"))}:
            ensure(a[key] == b[key], f"{key} is {b[key]}, not {a[key]}")
    with (folder / "07-csv.csv").open() as file:
        our_rows = list(csv.reader(file))
    with (REFERENCE / "07-csv.csv").open() as file:
        their_rows = list(csv.reader(file))
    ensure(our_rows[0][: len(their_rows[0])] == their_rows[0], f"columns {our_rows[0]}")
    ensure(len(our_rows) == len(their_rows), f"{len(our_rows)} rows")
    for a, b in zip(their_rows[1:], our_rows[1:], strict=True):
        ensure((a[0], a[10], a[11]) == (b[0], b[10], b[11]), f"{b} instead of {a}")
        ensure(all(float(cell) >= 0 for cell in b[1:]), f"no numbers: {b}")


def _shape(value: object, where: str = "") -> set[tuple[str, str]]:
    if isinstance(value, dict):
        return {one for key, part in value.items() for one in _shape(part, f"{where}/{key}")}
    if isinstance(value, list):
        return {one for part in value for one in _shape(part, where + "[]")}
    return {(where, "number" if isinstance(value, int | float) else "text")}


@BENCHMARK
def test_script(mpi: m.Mpi, folder: Path) -> None:
    run = Ior(mpi=mpi, folder=folder)
    text = run(f"-f {REFERENCE / '30-script.ior'}")
    names, theirs = rows_of((REFERENCE / "30-script.txt").read_text(), SUMMARY)
    _, ours = rows_of(text, SUMMARY)
    # The columns that say what was run, not how fast.
    said = [i for i, name in enumerate(names) if name not in HOW_FAST]
    ensure(
        [[row[i] for i in said] for row in ours] == [[row[i] for i in said] for row in theirs],
        text[-1500:],
    )
    (folder / "bad.ior").write_text("IOR START\n api=POSIX\n bogus=3\nRUN\nIOR STOP\n")
    ensure('line 3: "bogus=3"' in run("-f bad.ior", status=USAGE), "the line is not shown")
    run.ensure_clean("bad.ior")


@BENCHMARK
def test_verbose_lines(mpi: m.Mpi, folder: Path) -> None:
    """-vvv: the lines of 10-verbose3.txt, of every rank and in their order."""
    run = Ior(mpi=mpi, folder=folder)
    text = run("-t 64k -b 256k -o tf -vvv")
    pattern = r"Test 0: Iter=0, Task=(\d), Time=(\d+\.\d{6}), (.*)"
    theirs = re.findall(pattern, (REFERENCE / "10-verbose3.txt").read_text())
    ours = re.findall(pattern, text)
    for task in ("0", "1"):
        said = [what for rank, _, what in theirs if rank == task]
        mine = [(float(time), what) for rank, time, what in ours if rank == task]
        ensure([what for _, what in mine] == said, f"task {task}: {mine}")
        ensure([time for time, _ in mine] == sorted(time for time, _ in mine), f"{mine}")
    for line in ("task 1 writing tf", "task 0 reading tf", "task 0 removing tf"):
        ensure(f"\n{line}\n" in text, f"no {line}")
    ensure(re.search(r"Results: \nUsing Time Stamp \d+ \(0x\w+\) for", text), text[:3000])
