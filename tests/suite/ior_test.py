"""forebay-ior on both MPIs: what the original gets wrong, and every back end."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

from suite import mpi as m
from suite.ior import DATA_WRONG, RESULTS, SUMMARY, Ior, rows_of
from suite.on import BENCHMARK, EACH, RANKS
from suite.verdict import ensure

# --- what the original gets wrong ----------------------------------------------------------------


@BENCHMARK
def test_corrupt_data_is_never_status_0(mpi: m.Mpi, folder: Path) -> None:
    """In IOR, 128 errors count as 256, which is 0."""
    run = Ior(mpi=mpi, folder=folder)
    run("-t 64k -b 4m -w -k -G 42 -l o -o tf")
    text = run("-t 64k -b 4m -r -R -G 43 -l o -k -o tf", status=DATA_WRONG)
    ensure("Incorrect data on read (128 errors found)" in text, text[-800:])
    ensure(re.search(r"tf, offset \d+: expected 0x\w{16}, found 0x\w{16}", text), text[-800:])
    run("-t 64k -b 4m -r -R -G 42 -l o -o tf")
    run.ensure_clean()


@BENCHMARK
def test_swapped_blocks_are_seen(mpi: m.Mpi, folder: Path) -> None:
    run = Ior(mpi=mpi, folder=folder)
    for transfer, block in (("4k", 4096), ("256k", 4096), ("256k", 262144)):
        run(f"-t {transfer} -b 1m -w -k -G 5 -o tf")
        run(f"-t {transfer} -b 1m -r -R -k -G 5 -o tf")
        with (folder / "tf").open("r+b") as file:
            first = file.read(block)
            file.seek(2 * 262144)
            other = file.read(block)
            file.seek(0)
            file.write(other)
            file.seek(2 * 262144)
            file.write(first)
        run(f"-t {transfer} -b 1m -r -R -G 5 -o tf", status=DATA_WRONG)
    run.ensure_clean()


def test_offsets_4_gib_apart_differ(folder: Path) -> None:
    run = Ior(mpi=m.MPICH, folder=folder, ranks=2)
    # Rank 0's and rank 1's parts of the second segment lie 4 GiB and more behind the first's.
    with (folder / "tf").open("wb") as file:
        file.truncate(2 * 8 * 2**30)
    line = "-t 1m -b 4g -s 1 -O stoneWallingWearOutIterations=2 -E -k -G 9 -o tf"
    run(f"-w {line}")
    with (folder / "tf").open("r+b") as file:
        low = file.read(2**20)
        file.seek(2**32)
        high = file.read(2**20)
        ensure(low != high and len(high) == 2**20, "the same data at x and x + 4 GiB")
        file.seek(2**32)
        file.write(low)
    run(f"-r -R {line}", status=DATA_WRONG)


@BENCHMARK
def test_incompressible_is(mpi: m.Mpi, folder: Path) -> None:
    run = Ior(mpi=mpi, folder=folder)
    for words in ("-l incompressible -t 256k", "-l i -t 4k", "-t 256k", "-t 4k", "-l r -t 64k"):
        run(f"{words} -b 4m -w -k -o tf")
        data = (folder / "tf").read_bytes()
        share = len(gzip.compress(data, 6)) / len(data)
        ensure(share > 0.99, f"{words}: gzip leaves {share:.3f}")
    (folder / "tf").unlink()


@BENCHMARK
def test_random_data_is_checked_without_g(mpi: m.Mpi, folder: Path) -> None:
    run = Ior(mpi=mpi, folder=folder)
    text = run("-t 1m -b 4m -w -W -l r -o tfr")
    ensure("Incorrect" not in text, text[-800:])
    run.ensure_clean()


@BENCHMARK
def test_random_offsets_can_be_written(mpi: m.Mpi, folder: Path) -> None:
    """-z -z on write ends IOR with a division by zero."""
    run = Ior(mpi=mpi, folder=folder)
    run("-t 4k -b 1m -z -z -o tf -s 4 -w -r -R -W")
    run("-t 4k -b 64k -z -F -o tf -s 4 -w -r -R -W")
    run("-t 4k -b 64k -z -o tf -s 4 -w -k -G 3")
    run("-t 4k -b 64k -o tf -s 4 -r -R -G 3")
    run.ensure_clean()


@BENCHMARK
def test_attached_values(mpi: m.Mpi, folder: Path) -> None:
    run = Ior(mpi=mpi, folder=folder)
    text = run("-t4k -b1m -i2 -o tfa")
    ensure("xfersize            : 4096 bytes" in text, text[:1500])
    ensure(len(rows_of(text, RESULTS)[1]) == 4, "two repetitions of write and read")
    run.ensure_clean()


@BENCHMARK
def test_stonewall_is_of_all_tasks(mpi: m.Mpi, folder: Path) -> None:
    run = Ior(mpi=mpi, folder=folder)
    line = "-a DUMMY --dummy.delay-xfer=1000 -t 1m -b 1g -D 1 -O stoneWallingWearOut=1 -w -o tf"
    for words, tasks in ((line, 1), (line + " --ior-compat", 2)):
        names, rows = rows_of(run(words), SUMMARY)
        row = dict(zip(names, rows[0], strict=True))
        wall, bandwidth = float(row["Stonewall(MiB)"]), float(row["Max(MiB)"])
        ensure(0.8 < wall * tasks / bandwidth < 1.3, f"{wall} MiB/s of {bandwidth} ({tasks})")


@BENCHMARK
def test_wear_out_can_be_read_back(mpi: m.Mpi, folder: Path) -> None:
    """A read of a stonewalled write ends where the write did, in the same run and in another."""
    run = Ior(mpi=mpi, folder=folder)
    line = "-t 64k -b 256m -D 1 -O stoneWallingStatusFile=status -G 7 -k -o tf"
    run(f"-w -r -R -Y {line} -F")
    run(f"-w -Y {line} -O stoneWallingWearOut=1 -F")
    text = run("-t 64k -b 256m -r -R -G 7 -o tf -F -O stoneWallingStatusFile=status")
    ensure("Incorrect" not in text, text[-800:])
    (folder / "status").unlink()
    run.ensure_clean()


@BENCHMARK
def test_json_is_valid_and_complete(mpi: m.Mpi, folder: Path) -> None:
    run = Ior(mpi=mpi, folder=folder)
    text = run('-t 64k -b 1m -i 3 -vv -o t"f --json a.json --csv a.csv')
    made = json.loads((folder / "a.json").read_text())
    ensure(made["schema"] == "forebay.bench.ior/1" and made["exit_status"] == 0, "schema, status")
    results = made["tests"][0]["Results"]
    ensure([one["iter"] for one in results] == [0, 0, 1, 1, 2, 2], "iterations")
    ensure(all(one["latency_of_transfers"]["transfers"] == 32 for one in results), "transfers")
    names, rows = rows_of(text, RESULTS)
    for row, one in zip(rows, results, strict=True):
        shown = dict(zip(names, row, strict=True))
        ensure(abs(float(shown["bw(MiB/s)"]) / one["bwMiB"] - 1) < 0.01, "text and JSON differ")
    ensure(len((folder / "a.csv").read_text().splitlines()) == 7, "lines of the CSV")
    run("-t 64k -b 1m -o tf -O summaryFile=b.json -O summaryFormat=JSON")
    json.loads((folder / "b.json").read_text())
    ensure(json.loads(run("-t 64k -b 1m -o tf -O summaryFormat=JSON"))["summary"], "no summary")
    run.ensure_clean("a.json", "a.csv", "b.json")


@EACH
def test_hints(mpi: m.Mpi, folder: Path) -> None:
    run = Ior(mpi=mpi, folder=folder)
    line = "-a MPIIO -t 64k -b 1m -o tf -H"
    text = run(line, IOR_HINT__MPI__cb_nodes="1", IOR_HINT__MPI__no_such_hint="a=b")
    # Open MPI tells every hint back, known or not.
    told = "effect: no_such_hint = a=b" if mpi.is_open_mpi else "no_such_hint=a=b did not take"
    ensure(told in text, text[-1500:])
    ensure("-H is an old spelling" in text, "no advice")
    run.ensure_clean()


# --- back ends on 1 to 7 ranks -------------------------------------------------------------------


@RANKS
def test_back_ends(mpi: m.Mpi, ranks: int, folder: Path) -> None:
    run = Ior(mpi=mpi, folder=folder, ranks=ranks, seconds_max=120)
    apis = ["POSIX", "MPIIO", "MPIIO -c --mpiio.useFileView"]
    if ranks <= 3:  # more ranks than cores wait for each other in every collective call
        apis += ["MPIIO -c", "MMAP", "HDF5", "HDF5 -c"]
        apis += ["NCMPI"] if mpi.is_open_mpi else []
    check = "-w -r -W -R"
    for api in apis:
        run(f"-a {api} -t 8k -b 32k -s 2 {check} -C -e -g -o tf")
    run(f"-t 8k -b 32k -s 2 {check} -F -Z -Z -u -m -i 2 -o tf")
    run(f"-t 8k -b 32k -s 2 {check} -Z -X 3 -z -o tf", IOR_FAKE_NODES=str(ranks))
    if ranks > 1:
        run(f"-t 8k -b 32k {check} -N {ranks - 1} -F -o a@b")
    run.ensure_clean()


def test_launcher(folder: Path) -> None:
    """bin/forebay-ior starts the build of the MPI that started it."""
    script_path = m.LIBRARIES.parent / "launcher" / "forebay-ior"
    for mpi in m.DEBIAN:
        words = ["env", "-C", folder, script_path, *"-t 4k -b 4k -o tf --json a.json".split()]
        ended = m.run(mpi, 2, words, environment={"FOREBAY_LIBDIR": str(m.LIBRARIES)})
        ended.ensure_success()
        made = json.loads((folder / "a.json").read_text())
        ensure(made["mpi_family"] == mpi.family, f"{made['mpi_family']} under {mpi.name}")
        ensure(made["summary"][0]["numTasks"] == 2, "each rank is alone")
