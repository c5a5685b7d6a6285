"""forebay-ior on both MPIs: real command lines, the reference's tables, the defects of the
original, and what goes wrong around a run."""

from __future__ import annotations

import functools
import gzip
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from suite import mpi as m
from suite.runner import Skipped, Test, ensure

REFERENCE = m.ROOT / "tests" / "reference" / "ior"
COMMAND_LINES = REFERENCE / "command-lines-sample.txt"
NOT_BUILT = ("DFS", "IME", "CHFS", "GFARM")
GOOD, USAGE, INPUT_OUTPUT, DATA_WRONG, TIME_LIMIT, REFUSED = range(6)


def program(mpi: m.Mpi) -> Path:
    path = m.LIBRARIES / mpi.family / "forebay-ior"
    ensure(path.exists(), f"no {path} (it is not built). Run `make build`.")
    return path


@dataclass(frozen=True, kw_only=True)
class Ior:
    """Runs forebay-ior in `folder` on some ranks."""

    mpi: m.Mpi
    folder: Path
    ranks: int = 2
    seconds_max: float = 60

    def __call__(self, line: str, *, status: int = GOOD, **environment: str) -> str:
        words = ["env", "-C", str(self.folder), str(program(self.mpi)), *line.split()]
        ended = m.run(
            self.mpi,
            self.ranks,
            words,
            seconds_max=self.seconds_max,
            environment=environment,
        )
        ensure(not ended.late, f"no end of {ended.command}\n{ended.tail}")
        ensure(
            ended.status == status,
            f"status {ended.status} instead of {status}: {ended.command}\n{ended.tail}",
        )
        return ended.text

    def ensure_clean(self, *kept: str) -> None:
        left = sorted(path.name for path in self.folder.iterdir())
        ensure(left == sorted(kept), f"{left} are left instead of {sorted(kept)}")


def _rows(text: str, head: str) -> tuple[list[str], list[list[str]]]:
    """The table whose head begins with `head`: names of its columns, and its rows."""
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(head))
    names = lines[at].split()
    rows = [line.split() for line in lines[at + 1 :] if re.match(r"(write|read) +[\d.]", line)]
    return names, [row for row in rows if len(row) == len(names)]


RESULTS, SUMMARY = "access    bw(MiB/s)", "Operation   Max(MiB)"


# --- command lines -------------------------------------------------------------------------------


def _dry_run(mpi: m.Mpi, folder: Path, line: str) -> None:
    done = subprocess.run(
        [str(program(mpi)), *line.split()[1:], "--dry-run"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**m.clean_environment(), "OMPI_ALLOW_RUN_AS_ROOT": "1"},
    )
    found = re.search(r"-a[= ](\w+)", line)
    api = found[1].upper() if found else "POSIX"
    if api in NOT_BUILT:
        ensure(done.returncode == USAGE, f"status {done.returncode}: {line}")
        ensure(f"not built: {api}" in done.stderr, done.stderr)
    else:
        ensure(done.returncode == GOOD, f"status {done.returncode}: {line}\n{done.stderr}")
        ensure("Estimate: " in done.stdout, "no estimate")


def command_lines(mpi: m.Mpi, folder: Path) -> None:
    """All real lines parse, and only back ends that are not built are refused, by name."""
    lines = COMMAND_LINES.read_text().splitlines()
    ensure(len(lines) == 300, f"{len(lines)} command lines")
    step = 1 if mpi is m.MPICH else 20  # Open MPI takes a quarter of a second to start alone
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(functools.partial(_dry_run, mpi, folder), lines[::step]))
    Ior(mpi=mpi, folder=folder).ensure_clean()


def tables(mpi: m.Mpi, folder: Path) -> None:
    """A reader that knows names of columns reads the reference's output and ours."""
    for path in sorted(REFERENCE.glob("*.txt")):
        found = re.search(r"mpiexec.mpich -n (\d+) ior (.*)", path.read_text())
        if found is None or path.name.startswith(("06", "07", "37", "30", "15", "21", "23")):
            continue  # no tables, a crash, a script of another name, data that is wrong there
        theirs = path.read_text()
        words = found[2].replace("-b 1g", "-b 16m")
        ours = Ior(mpi=mpi, folder=folder, ranks=int(found[1]))(words)
        for head in (RESULTS, SUMMARY):
            if head in theirs:
                their_names, their_rows = _rows(theirs, head)
                names, rows = _rows(ours, head)
                ensure(names == their_names, f"{path.name}: {names} instead of {their_names}")
                ensure(len(rows) >= len(their_rows), f"{path.name}: {len(rows)} rows")
        for name in re.findall(r"^([a-zA-Z ]+?) +: ", theirs.partition("Results:")[0], re.M):
            ensure(re.search(f"^{name} *: ", ours, re.M), f"{path.name}: no {name}")
        for file in folder.iterdir():
            file.unlink()


def script(mpi: m.Mpi, folder: Path) -> None:
    run = Ior(mpi=mpi, folder=folder)
    text = run(f"-f {REFERENCE / '30-script.ior'}")
    _, theirs = _rows((REFERENCE / "30-script.txt").read_text(), SUMMARY)
    _, ours = _rows(text, SUMMARY)
    keyed = [[row[i] for i in (0, 12, 13, 15, 16, 17, 20, 21, 23)] for row in theirs]
    # The columns that say what was run, not how fast.
    ensure(
        [[row[i] for i in (0, 12, 13, 15, 16, 17, 20, 21, 23)] for row in ours] == keyed,
        text[-1500:],
    )
    (folder / "bad.ior").write_text("IOR START\n api=POSIX\n bogus=3\nRUN\nIOR STOP\n")
    ensure('line 3: "bogus=3"' in run("-f bad.ior", status=USAGE), "the line is not shown")
    run.ensure_clean("bad.ior")


# --- what the original gets wrong ----------------------------------------------------------------


def corrupt_data_is_never_status_0(mpi: m.Mpi, folder: Path) -> None:
    """In IOR, 128 errors count as 256, which is 0."""
    run = Ior(mpi=mpi, folder=folder)
    run("-t 64k -b 4m -w -k -G 42 -l o -o tf")
    text = run("-t 64k -b 4m -r -R -G 43 -l o -k -o tf", status=DATA_WRONG)
    ensure("Incorrect data on read (128 errors found)" in text, text[-800:])
    ensure(re.search(r"tf, offset \d+: expected 0x\w{16}, found 0x\w{16}", text), text[-800:])
    run("-t 64k -b 4m -r -R -G 42 -l o -o tf")
    run.ensure_clean()


def swapped_blocks_are_seen(mpi: m.Mpi, folder: Path) -> None:
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


def offsets_4_gib_apart_differ(mpi: m.Mpi, folder: Path) -> None:
    run = Ior(mpi=mpi, folder=folder, ranks=2)
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


def incompressible_is(mpi: m.Mpi, folder: Path) -> None:
    run = Ior(mpi=mpi, folder=folder)
    for words in ("-l incompressible -t 256k", "-l i -t 4k", "-t 256k", "-t 4k", "-l r -t 64k"):
        run(f"{words} -b 4m -w -k -o tf")
        data = (folder / "tf").read_bytes()
        share = len(gzip.compress(data, 6)) / len(data)
        ensure(share > 0.99, f"{words}: gzip leaves {share:.3f}")
    (folder / "tf").unlink()


def random_data_is_checked_without_g(mpi: m.Mpi, folder: Path) -> None:
    run = Ior(mpi=mpi, folder=folder)
    text = run("-t 1m -b 4m -w -W -l r -o tfr")
    ensure("Incorrect" not in text, text[-800:])
    run.ensure_clean()


def random_offsets_can_be_written(mpi: m.Mpi, folder: Path) -> None:
    """-z -z on write ends IOR with a division by zero."""
    run = Ior(mpi=mpi, folder=folder)
    run("-t 4k -b 1m -z -z -o tf -s 4 -w -r -R -W")
    run("-t 4k -b 64k -z -F -o tf -s 4 -w -r -R -W")
    run("-t 4k -b 64k -z -o tf -s 4 -w -k -G 3")
    run("-t 4k -b 64k -o tf -s 4 -r -R -G 3")
    run.ensure_clean()


def attached_values(mpi: m.Mpi, folder: Path) -> None:
    run = Ior(mpi=mpi, folder=folder)
    text = run("-t4k -b1m -i2 -o tfa")
    ensure("xfersize            : 4096 bytes" in text, text[:1500])
    ensure(len(_rows(text, RESULTS)[1]) == 4, "two repetitions of write and read")
    run.ensure_clean()


def stonewall_is_of_all_tasks(mpi: m.Mpi, folder: Path) -> None:
    run = Ior(mpi=mpi, folder=folder)
    line = "-a DUMMY --dummy.delay-xfer=1000 -t 1m -b 1g -D 1 -O stoneWallingWearOut=1 -w -o tf"
    for words, tasks in ((line, 1), (line + " --ior-compat", 2)):
        names, rows = _rows(run(words), SUMMARY)
        row = dict(zip(names, rows[0], strict=True))
        wall, bandwidth = float(row["Stonewall(MiB)"]), float(row["Max(MiB)"])
        ensure(0.8 < wall * tasks / bandwidth < 1.3, f"{wall} MiB/s of {bandwidth} ({tasks})")


def wear_out_can_be_read_back(mpi: m.Mpi, folder: Path) -> None:
    """What a stonewalled write left is read up to there, in the same run and in another."""
    run = Ior(mpi=mpi, folder=folder)
    line = "-t 64k -b 256m -D 1 -O stoneWallingStatusFile=status -G 7 -k -o tf"
    run(f"-w -r -R -Y {line} -F")
    run(f"-w -Y {line} -O stoneWallingWearOut=1 -F")
    text = run("-t 64k -b 256m -r -R -G 7 -o tf -F -O stoneWallingStatusFile=status")
    ensure("Incorrect" not in text, text[-800:])
    (folder / "status").unlink()
    run.ensure_clean()


def json_is_valid_and_complete(mpi: m.Mpi, folder: Path) -> None:
    run = Ior(mpi=mpi, folder=folder)
    text = run('-t 64k -b 1m -i 3 -vv -o t"f --json a.json --csv a.csv')
    made = json.loads((folder / "a.json").read_text())
    ensure(made["schema"] == "forebay.bench.ior/1" and made["exit_status"] == 0, "schema, status")
    results = made["tests"][0]["Results"]
    ensure([one["iter"] for one in results] == [0, 0, 1, 1, 2, 2], "iterations")
    ensure(all(one["latency_of_transfers"]["transfers"] == 32 for one in results), "transfers")
    names, rows = _rows(text, RESULTS)
    for row, one in zip(rows, results, strict=True):
        shown = dict(zip(names, row, strict=True))
        ensure(abs(float(shown["bw(MiB/s)"]) / one["bwMiB"] - 1) < 0.01, "text and JSON differ")
    ensure(len((folder / "a.csv").read_text().splitlines()) == 7, "lines of the CSV")
    run("-t 64k -b 1m -o tf -O summaryFile=b.json -O summaryFormat=JSON")
    json.loads((folder / "b.json").read_text())
    ensure(json.loads(run("-t 64k -b 1m -o tf -O summaryFormat=JSON"))["summary"], "no summary")
    run.ensure_clean("a.json", "a.csv", "b.json")


def hints(mpi: m.Mpi, folder: Path) -> None:
    run = Ior(mpi=mpi, folder=folder)
    line = "-a MPIIO -t 64k -b 1m -o tf -H"
    text = run(line, IOR_HINT__MPI__cb_nodes="1", IOR_HINT__MPI__no_such_hint="a=b")
    # Open MPI tells every hint back, known or not.
    told = "effect: no_such_hint = a=b" if mpi.is_open_mpi else "no_such_hint=a=b did not take"
    ensure(told in text, text[-1500:])
    ensure("-H is an old spelling" in text, "no advice")
    run.ensure_clean()


DEFECTS: Sequence[Callable[[m.Mpi, Path], None]] = (
    corrupt_data_is_never_status_0,
    swapped_blocks_are_seen,
    incompressible_is,
    random_data_is_checked_without_g,
    random_offsets_can_be_written,
    attached_values,
    stonewall_is_of_all_tasks,
    wear_out_can_be_read_back,
    json_is_valid_and_complete,
    hints,
)


# --- back ends on 1 to 7 ranks -------------------------------------------------------------------


def back_ends(mpi: m.Mpi, ranks: int, folder: Path) -> None:
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


# --- faults --------------------------------------------------------------------------------------


def disk_full(mpi: m.Mpi, folder: Path) -> None:
    if os.geteuid() != 0:
        raise Skipped("a small file system needs root")
    small = folder / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(small)], check=True)
    try:
        run = Ior(mpi=mpi, folder=small, ranks=3)
        for words in ("", "-F", "-a MMAP -F", "-a MPIIO", "-a HDF5"):
            text = run(f"-t 64k -b 4m {words} -o tf", status=INPUT_OUTPUT)
            ensure("ERROR: " in text, text[-800:])
            run.ensure_clean()
    finally:
        subprocess.run(["umount", str(small)], check=False)


def nonsense(mpi: m.Mpi, folder: Path) -> None:
    run = Ior(mpi=mpi, folder=folder)
    for words, what in (
        ("-t 3", "multiple of 8"),
        ("-t 3m -b 4m", "multiple of transfer size"),
        ("-a IME", "not built: IME"),
        ("-r -R", "-G"),
    ):
        ensure(what in run(f"{words} -o tf", status=USAGE), words)
    ensure("running with 2 tasks" in run("-N 8 -t 64k -b 64k -o tf"), "more tasks than ranks")
    ensure("No such file" in run("-o no/dir/tf", status=INPUT_OUTPUT), "no directory")
    text = run("-t 64k -b 1m -F --budget-bytes 1m -o tf", status=REFUSED)
    ensure("it writes 2 MiB, the budget allows 1 MiB" in text, text[-500:])
    run("-t 64k -b 1m -F --budget-files 1 -o tf", status=REFUSED)
    dummy = "-a DUMMY --dummy.delay-xfer=100000000 -t 64k -b 1m -w -o tf"
    ensure("stands still" in run(f"{dummy} --stall-limit 1", status=TIME_LIMIT), "no watchdog")
    run(f"{dummy} --budget-time 1", status=TIME_LIMIT)
    run.ensure_clean()


def file_vanishes(mpi: m.Mpi, folder: Path) -> None:
    """Each of its reads opens the file anew: after the first, there is none."""
    run = Ior(mpi=mpi, folder=folder)
    run("-t 64k -b 1m -w -k -G 1 -F -o tf")
    (folder / "tf.00000001").unlink()
    text = run("-t 64k -b 1m -r -G 1 -F -k -o tf", status=INPUT_OUTPUT)
    ensure("rank 1: cannot open tf.00000001" in text, text[-500:])
    with (folder / "tf.00000001").open("wb") as file:
        file.truncate(65536)
    text = run("-t 64k -b 1m -r -G 1 -F -o tf", status=INPUT_OUTPUT)
    ensure("the file ends 0 bytes later" in text, text[-500:])
    run.ensure_clean()


def rank_is_killed(mpi: m.Mpi, folder: Path) -> None:
    run = [
        *mpi.start(3, {}),
        *("env", "-C", str(folder), str(program(mpi))),
        *("-t 4k -b 1g -F -w -Y -O interIODelay=1000 -o tf").split(),
    ]
    process = subprocess.Popen(
        run, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=m.clean_environment()
    )
    try:
        deadline = time.monotonic() + 30
        while len(list(folder.iterdir())) < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
        children = _descendants(process.pid, program(mpi).name)
        ensure(len(children) == 3, f"{len(children)} ranks")
        os.kill(children[1], signal.SIGKILL)
        process.wait(30)
        ensure(process.returncode != 0, "success after a rank was killed")
        deadline = time.monotonic() + 10
        while list(folder.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.1)
        left = [path.name for path in folder.iterdir()]
        ensure(not left, f"{left} are left")
    finally:
        m.end_group(process) if process.poll() is None else None


def _descendants(root: int, name: str) -> list[int]:
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                text = (entry / "stat").read_text()
            except OSError:
                continue
            command, rest = text[text.index("(") + 1 :].rsplit(")", 1)
            parents[int(entry.name)] = (int(rest.split()[1]), command)
    found = []
    for pid, (parent, command) in parents.items():
        while parent in parents and parent != root:
            parent = parents[parent][0]
        above = parents.get(parents[pid][0], (0, ""))[1]
        if parent == root and command == name and above != name:  # not a rank's janitor
            found.append(pid)
    return sorted(found)


FAULTS: Sequence[Callable[[m.Mpi, Path], None]] = (
    disk_full,
    nonsense,
    file_vanishes,
    rank_is_killed,
)


def launcher(folder: Path) -> None:
    """bin/forebay-ior starts the build of the MPI that started it."""
    script_path = m.LIBRARIES.parent / "launcher" / "forebay-ior"
    for mpi in m.DEBIAN:
        words = ["env", "-C", folder, script_path, *"-t 4k -b 4k -o tf --json a.json".split()]
        ended = m.run(mpi, 2, words, environment={"FOREBAY_LIBDIR": str(m.LIBRARIES)})
        ended.ensure_success()
        made = json.loads((folder / "a.json").read_text())
        ensure(made["mpi_family"] == mpi.family, f"{made['mpi_family']} under {mpi.name}")
        ensure(made["summary"][0]["numTasks"] == 2, "each rank is alone")


def tests() -> Iterator[Test]:
    for mpi in m.DEBIAN:
        for name, function in (
            ("command_lines", command_lines),
            ("tables", tables),
            ("script", script),
            *((one.__name__, one) for one in (*DEFECTS, *FAULTS)),
        ):
            yield Test(name=f"ior-{name}-{mpi.name}", run=functools.partial(function, mpi))
        for ranks in (1, 2, 3, 4, 7):
            yield Test(
                name=f"ior-back_ends-{mpi.name}-{ranks}",
                run=functools.partial(back_ends, mpi, ranks),
            )
    yield Test(
        name="ior-offsets_4_gib_apart_differ",
        run=functools.partial(offsets_4_gib_apart_differ, m.MPICH),
    )
    yield Test(name="ior-launcher", run=launcher)
