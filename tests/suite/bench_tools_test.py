"""forebay-hpio, forebay-meta and `forebay bench` on real MPIs: right data, status, no litter."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from evaluation import wheels

from suite import mpi as m
from suite.file_systems import mounted_tmpfs, until
from suite.ior import lines_of
from suite.on import BENCHMARK, EACH, FULL, RANKS
from suite.verdict import ensure

GOOD, USAGE, INPUT_OUTPUT, DATA_WRONG, TIME_LIMIT, REFUSED = range(6)
EVERY_WAY = "-n 1111 -m 111 -c 7 -s 13 -p 5 -O 11 -r 2".split()
# On more ranks than cores every collective call costs a time slice of the scheduler.
CROWDED = "-n 0011 -m 011 -c 3 -s 13 -p 5 -O 11 -f 0".split()
ARRAYS = [
    "--pattern=block:shape=7x11x5",
    "--pattern=subarray:shape=4x9x10,start=1x0x2,part=2x9x7,halo=0x2x1",
    "--pattern=cyclic:shape=17x13,block=3x2",
    "--pattern=cyclic:shape=17x13,block=3x0,start=2x1",
]
MDTEST = "-n 9 -b 2 -z 1 -w 100 -e 100 -X -N 1 -R -U".split()
MDTEST_ROWS = (
    "Directory creation|Directory stat|Directory rename|Directory removal|File creation|File stat"
    "|File read|File removal|Tree creation|Tree removal"
).split("|")
HPIO_HEADER = "  open  |   io   |  sync  | close  | total  |   IO   |  IOsyn | ct,sz,spacing"
LINES = m.ROOT / "tests" / "command_lines"
PATIENCE = 180


def program(mpi: m.Mpi, tool: str) -> Path:
    path = m.LIBRARIES / mpi.family / f"forebay-{tool}"
    ensure(path.exists(), f"no {path} (not built). Run `make build`.")
    return path


def run(mpi: m.Mpi, tool: str, ranks: int, words: Sequence[object], want: int) -> m.Ended:
    ended = m.run(mpi, ranks, [program(mpi, tool), *words], seconds_max=PATIENCE)
    ensure(not ended.late, f"hangs: {ended.command}\n{ended.tail}")
    ensure(
        ended.status == want, f"status {ended.status}, not {want}: {ended.command}\n{ended.tail}"
    )
    return ended


def ensure_clean(folder: Path, *kept: str) -> None:
    left = sorted(path.name for path in folder.iterdir() if path.name not in kept)
    ensure(not left, f"left behind: {left}")


@RANKS
def test_hpio_is_right(mpi: m.Mpi, ranks: int, folder: Path) -> None:
    few = ranks <= 2
    methods = "--methods=individual,collective,posix" if few else "--methods=collective"
    runs = (
        ([*EVERY_WAY, "-f", "1" if ranks == 1 else "0"], 24) if few else (CROWDED, 8),
        ([methods, "-f", "0", *ARRAYS], 24 if few else 8),
    )
    for words, tests in runs:
        ended = run(mpi, "hpio", ranks, [*words, "-d", folder, "--json", folder / "r.json"], GOOD)
        ensure(f"**All ({tests}) test(s) passed" in ended.text, ended.tail)
        points = json.loads((folder / "r.json").read_text())["points"]
        ensure(len(points) == tests, f"{len(points)} points")
        ensure(all(len(one["ranks"]["seconds"]) == ranks for one in points), "ranks are missing")
        ensure(all(one["latency"]["calls"] > 0 for one in points), "no latencies")
        ensure(HPIO_HEADER in ended.text, "HPIO's header is not there")
    ensure_clean(folder, "r.json")


@RANKS
def test_meta_is_right(mpi: m.Mpi, ranks: int, folder: Path) -> None:
    for extra in ([], ["-u"], ["-F", "-c"], ["-F", "-S"]) if ranks <= 3 else (["-u"],):
        words = [word for word in MDTEST if extra[:1] != ["-F"] or word != "-U"]
        ended = run(mpi, "meta", ranks, [*words, *extra, "-d", folder / "md"], GOOD)
        lines = [line.strip() for line in ended.text.splitlines()]
        rows = [row for row in MDTEST_ROWS if any(line.startswith(row + "  ") for line in lines)]
        ensure(len(rows) == (10 if not extra or extra == ["-u"] else 6), f"rows {rows}")
        ensure_clean(folder)
    for extra in ([], ["-u"], ["-F", "-c"], ["-F", "-S"], ["--storm", "all", "-i", "2"]):
        files = ["-w", "100", "-e", "100", "-X", "-N", "1", "-b", "2", "-z", "1"]
        words = ["-n", "9", *files[: None if extra[:1] != ["--storm"] else 0], *extra]
        run(mpi, "meta", ranks, [*words, "-d", f"{folder}/md@{folder}/me"], GOOD)
        ensure_clean(folder)
    run(mpi, "meta", ranks, ["-n", "4", "-d", f"{folder}/a/b/c@{folder}/a/d/"], GOOD)
    ensure_clean(folder)
    storm = ["--storm", "all", "-n", "5", "-d", folder / "md", "--json", folder / "s.json"]
    run(mpi, "meta", ranks, [*storm, "--csv", folder / "s.csv"], GOOD)
    rows_of = json.loads((folder / "s.json").read_text())["rows"]
    ramp = sorted({row["ranks"] for row in rows_of})
    ensure(ramp == sorted({one for one in (1, 2, 4) if one < ranks} | {ranks}), f"ramp {ramp}")
    ensure({row["mode"] for row in rows_of} == {"existing", "private", "shared"}, "modes")
    for row in rows_of:
        ensure(row["latency"]["calls"] == 5 * row["ranks"], f"calls of {row['name']}")
    lines = (folder / "s.csv").read_text().splitlines()
    ensure(lines[0].startswith("mode,operation,ranks,repetition,operations,"), lines[0])
    ensure(len(lines) == 1 + len(rows_of), f"{len(lines)} lines of {len(rows_of)} rows")
    ensure_clean(folder, "s.json", "s.csv")


@BENCHMARK
def test_meta_reads_what_other_ranks_made(mpi: m.Mpi, folder: Path) -> None:
    """The number of ranks was in the name of the directory."""
    for extra in ([], ["-u"], ["-b", "2", "-z", "1", "-L"]):
        words = ["-n", "6", "-F", "-d", folder / "md", *extra]
        run(mpi, "meta", 3, [*words, "-C", "-w", "64"], GOOD)
        run(mpi, "meta", 2, [*words, "-T", "-E", "-e", "64"], GOOD)
        first = f"test-dir.0-0/mdtest_tree.{'0.' * (extra == ['-u'])}0"
        ensure((folder / "md" / first).is_dir(), f"no {first}")
        run(mpi, "meta", 3, [*words, "-r"], GOOD)


@BENCHMARK
def test_statuses(mpi: m.Mpi, folder: Path) -> None:
    """Every documented status, with a message; nothing is left."""
    cases: list[tuple[str, Sequence[str | Path], int, str]] = [
        ("hpio", ["-c", "x"], USAGE, "cannot read the size"),
        ("hpio", ["--pattern", "block:shape=8,grid=5", "-d", folder], USAGE, "does not suit"),
        ("hpio", ["-d", folder / "nowhere"], INPUT_OUTPUT, "nowhere"),
        ("hpio", ["-O", "01", "-g", "2", "-d", folder], INPUT_OUTPUT, "cannot open"),
        ("hpio", ["-r", "9", "-w", "9", "--budget-time", "2", "-d", folder], TIME_LIMIT, "over"),
        ("hpio", ["-c", "1m", "--budget-bytes", "1m", "-d", folder], REFUSED, "--budget-bytes"),
        ("hpio", ["-c", "1m", "-s", "1g", "--dry-run", "-d", folder], REFUSED, "--budget-share"),
        ("hpio", ["-d", folder, "-o", "nowhere"], USAGE, "cannot write nowhere/hpio.json ("),
        ("hpio", ["-d", folder, "--csv", folder], USAGE, "(Is a directory)"),
        ("meta", ["-n", "4", "-d", folder, "--json", "nowhere/a"], USAGE, "cannot write nowhere/a"),
        ("meta", ["-n", "4", "-d", folder, "-x", "nowhere/a"], USAGE, "cannot write nowhere/a"),
        ("meta", ["-n", "0"], USAGE, "nothing to do"),
        ("meta", ["-n", "4", "-a", "DFS"], USAGE, "not built: DFS"),
        ("meta", ["-n", "4", "-T", "-d", folder], INPUT_OUTPUT, "cannot stat"),
        ("meta", ["-n", "4", "-d", "/dev/null/x"], INPUT_OUTPUT, "/dev/null/x"),
        # The advice of a long message.
        ("hpio", ["-d", "./" * 1000 + "no"], INPUT_OUTPUT, "(No such file or directory). "),
        ("meta", ["-n", "1m", "--budget-files", "10", "-d", folder], REFUSED, "--budget-files"),
    ]
    for tool, words, want, text in cases:
        ended = run(mpi, tool, 2, words, want)
        ensure(text in ended.text, f"no word of {text!r}: {ended.command}\n{ended.tail}")
        ensure_clean(folder)


def test_command_lines(folder: Path) -> None:
    """Lines as sites write them parse; the budget may refuse what this machine has no room for."""

    def dry_run(line: str) -> None:
        tool, *words = line.split()
        name = {"mdtest": "meta", "hpio": "hpio"}[tool]
        done = subprocess.run(
            [str(program(m.MPICH, name)), "--dry-run", *words],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env=m.clean_environment(),
        )
        ensure(done.returncode in (GOOD, REFUSED), f"{done.returncode}: {line}\n{done.stderr}")
        ensure("stimate" in done.stdout, f"no estimate: {line}")

    lines = [line for tool in ("mdtest", "hpio") for line in lines_of(LINES / f"{tool}.txt")]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(dry_run, lines))
    ensure_clean(folder)


@BENCHMARK
def test_mdtest_options(mpi: m.Mpi, folder: Path) -> None:
    """Commands around phases, every call as CSV, warnings as errors."""
    noted = folder / "noted"
    common = ["-n", "6", "-F", "-d", folder / "md"]
    words = [*common, f"--run-cmd-before-phase=echo b >> {noted}", "-i", "2"]
    words += [f"--run-cmd-after-phase=echo a >> {noted}"]
    run(mpi, "meta", 2, words, GOOD)
    phases = 2 * 6  # tree creation, create, stat, read, remove, tree removal
    ensure(noted.read_text().split() == ["b", "a"] * phases, noted.read_text())
    ended = run(mpi, "meta", 2, [*common, "--run-cmd-before-phase=exit 3"], INPUT_OUTPUT)
    ensure('"exit 3" failed (status 3)' in ended.text, ended.tail)
    noted.unlink()
    command = f"exec grep SigBlk /proc/self/status > {noted}"
    run(mpi, "meta", 2, [*common, f"--run-cmd-before-phase={command}"], GOOD)
    ensure(noted.read_text().split()[1] == "0" * 16, f"signals are blocked: {noted.read_text()}")
    ensure_clean(folder, "noted")
    run(mpi, "meta", 2, [*common, "-i", "2", f"--savePerOpDataCSV={folder}/ops"], GOOD)
    for phase in ("File_creation", "File_stat", "File_read", "File_removal"):
        for name in (f"ops-{phase}-{i}-{rank}.csv" for i in (0, 1) for rank in (0, 1)):
            lines = (folder / name).read_text().splitlines()
            ensure(lines[0] == "time,runtime,tp" and len(lines) == 7, f"{name}: {lines}")
            (folder / name).unlink()
    for file in folder.glob("ops-Tree*"):
        file.unlink()
    run(mpi, "meta", 2, [*common, "-t"], GOOD)
    ended = run(mpi, "meta", 2, [*common, "-t", "--warningAsErrors"], INPUT_OUTPUT)
    ensure("there were warnings" in ended.text, ended.tail)
    ensure_clean(folder, "noted")


@BENCHMARK
def test_cores_that_ranks_may_use(mpi: m.Mpi, folder: Path) -> None:
    """Two ranks on one core are too many, however many cores the machine has."""
    for tool, line in (("hpio", "-O 10"), ("meta", "-n 4"), ("ior", "-t 4k -b 4k")):
        place = ["-o", str(folder / "tf")] if tool == "ior" else ["-d", str(folder)]
        words = [str(program(mpi, tool)), *line.split(), *place]
        ended = m.launch([*mpi.start(2, {}), "taskset", "-c", "0", *words], seconds_max=PATIENCE)
        ensure("2 ranks share" in ended.ensure_success().text, ended.tail)
        ended = m.launch([*mpi.start(1, {}), *words], seconds_max=PATIENCE).ensure_success()
        ensure("ranks share" not in ended.text, ended.tail)
    ensure_clean(folder)


@BENCHMARK
def test_wrong_data(mpi: m.Mpi, folder: Path) -> None:
    """Data of another seed are wrong data, and are shown with file and offset."""
    point = ["-n", "0001", "-c", "5", "-d", folder]
    run(mpi, "hpio", 2, [*point, "-O", "10", "-k", "--seed", "1"], GOOD)
    run(mpi, "hpio", 2, [*point, "-O", "01", "-g", "2", "--seed", "1"], GOOD)
    ended = run(mpi, "hpio", 2, [*point, "-O", "01", "-g", "2", "--seed", "2"], DATA_WRONG)
    ensure("offset 0 (data of rank 0): expected 0x" in ended.text, ended.tail)
    # More data than there are: the file is another run's, and stays.
    run(mpi, "hpio", 3, [*point, "-O", "01", "-g", "2", "-m", "001"], INPUT_OUTPUT)
    (folder / "hpio.0000.00000000").unlink()
    files = ["-n", "6", "-F", "-d", folder / "md", "-w", "100", "-e", "100", "-X"]
    run(mpi, "meta", 2, [*files, "-C", "-G", "1"], GOOD)
    ended = run(mpi, "meta", 2, [*files, "-E", "-G", "2"], DATA_WRONG)
    ensure("12 file(s) hold other data" in ended.text, ended.tail)
    run(mpi, "meta", 2, [*files, "-E", "-r", "-G", "1"], GOOD)
    # Each number of tasks would meet the others' files.
    ended = run(mpi, "meta", 2, [*files, "-C", "-l", "2"], USAGE)
    ensure("several numbers of tasks" in ended.text, ended.tail)
    ensure_clean(folder, "md")


@BENCHMARK
@pytest.mark.parametrize(
    "method",
    [
        pytest.param("10", id="individual"),
        pytest.param("01", id="collective"),
        pytest.param("001", id="posix"),
    ],
)
def test_full_disk(mpi: m.Mpi, method: str, folder: Path) -> None:
    """Somebody else fills the disk, and takes what becomes free between two repetitions."""
    with mounted_tmpfs(folder / "small", "12m") as small:
        over = threading.Event()
        empty = small.stat().st_mtime_ns  # changes with the first file, however soon it goes

        def fill() -> None:
            if not until(lambda: small.stat().st_mtime_ns != empty, PATIENCE):
                return
            with (small / "ballast").open("wb", buffering=0) as file:
                while not over.wait(0.01):
                    with contextlib.suppress(OSError):
                        file.write(bytes(1 << 20))

        other = threading.Thread(target=fill)
        other.start()
        words = ["-n", "0001", "-m", method, "-c", "1k", "-s", "1k", "-p", "64", "-O", "10"]
        words += ["-r", "5", "-w", "1", "-d", str(small)]
        try:
            ended = run(mpi, "hpio", 2, words, INPUT_OUTPUT)
        finally:  # or it would fill what lies beneath
            over.set()
            other.join()
        ensure("space" in ended.text or "full" in ended.text, ended.tail)
        ensure_clean(small, "ballast")


@BENCHMARK
def test_read_only(mpi: m.Mpi, folder: Path) -> None:
    with mounted_tmpfs(folder / "closed", "4m") as closed:
        subprocess.run(["mount", "-o", "remount,ro", closed], check=True)
        for tool, words in (
            ("hpio", ["-m", "10", "-O", "10"]),
            ("hpio", ["-m", "01", "-O", "10"]),
            ("meta", ["-n", "4"]),
            ("meta", ["--storm", "all", "-n", "4"]),
            ("meta", ["-n", "4", "-d", f"{closed}/new"]),
            ("meta", ["--storm", "all", "-n", "4", "-d", f"{closed}/new"]),
        ):
            where = [] if "-d" in words else ["-d", str(closed)]
            ended = run(mpi, tool, 2, [*words, *where], INPUT_OUTPUT)
            ensure("ead-only file system" in ended.text, ended.tail)
            ensure("mounted read-write" in ended.text, ended.tail)


LONG = (
    ("hpio", "waits", "-r 3 -w 30"),
    ("hpio", "writes", "-n 0001 -O 10 -r 9 -c 64k -s 4k"),
    ("meta", "waits", "-n 4 -i 3 -p 30"),
    ("meta", "creates", "-n 1000000 -F -y -w 1"),
    ("meta", "storms", "--storm private -n 1000000 --phase-time 30"),
)


@pytest.mark.parametrize(
    ("mpi", "tool", "line", "rank"),
    [
        pytest.param(
            *(mpi, tool, line, rank),
            id=f"{mpi.name}-{tool}-{name}-{rank}",
            marks=() if (mpi is m.MPICH) == ((i + rank) % 4 < 2) and rank in (0, 2) else FULL,
        )
        for mpi in m.DEBIAN
        for i, (tool, name, line) in enumerate(LONG)
        for rank in (0, 2)
    ],
)
def test_killed_rank(mpi: m.Mpi, tool: str, line: str, rank: int, folder: Path) -> None:
    place = folder / "md" / "new" / "deep" if tool == "meta" else folder / "md"
    words = [str(program(mpi, tool)), *line.split(), "-d", str(place)]
    (folder / "md").mkdir()
    with (folder / "out").open("w") as out, m.started([*mpi.start(3, {}), *words], out) as process:
        os.kill(_a_rank(words, rank, seconds_max=20), signal.SIGKILL)
        ensure(until(lambda: not _ranks(words)[0], 20), "the others go on for long")
        # Open MPI's launcher may hang where a rank dies while another connects to it.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
        status = process.poll()
    ensure(status != 0, "a killed rank passes for success")
    _wait_until_empty(folder / "md")


SLOW_WRITES = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
static ssize_t put(const char *name, int fd, const void *data, size_t bytes, off_t at) {
    const char *rank = getenv("PMI_RANK");
    if (rank == NULL) { rank = getenv("OMPI_COMM_WORLD_RANK"); }
    if (rank != NULL && *rank == '0' && bytes > 100000) { usleep(700000); }
    ssize_t (*real)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, name);
    return real(fd, data, bytes, at);
}
ssize_t pwrite(int fd, const void *data, size_t bytes, off_t at) {
    return put("pwrite", fd, data, bytes, at);
}
ssize_t pwrite64(int fd, const void *data, size_t bytes, off_t at) {
    return put("pwrite64", fd, data, bytes, at);
}
"""


@FULL
@EACH
def test_slow_is_not_still(mpi: m.Mpi, folder: Path) -> None:
    """Rank 0 fills its share slowly but steadily, and rank 1 waits for it. The test is of a limit
    of whole seconds: here time has to pass."""
    shim = m.shim(mpi, folder / "slow.c", SLOW_WRITES)
    words = "-n 1000 -m 001 -O 01 -f 0 -c 1k -s 8k --stall-limit 2".split()
    ended = m.run(
        *(mpi, 2, [program(mpi, "hpio"), *words, "-d", folder]),
        environment={"LD_PRELOAD": str(shim)},
        seconds_max=PATIENCE,
    ).ensure_success()
    ensure(ended.seconds > 4, f"the writes were not slow: {ended.seconds:.1f} s")
    ensure_clean(folder, "slow.c", "slow.so")


LONG_RUNS = (
    ("ior", "-t 1m -b 4g -s 99 -w -D 60 -o md/tf", (signal.SIGTERM, signal.SIGINT)),
    ("hpio", "-n 0001 -m 001 -O 10 -f 0 -c 1k -s 4k -r 5000 -v 0 -d md", (signal.SIGTERM,)),
    ("meta", "-n 1000000 -F -w 1 -d md", (signal.SIGTERM, signal.SIGKILL)),
)


@EACH
def test_signalled(mpi: m.Mpi, folder: Path) -> None:
    """The threads that an MPI makes took the signals, and died of them. There is no launcher and
    none to clean up behind its ranks."""
    (folder / "md").mkdir()
    for tool, line, numbers in LONG_RUNS:
        for number in numbers:
            words = [program(mpi, tool), *line.split()]
            with (
                (folder / "out").open("w") as out,
                m.started(words, out, folder=folder) as process,
            ):
                _wait_until_begun(folder / "md")
                process.send_signal(number)
                status = process.wait(PATIENCE)
            text = (folder / "out").read_text()
            killed = number == signal.SIGKILL
            ensure(killed or f"ended by a signal ({number.name})" in text, text[-800:])
            ensure(status == (-number if killed else 128 + number), f"{tool}: status {status}")
            _wait_until_empty(folder / "md")


@BENCHMARK
def test_time_is_over_alone(mpi: m.Mpi, folder: Path) -> None:
    """Files were still created while their directories went."""
    line = f"-n 1000000 -F -u -w 1 -b 4 -z 3 --budget-time 2 -d {folder}/md/of/mine"
    ended = m.launch([str(program(mpi, "meta")), *line.split()], seconds_max=PATIENCE)
    ensure(ended.status == TIME_LIMIT, f"status {ended.status}\n{ended.tail}")
    ensure_clean(folder)


def _wait_until_begun(folder: Path) -> None:
    ensure(until(lambda: any(file.is_file() for file in folder.rglob("*")), 20), "nothing begun")


def _wait_until_empty(folder: Path) -> None:
    """A process of the node removes what killed ranks have left, a moment later."""
    until(lambda: not any(folder.iterdir()), 10)
    ensure_clean(folder)


def _a_rank(words: Sequence[str], rank: int, seconds_max: float) -> int:
    """Its process, once all ranks are there and the one that cleans up behind them."""

    def started() -> bool:
        found, janitors = _ranks(words)
        return set(found) == {0, 1, 2} and janitors > 0

    ensure(until(started, seconds_max), "the ranks did not start")
    return _ranks(words)[0][rank]


def _ranks(words: Sequence[str]) -> tuple[dict[int, int], int]:
    """The process of each rank, and how many janitors: one has the words and the environment of the
    rank that is its parent."""
    wanted = "\0".join(words).encode()
    processes = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cmdline").read_bytes().startswith(wanted):
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                processes[int(entry.name)] = (parent, (entry / "environ").read_bytes())
        except OSError:
            continue
    found = {}
    for process, (parent, environment) in processes.items():
        rank = re.search(rb"\0(?:PMI_RANK|OMPI_COMM_WORLD_RANK)=(\d+)", b"\0" + environment)
        if rank and parent not in processes:
            found[int(rank[1])] = process
    return found, len(processes) - len(found)


@BENCHMARK
def test_bounded_memory(mpi: m.Mpi, folder: Path) -> None:
    """10 000 files need the memory of a thousand, and no more than is said (the MPI's aside)."""
    grown = []
    for items in ("500", "5000"):
        words = ["-n", items, "-F", "-d", folder / "md", "--json", folder / "r.json"]
        run(mpi, "meta", 2, words, GOOD)
        result = json.loads((folder / "r.json").read_text())
        ensure(result["memory_bytes"] < 1 << 20, f"{result['memory_bytes']} B are said")
        grown.append(result["memory_grown_bytes"])
    ensure(grown[1] - grown[0] < 512 << 10, f"memory grows with the files: {grown}")
    ensure(grown[1] < result["memory_bytes"] + (8 << 20), f"more than is said: {grown}")
    ensure_clean(folder, "r.json")


@FULL
def test_destroyed_gaps(folder: Path) -> None:
    """The benchmark sees what Open MPI 5.0.11 does to gaps, and succeeds with Forebay before it."""
    words = "-n 0010 -m 01 -c 8192 -s 512 -p 3584 -O 10".split()
    tool = program(m.OPEN_MPI, "hpio")
    library = Path(m.OPEN_MPI_5.tool("mpirun")).parents[1] / "lib"
    plain = {"LD_LIBRARY_PATH": str(library)}
    ended = m.run(m.OPEN_MPI_5, 4, [tool, *words, "-d", folder], environment=plain, seconds_max=120)
    ensure(ended.status == DATA_WRONG, f"status {ended.status}\n{ended.tail}")
    ensure("a gap that nobody writes" in ended.text, ended.tail)
    environment = {**plain, **m.forebay(None)}
    m.run(
        m.OPEN_MPI_5, 4, [tool, *words, "-d", folder], environment=environment, seconds_max=120
    ).ensure_success()
    ensure_clean(folder)


def forebay_bench(mpi: m.Mpi, *words: str) -> m.Ended:
    environment = {"FOREBAY_LIBDIR": str(m.LIBRARIES), "PYTHONPATH": str(m.ROOT / "python")}
    command = [wheels.python_with_pip(), "-m", "forebay", "bench", *words]
    return m.launch(command, seconds_max=120, environment=environment)


def launcher_words(mpi: m.Mpi, ranks: int) -> str:
    return " ".join(mpi.start(ranks, {}))


@BENCHMARK
def test_command(mpi: m.Mpi, folder: Path) -> None:
    """`forebay bench` launches, passes the status on, draws, and compares."""
    launcher = launcher_words(mpi, 2)
    for tool, words, least in (
        ("ior", f"-t 4k -b 512k -i 3 -o {folder}/f", 3),
        ("hpio", f"-n 0001 -r 3 -d {folder}", 2),  # few calls have no latency that is drawn
        ("meta", f"-n 20 -i 3 -d {folder}/md", 2),
    ):
        page = folder / f"{tool}.html"
        ended = forebay_bench(
            mpi, tool, "--launcher", launcher, *words.split(), "--html", str(page)
        ).ensure_success()
        ensure(page.read_text().count("<svg") >= least, f"{tool}: no pictures\n{ended.tail}")
        page.unlink()
    ended = forebay_bench(mpi, "hpio", "--launcher", launcher, "-c", "x")
    ensure(ended.status == USAGE, f"status {ended.status}")
    ended = forebay_bench(mpi, "compare", "--pairs", "2", "ior", "--", "ior")
    ensure(ended.status == USAGE and "decides nothing" in ended.text, ended.tail)
    point = f"hpio -n 0001 -m 001 -O 10 -f 0 -v 0 -d {folder}"
    ended = forebay_bench(
        mpi,
        *["compare", "--launcher", launcher, "--pairs", "6", "--format", "json"],
        *f"{point} -c 64 -s 64k -- {point} -c 64 -s 64k".split(),
    ).ensure_success()
    ensure('"verdict": ' in ended.text and '"pairs": 6' in ended.text, ended.tail)
    ensure_clean(folder)
