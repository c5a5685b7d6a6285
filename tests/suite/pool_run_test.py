"""`forebay run --pool` and `forebay pool` as users have them: real daemons, real programs."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import pytest

from suite import mpi as m
from suite import pooled
from suite.command import FOREBAY, environment, forebay
from suite.file_systems import full_when_asked, mounted_tmpfs, served_file_system, until
from suite.verdict import ensure

MIB = 1 << 20
KEPT = ("--set", "pool_quiet=60000", "--set", "pool_window=1GiB")
"""Settings with which nothing is drained before somebody asks."""

# Writes so many blocks of 64 KiB, and prints how many bytes were taken.
WRITER = """
import os, sys
path, blocks, status, mode = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
taken = 0
try:
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
    for number in range(blocks):
        taken += os.write(file, bytes([number % 251]) * 65536)
    if mode == "stop":
        print("written", flush=True)
        sys.stdin.readline()
    if mode == "kill":
        os.pread(file, 1, 0)  # what the daemon has not looked at cannot be read
        daemon = int(open(os.environ["FOREBAY_POOL_SOCKET"] + ".lock").read())
        os.kill(daemon, 9)
        while True:
            os.write(file, b"more")
    os.close(file)
except OSError as error:
    print(os.strerror(error.errno), file=sys.stderr)
    if mode == "kill":
        print("EIO" if error.errno == 5 else error.errno)
print(taken)
sys.exit(status)
"""


def content(blocks: int) -> bytes:
    return b"".join(bytes([number % 251]) * 65536 for number in range(blocks))


def writer(path: Path, blocks: int, *, status: int = 0, mode: str = "") -> list[str]:
    return [sys.executable, "-c", WRITER, str(path), str(blocks), str(status), mode]


def and_fills_the_disk(words: Sequence[str], mark: Path) -> list[str]:
    """The program, and then somebody past the pool takes what it was promised."""
    wait = f"touch {mark}; while test -e {mark}; do sleep 0.01; done"
    return ["sh", "-c", f'"$@"; s=$?; {wait}; exit $s', "sh", *words]


def run_json(folder: Path, *words: str | Path) -> tuple[int, str, Any]:
    """`forebay run` with these words: its status, what the program printed, the summary."""
    done = forebay("run", "--format", "json", "--summary", "summary.json", *words, cwd=folder)
    ensure((folder / "summary.json").exists(), done.stderr)
    return done.returncode, done.stdout, json.loads((folder / "summary.json").read_text())


def told_once(what: str, text: str) -> None:
    ensure(text.count(what) == 1, f"{what!r} is not told once in:\n{text}")


def test_a_program_without_mpi_goes_through_a_pool(folder: Path) -> None:
    done = forebay("run", "--pool", ".", "--", *writer(folder / "out", 64), cwd=folder)
    ensure(done.returncode == 0, done.stderr)
    ensure(done.stdout == f"{4 * MIB}\n", "the program's output is not its own")
    ensure((folder / "out").read_bytes() == content(64), "other bytes")
    told_once("through the pool: 4.00 MiB of 1 file", done.stderr)
    told_once(f"{folder / 'out'}", done.stderr)
    ensure("MPI" not in done.stderr, f"there is talk of MPI:\n{done.stderr}")
    ensure("Nothing" not in done.stderr, f"a complaint:\n{done.stderr}")


def test_the_summary_tells_programs_of_each_file(folder: Path) -> None:
    status, _, told = run_json(folder, *KEPT, "--pool", folder, "--", *writer(folder / "out", 32))
    ensure(status == told["status"] == 0, told)
    pool = told["pool"]
    ensure(pool["arrived"] and pool["death"] is None and pool["taken"] == 2 * MIB, pool)
    ensure(pool["paths"] == [str(folder.resolve())] and pool["high"] >= 2 * MIB, pool)
    ensure(pool["rescued"] == pool["lost"] == pool["messages"] == [], pool)
    (file,) = pool["files"]
    ensure(file["taken"] == file["drained"] == file["storage_bytes"] == 2 * MIB, file)
    ensure(file["high"] == 2 * MIB, file)
    ensure(file["storage_seconds"] > 0 and 0 <= file["hidden"] <= 1, file)
    ensure(0 < file["opening_seconds"] <= file["waited_seconds"], f"no wait for its open: {file}")
    ensure(pool["storage_seconds"] > 0 and pool["clients_high"] == 1, pool)
    ensure(told["nothing_recorded"] == told["warnings"] == [], told)


MANY = """
import os, sys
for number in range(120):
    with open(f"{sys.argv[1]}/small{number}", "wb") as file:
        file.write(bytes(2048))
with open(f"{sys.argv[1]}/synced", "wb", buffering=0) as file:
    for number in range(5):
        file.write(bytes(100))
        os.fsync(file.fileno())
with open(f"{sys.argv[1]}/dated", "wb", buffering=0) as file:
    file.write(bytes(100))
    os.utime(file.fileno(), (1, 1))
"""


def test_the_verdict_counts_opens_and_syncs(folder: Path) -> None:
    """Opens that were answered at once were not counted as waits at all, and files that were
    drained before their times were set as synced."""
    words = [sys.executable, "-c", MANY, str(folder)]
    status, _, told = run_json(folder, "--pool", folder, "--", *words)
    ensure(status == 0, told)
    verdict = told["pool"]["verdict"]
    ensure((verdict["files"], verdict["opens"], verdict["past"]) == (122, 122, 0), verdict)
    ensure(verdict["syncs"] == 5 and verdict["are_small"], verdict)
    (synced,) = (one for one in told["pool"]["files"] if one["path"].endswith("/synced"))
    ensure(0 < synced["syncing_seconds"] < synced["waited_seconds"], synced)
    (dated,) = (one for one in told["pool"]["files"] if one["path"].endswith("/dated"))
    ensure(0 < dated["draining_seconds"] < dated["waited_seconds"], dated)
    ensure(dated["syncs"] == 0, dated)
    ensure(all(one["opening_seconds"] > 0 for one in told["pool"]["files"]), "an open took nothing")


def test_the_summary_begins_with_a_verdict(folder: Path) -> None:
    done = forebay("run", "--pool", ".", "--", *writer(folder / "out", 64), cwd=folder)
    first, *rest = done.stderr.splitlines()
    ensure(first.startswith("── forebay: ") and " waited " in first, done.stderr)
    ensure(first.endswith(" s, status 0)"), done.stderr)
    ensure(not any("added up" in line for line in rest), "the columns are explained unasked")
    done = forebay("run", "-v", "--pool", ".", "--", *writer(folder / "out", 64), cwd=folder)
    told_once("added up", done.stderr)
    done = forebay("run", "--pool", ".", "--", "sh", "-c", "echo a >> past", cwd=folder)
    ensure("its only file went past it" in done.stderr.splitlines()[0], done.stderr)
    told_once("/past", done.stderr)


def test_folders_have_settings_of_their_own(folder: Path) -> None:
    for name in ("small", "past", "past/in", "else"):
        (folder / name).mkdir()
    (folder / "link").symlink_to("past")
    files = [folder / name / "out" for name in ("small", "past", "past/in", "else")]
    command = 'for file; do "$PYTHON" -c "$WRITER" "$file" 64 0 "" || exit; done'
    rules = "small window=1MiB, link past, past/in window=2MiB"
    settings = [*KEPT, "--set", f"pool_folders={rules}"]
    words = ["run", "--format", "json", "--summary", "summary.json", *settings, "--pool", ".", "--"]
    program = ["sh", "-c", command, "sh", *map(str, files)]
    own = {"PYTHON": sys.executable, "WRITER": WRITER}
    done = forebay(*words, *program, cwd=folder, more=own)
    ensure(done.returncode == 0, done.stderr)
    ensure(all(file.read_bytes() == content(64) for file in files), "other bytes")
    pool = json.loads((folder / "summary.json").read_text())["pool"]
    told = {Path(file["path"]): file for file in pool["files"]}
    small, past, inside, other = (told[file.resolve()] for file in files)
    ensure((small["window"], inside["window"]) == (MIB, 2 * MIB), f"{told}")
    ensure(0 < small["high"] <= MIB and 0 < inside["high"] <= 2 * MIB, f"{told}")
    ensure(other["high"] == 4 * MIB, f"{told}")
    ensure((past["high"], past["reason"]) == (0, "asked"), f"{told}")


def test_what_is_said_of_folders_has_to_make_sense(folder: Path) -> None:
    done = forebay("run", "--pool", ".", "--set", "pool_folders=. fast", "--", "true", cwd=folder)
    ensure(done.returncode != 0, "it ran")
    told_once('cannot use ". fast" of pool_folders', done.stderr)


def test_what_c_streams_write_is_not_said_to_go_past_the_pool(folder: Path) -> None:
    if m.PRELOAD_FIRST:
        pytest.skip("behind the capture, the sanitizer has a fopencookie of its own")
    command = [str(pooled.program("streams.c", "-pthread")), "read"]
    done = forebay("run", "--pool", ".", "--", *command, cwd=folder)
    ensure(done.returncode == 0, done.stderr)
    told_once("through the pool: ", done.stderr)
    told_once(f"{folder / 'lines'}", done.stderr)
    ensure("past the pool" not in done.stderr, done.stderr)


def test_what_goes_past_the_pool_is_told_with_the_reason(folder: Path) -> None:
    code = "import mmap; f = open('m', 'r+b'); mmap.mmap(f.fileno(), 0)[0:2] = b'xy'"
    (folder / "m").write_bytes(b"ab" * 5000)
    done = forebay("run", "--pool", ".", "--", sys.executable, "-c", code, cwd=folder)
    ensure(done.returncode == 0, done.stderr)
    ensure("mapped into memory" in done.stderr, done.stderr)
    ensure((folder / "m").read_bytes() == b"xy" + b"ab" * 4999, "other bytes")


def test_a_pool_that_nothing_came_into_says_why(folder: Path) -> None:
    (folder / "pool").mkdir()
    done = forebay("run", "--pool", "pool", "--", *writer(folder / "out", 1), cwd=folder)
    ensure(done.returncode == 0, done.stderr)
    told_once("Nothing went through the pool", done.stderr)
    told_once(f"{folder / 'out'} was written meanwhile", done.stderr)
    ensure("LD_PRELOAD" not in done.stderr, f"a cause that it was not:\n{done.stderr}")


def test_the_status_of_the_program_is_kept(folder: Path) -> None:
    status, _, told = run_json(folder, "--pool", ".", "--", *writer(folder / "out", 1, status=3))
    ensure(status == told["status"] == 3, f"{status} {told}")


def test_a_program_that_is_not_there_leaves_no_daemon(folder: Path) -> None:
    runtime = folder / "r"
    runtime.mkdir(0o700)
    done = forebay(
        "run", "--pool", ".", "--", "./none", cwd=folder, more={"XDG_RUNTIME_DIR": str(runtime)}
    )
    ensure(done.returncode == 127, done.stderr)
    ensure(not list(runtime.iterdir()), "its folder is still there")


@pytest.mark.parametrize("own", [0, 5])
def test_a_full_disk_has_a_status_and_rescue_finishes_the_work(own: int, folder: Path) -> None:
    mark = folder / "written"
    with mounted_tmpfs(folder / "small", "64m") as small, full_when_asked(small, mark):
        words = and_fills_the_disk(writer(small / "out", 128, status=own), mark)
        status, out, told = run_json(folder, *KEPT, "--pool", small, "--", *words)
        ensure(status == told["status"] == (own or 74), told)
        ensure(int(out.split()[-1]) == 8 * MIB, out)
        (kept,) = told["pool"]["rescued"]
        ensure(kept["path"] == str(small / "out") and kept["error_text"].startswith("No sp"), kept)
        ensure(Path(kept["file"]).is_relative_to(folder), "kept elsewhere")
        rescue = ("pool", "rescue", kept["file"])
        ensure(kept["command"] == ["forebay", *rescue], kept)
        still_full = forebay(*rescue, cwd=folder)
        ensure(still_full.returncode == 74, "it was written to a full disk")
        ensure("No space left" in still_full.stderr, still_full.stderr)
        subprocess.run(["mount", "-o", "remount,size=96m", small], check=True)
        dry = forebay(*rescue, "--dry-run", cwd=folder)
        ensure(dry.returncode == 0 and "would write" in dry.stdout, dry.stderr)
        done = forebay(*rescue, cwd=folder)
        ensure(done.returncode == 0, done.stderr)
        ensure((small / "out").read_bytes() == content(128), "other bytes")
        ensure(not list(folder.glob("forebay-rescue-*")), "the rescue folder is still there")


def test_rescued_bytes_do_not_go_over_what_was_written_since(folder: Path) -> None:
    mark = folder / "written"
    with mounted_tmpfs(folder / "small", "64m") as small, full_when_asked(small, mark):
        words = and_fills_the_disk(writer(small / "out", 128), mark)
        told = run_json(folder, *KEPT, "--pool", small, "--", *words)[2]
        file = told["pool"]["rescued"][0]["file"]
        subprocess.run(["mount", "-o", "remount,size=96m", small], check=True)
        with (small / "out").open("r+b") as out:
            out.write(b"newer")
        done = forebay("pool", "rescue", file, cwd=folder)
        ensure(done.returncode == 74 and "changed after" in done.stderr, done.stderr)
        (small / "out").unlink()
        done = forebay("pool", "rescue", file, cwd=folder)
        ensure(done.returncode == 74 and "not there any more" in done.stderr, done.stderr)
        ensure(not (small / "out").exists(), "it was made")
        done = forebay("pool", "rescue", "--force", file, cwd=folder)
        ensure(done.returncode == 0 and (small / "out").exists(), done.stderr)


@pytest.mark.parametrize("own", [0, 5])
def test_a_killed_daemon_is_named_with_what_it_took_along(own: int, folder: Path) -> None:
    words = writer(folder / "out", 16, status=own, mode="kill")
    status, out, told = run_json(folder, *KEPT, "--pool", ".", "--", *words)
    ensure(out.split()[0] == "EIO", f"the program met {out}")
    ensure(status == told["status"] == (own or 74), told)
    pool = told["pool"]
    ensure(not pool["arrived"] and "SIGKILL" in pool["death"], pool)
    (lost,) = pool["lost"]
    ensure(lost["path"] == str(folder / "out") and lost["bytes"] >= MIB, lost)


@contextlib.contextmanager
def started(
    folder: Path, *words: str | Path, more: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    """`forebay run` whose program has written, and waits for a line. Interrupts are heard, also
    where the tests run in the background."""
    process = subprocess.Popen(
        ["env", "--default-signal=INT", *FOREBAY, "run", *map(str, words)],
        cwd=folder,
        env=environment(**(more or {})),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        ensure(line_of(process.stdout) == "written\n", "the program has not written")
        yield process
    finally:
        m.end_group(process)


def line_of(stream: IO[str] | None) -> str:
    return stream.readline() if stream else ""


def test_two_runs_at_once_have_pools_of_their_own(folder: Path) -> None:
    def words(name: str) -> list[str | Path]:
        return [*KEPT, "--pool", ".", "--", *writer(folder / name, 48, mode="stop")]

    with started(folder, *words("one")) as one, started(folder, *words("other")) as other:
        for process in (one, other):
            _, told = process.communicate("\n", timeout=180)
            ensure(process.returncode == 0, told)
            ensure("through the pool: 3.00 MiB of 1 file" in told, told)
    for name in ("one", "other"):
        ensure((folder / name).read_bytes() == content(48), "other bytes")


def test_the_pool_is_drained_when_a_signal_ends_the_program(folder: Path) -> None:
    words = [*KEPT, "--pool", ".", "--", *writer(folder / "out", 48, mode="stop")]
    with started(folder, *words) as process:
        process.send_signal(signal.SIGTERM)
        process.wait(60)  # communicate() closes the input, at whose end the program ends by itself
        _, told = process.communicate(timeout=180)
    ensure(process.returncode == 128 + signal.SIGTERM, f"{process.returncode} {told}")
    ensure("through the pool: 3.00 MiB" in told, told)
    ensure((folder / "out").read_bytes() == content(48), "other bytes")


def test_the_terminals_interrupt_does_not_end_the_daemon_before_it_has_drained(
    folder: Path,
) -> None:
    """The whole process group is told, as by Ctrl-C."""
    words = [*KEPT, "--pool", ".", "--", *writer(folder / "out", 48, mode="stop")]
    with started(folder, *words) as process:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(60)
    ensure(process.returncode != 0, "the program was not interrupted")
    ensure((folder / "out").read_bytes() == content(48), "other bytes")


def test_bytes_arrive_although_forebay_run_is_killed(folder: Path) -> None:
    words = [*KEPT, "--pool", ".", "--", *writer(folder / "out", 48, mode="stop")]
    with started(folder, *words) as process:
        process.kill()
        process.wait(60)
        arrived = until(lambda: (folder / "out").read_bytes() == content(48), 180)
        ensure(arrived, "the daemon has not drained")


def test_a_drain_that_is_interrupted_twice_keeps_the_rest(folder: Path) -> None:
    with served_file_system(folder, "slow_fs.c", "0", "1000000000") as (mount, server):
        words = writer(mount / "out", 48, mode="stop")
        with started(folder, *KEPT, "--pool", mount, "--", *words) as process:
            ensure(process.stdin is not None and process.stderr is not None, "no pipes")
            assert process.stdin is not None
            server.send_signal(signal.SIGSTOP)
            try:
                process.stdin.write("\n")
                process.stdin.flush()
                ensure(line_of(process.stdout) == f"{3 * MIB}\n", "not all was taken")
                ensure("draining the pool" in line_of(process.stderr), "nothing is said")
                process.send_signal(signal.SIGINT)
                ensure("Once more" in line_of(process.stderr), "nothing is said of a second one")
                process.send_signal(signal.SIGINT)
                kept = until(lambda: any(folder.glob("forebay-rescue-*/*")), 180)
                ensure(kept, "nothing was kept")
            finally:
                server.send_signal(signal.SIGCONT)
            _, told = process.communicate(timeout=180)
        ensure(process.returncode == 74, f"{process.returncode} {told}")
        ensure("DID NOT ARRIVE: 3.00 MiB" in told, told)


SCRIPT = """
set -e
eval "$($FOREBAY pool start --socket "$SOCKET" --set pool_quiet=60000 pool)"
"$PYTHON" -c "$WRITER" pool/one 32 0 ''
"$PYTHON" -c "$WRITER" pool/two 16 0 ''
$FOREBAY pool status --format json > before.json
$FOREBAY pool status > before.txt
$FOREBAY pool drain
$FOREBAY pool status --format json > after.json
cp pool/one copy
$FOREBAY pool stop
"""


def by_hand(folder: Path) -> dict[str, str]:
    """The environment of a script that has a pool of its own."""
    socket = folder / "s" / "socket"
    if len(str(socket)) > 90:
        socket = Path("/tmp") / f"forebay-{os.getpid()}-{abs(hash(str(folder)))}" / "socket"
    (folder / "pool").mkdir()
    return environment(
        FOREBAY=" ".join(FOREBAY), SOCKET=str(socket), PYTHON=sys.executable, WRITER=WRITER
    )


def test_a_script_has_a_pool_over_several_steps(folder: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", SCRIPT], cwd=folder, env=by_hand(folder), capture_output=True, text=True,
        timeout=100, check=False,
    )  # fmt: skip
    ensure(done.returncode == 0, done.stderr)
    before, after = (
        json.loads((folder / f"{name}.json").read_text()) for name in ("before", "after")
    )
    taken = {Path(file["path"]).name: file["taken"] for file in before["files"]}
    ensure(taken == {"one": 2 * MIB, "two": MIB}, before)
    ensure(sum(file["outstanding"] for file in after["files"]) == 0, after)
    ensure("/pool/one" in (folder / "before.txt").read_text(), "the table has no file")
    for name, blocks in (("pool/one", 32), ("pool/two", 16), ("copy", 32)):
        ensure((folder / name).read_bytes() == content(blocks), f"other bytes in {name}")
    ensure("drained" in done.stdout, done.stdout)


def test_one_place_has_one_daemon_and_a_dead_ones_socket_is_replaced(folder: Path) -> None:
    here = by_hand(folder)
    socket = Path(here["SOCKET"])
    words = ("pool", "start", "--format", "json", "--socket", socket, "pool")

    first = forebay(*words, cwd=folder)
    ensure(first.returncode == 0, first.stderr)
    process = json.loads(first.stdout)["process"]
    second = forebay(*words, cwd=folder)
    ensure(second.returncode == 1 and f"process {process}" in second.stderr, second.stderr)
    os.kill(process, signal.SIGKILL)
    try:
        ensure(until(lambda: forebay(*words, cwd=folder).returncode == 0, 180), "not replaced")
    finally:
        done = forebay("pool", "stop", "--socket", socket, cwd=folder)
    ensure(done.returncode == 0, done.stderr)
    gone = forebay("pool", "status", "--socket", socket, cwd=folder)
    ensure(gone.returncode == 1 and "forebay pool start" in gone.stderr, gone.stderr)


def test_stopping_a_pool_by_hand_says_what_did_not_arrive(folder: Path) -> None:
    here = by_hand(folder)
    socket = here["SOCKET"]
    mark = folder / "written"
    with mounted_tmpfs(folder / "small", "64m") as small, full_when_asked(small, mark):
        start = ("pool", "start", "--format", "json", "--socket", socket)
        done = forebay(*start, "--set", "pool_quiet=60000", small, cwd=folder)
        ensure(done.returncode == 0, done.stderr)
        more = json.loads(done.stdout)["variables"]
        try:
            words = and_fills_the_disk(writer(small / "out", 64), mark)
            subprocess.run(words, env=environment(**more), check=True, capture_output=True)
            drained = forebay("pool", "drain", cwd=folder, more=more)
        finally:
            stopped = forebay("pool", "stop", "--socket", socket, cwd=folder)
        ensure(drained.returncode == 74 and "NOT DRAINED" in drained.stdout, drained.stdout)
        ensure(stopped.returncode == 74, stopped.stdout)
        ensure("forebay pool rescue" in stopped.stderr, stopped.stderr)


PAUSING = """
import sys, time
with open(sys.argv[1], "wb", buffering=0) as file:
    for number in range(8):
        file.write(bytes(1 << 20))
        time.sleep(0.2)
"""


def test_a_record_has_the_course_of_the_run_and_a_report_draws_it(folder: Path) -> None:
    words = [sys.executable, "-c", PAUSING, str(folder / "out")]
    done = forebay("run", "--record", "run.jsonl", "--pool", ".", "--", *words, cwd=folder)
    ensure(done.returncode == 0, done.stderr)
    told_once("what is in it: forebay report run.jsonl", done.stderr.replace(f"{folder}/", ""))
    line = json.loads((folder / "run.jsonl").read_text().splitlines()[-1])
    samples = line["pool"]["samples"]
    ensure(len(samples) >= 4, samples)
    moments = [one["seconds"] for one in samples]
    ensure(moments == sorted(moments) and moments[-1] > line["seconds"] - 0.1, line)
    first, last = samples[0], samples[-1]
    ensure(set(first.values()) == {0}, "the course does not begin with the program")
    ensure(last["taken"] == last["stored"] == 8 * MIB and last["outstanding"] == 0, last)
    for name in ("taken", "stored", "waited_seconds"):
        course = [one[name] for one in samples]
        ensure(course == sorted(course), f"{name} falls: {course}")
    report = forebay("report", "run.jsonl", cwd=folder)
    ensure(report.returncode == 0 and "the program's end" in report.stdout, report.stdout)
