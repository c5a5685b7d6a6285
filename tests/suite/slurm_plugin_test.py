"""The plugin of Slurm (docs/slurm-plugin.md), on the Slurm of two nodes that tests/slurm.sh brought
up: `srun --forebay` and `--forebay-record`."""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from suite import mpi as m
from suite.file_systems import until
from suite.verdict import ensure

VARIABLE = "FOREBAY_SLURM"
SITE = Path(os.environ.get(VARIABLE, "/nowhere/slurm.conf")).parent
PLUGSTACK = SITE / "plugstack.conf"
COMMAND = SITE / "forebay"
HAS_PLUGIN = PLUGSTACK.exists() and "spank_forebay.so" in PLUGSTACK.read_text()
pytestmark = [
    pytest.mark.slurm,
    pytest.mark.skipif(not HAS_PLUGIN, reason=f"no {VARIABLE} with a plugin (libslurm-dev)"),
]
PYTHON = "/usr/bin/python3"
MIB = 1 << 20
SECONDS_MAX = 200
ONE = ("-N", "1", "--quiet")
# Nothing is drained before the end of the step.
KEPT = {"FOREBAY_POOL_QUIET": "60000", "FOREBAY_POOL_AGE": "3600"}

WRITER = """
import os
rank = int(os.environ["SLURM_PROCID"])
with open(f"out-{rank}", "wb", buffering=0) as file:
    for block in range(64):
        file.write(bytes([rank + block]) * 65_537)
print(os.environ.get("FOREBAY_POOL_SOCKET", "no pool"), flush=True)
"""


def written(rank: int) -> bytes:
    return b"".join(bytes([rank + block]) * 65_537 for block in range(64))


class SlurmSteps:
    """Steps of jobs, in a folder and by a user (root if None)."""

    def __init__(self, folder: Path, user: str | None = None) -> None:
        self.folder = folder
        self.user = user
        self.environment = {**m.clean_environment(), "SLURM_CONF": os.environ[VARIABLE]}
        if user is not None:
            facts = pwd.getpwnam(user)
            os.chown(folder, facts.pw_uid, facts.pw_gid)

    def start(self, *words: object, more: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        prefix = [] if self.user is None else ["runuser", "-u", self.user, "--"]
        return subprocess.Popen(
            [*prefix, *map(str, words)],
            cwd=self.folder,
            env={**self.environment, **(more or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(
        self, *words: object, status: int | None = 0, more: Mapping[str, str] | None = None
    ) -> tuple[str, str]:
        """Standard output and standard error; `more` are variables."""
        process = self.start(*words, more=more)
        out, errors = process.communicate(timeout=SECONDS_MAX)
        ensure(status in (None, process.returncode), f"{process.returncode}: {out}\n{errors}")
        return out, errors

    def program(self, text: str, name: str = "program.py") -> Path:
        path = self.folder / name
        path.write_text(text)
        return path


def processes_with(text: str) -> list[str]:
    """The command lines that contain the text, on all nodes: they are processes of this machine."""
    found = []
    for one in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            line = one.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if text in line:
                found.append(line)
    return found


def all_gone(socket: str) -> None:
    ensure(until(lambda: not processes_with(socket), 60), f"{processes_with(socket)}")


def taken(record: Path) -> int:
    """Bytes that the pool took, by the record."""
    runs = [json.loads(line) for line in record.read_text().splitlines()]
    (run,) = [one for one in runs if one["kind"] == "run"]
    return int(run["pool"]["taken"])


def test_the_options_are_in_the_help_of_srun_sbatch_and_salloc(folder: Path) -> None:
    for command in ("srun", "sbatch", "salloc"):
        out, _ = SlurmSteps(folder).run(command, "--help")
        ensure("--forebay=pool:PATH" in out and "--forebay-record=FILE" in out, out[-1500:])


def test_tasks_write_through_a_pool_that_is_gone_after_them(folder: Path) -> None:
    steps, record = SlurmSteps(folder), folder / "record.jsonl"
    program = steps.program(WRITER)
    options = ("--forebay=pool:.", f"--forebay-record={record}")
    out, errors = steps.run("srun", *ONE, "-n2", *options, PYTHON, program)
    for rank in (0, 1):
        ensure((folder / f"out-{rank}").read_bytes() == written(rank), f"rank {rank}: {errors}")
    ensure(taken(record) == 2 * len(written(0)), record.read_text())
    ensure("through the pool: 8.00 MiB of 2 files" in errors, errors)
    socket = out.split()[0]
    ensure(set(out.split()) == {socket} and socket.startswith("/"), out)
    all_gone(socket)


def test_without_the_options_nothing_is_different(folder: Path) -> None:
    steps = SlurmSteps(folder)
    for options in ((), ("--forebay=off",)):
        out, errors = steps.run("srun", *ONE, *options, "env")
        ensure("FOREBAY" not in out and "LD_PRELOAD" not in out and errors == "", out + errors)


# Tells about the daemon: whose it is, and which of the system's rights it has.
TELLER = """
import os
process = os.environ["FOREBAY_POOL_DAEMON"].partition(":")[0]
for line in open(f"/proc/{process}/status"):
    if line.startswith(("Uid:", "Gid:", "Groups:", "CapEff:")):
        print(line.strip())
print("oom:", open(f"/proc/{process}/oom_score_adj").read().strip())
print(open(f"/proc/{process}/cgroup").read())
open("out", "w").write("x" * 100_000)
"""


def test_the_daemon_and_all_files_are_the_users(folder: Path) -> None:
    steps = SlurmSteps(folder, user="games")
    program = steps.program(TELLER)
    out, errors = steps.run("srun", *ONE, "--forebay=pool:.", PYTHON, program)
    facts, number = pwd.getpwnam("games"), 4
    ids = {line.split(":")[0]: line.split()[1:] for line in out.splitlines() if ":\t" in line}
    ensure(ids["Uid"] == [str(facts.pw_uid)] * number, out)
    ensure(ids["Gid"] == [str(facts.pw_gid)] * number, out)
    ensure(set(ids["Groups"]) <= {str(facts.pw_gid)}, out)
    ensure(int(ids["CapEff"][0], 16) == 0 and "oom: 0" in out, out)
    ensure("through the pool: 97.7 KiB of 1 file" in errors, errors)
    others = [one.name for one in folder.iterdir() if one.stat().st_uid != facts.pw_uid]
    ensure(others == [program.name], f"{others}")


def test_a_step_of_two_nodes_is_refused_before_it_begins(folder: Path) -> None:
    steps = SlurmSteps(folder)
    words = ("srun", "-N2", "-n2", "--quiet", "--forebay=pool:.", "touch", folder / "run", "a b")
    _, errors = steps.run(*words, status=1)
    ensure("no pool for a step of 2 nodes" in errors, errors)
    line = f"forebay run --pool . -- srun -N2 -n2 --quiet touch {folder / 'run'} 'a b'"
    ensure(line in errors, f"no line to paste: {line}\n{errors}")
    ensure(not (folder / "run").exists(), "it was run")


@pytest.mark.parametrize(
    ("value", "told"),
    [("/scratch", "--forebay=pool:/scratch/me"), ("pool:nowhere", "no such folder or file")],
)
def test_a_wrong_value_is_answered(value: str, told: str, folder: Path) -> None:
    words = ("srun", *ONE, f"--forebay={value}", "touch", folder / "run")
    _, errors = SlurmSteps(folder).run(*words, status=None)
    ensure(told in errors and not (folder / "run").exists(), errors)


@contextlib.contextmanager
def site_without_command(how: str) -> Iterator[None]:
    """The plugin as `required` or `optional`, where Forebay is not installed."""
    before, aside = PLUGSTACK.read_text(), COMMAND.with_name("forebay.aside")
    COMMAND.rename(aside)
    PLUGSTACK.write_text(re.sub("^required", how, before))
    try:
        yield
    finally:
        PLUGSTACK.write_text(before)
        aside.rename(COMMAND)


@pytest.mark.parametrize("how", ["required", "optional"])
def test_a_node_without_forebay_says_so_where_the_option_was_given(how: str, folder: Path) -> None:
    steps = SlurmSteps(folder)
    with site_without_command(how):
        out, errors = steps.run("srun", *ONE, "echo", "ran")
        ensure((out, errors) == ("ran\n", ""), out + errors)
        out, errors = steps.run("srun", *ONE, "--forebay=pool:.", "echo", "ran", status=None)
    ensure("no pool on fb" in errors and "cannot be run: No such file" in errors, errors)
    ensure(out == ("ran\n" if how == "optional" else ""), out)


def test_a_program_that_cannot_be_captured_goes_past_the_pool(folder: Path) -> None:
    source = folder / "static.c"
    source.write_text(
        "#include <fcntl.h>\n#include <unistd.h>\nint main(void) { int f = open"
        '("out", O_CREAT | O_WRONLY, 0644); return write(f, "hello", 5) != 5; }\n'
    )
    subprocess.run(["cc", "-static", "-o", folder / "static", source], check=True)
    _, errors = SlurmSteps(folder).run("srun", *ONE, "--forebay=pool:.", "./static")
    ensure("./static does not go through the pool (it is statically linked)" in errors, errors)
    ensure((folder / "out").read_bytes() == b"hello", errors)


# Fills the disk by a file that does not go through the pool, and ends. The daemon is stopped
# meanwhile: it sees the room become less, and would drain what it has.
FILLER = """
import os, signal
file = os.open("disk/in/out", os.O_CREAT | os.O_RDWR)
os.write(file, b"x" * 3_000_000)
os.pread(file, 1, 0)
other = os.open("disk/other", os.O_CREAT | os.O_WRONLY)
daemon = int(os.environ["FOREBAY_POOL_DAEMON"].partition(":")[0])
os.kill(daemon, signal.SIGSTOP)
room = os.statvfs("disk")
os.posix_fallocate(other, 0, room.f_bavail * room.f_bsize)
os.kill(daemon, signal.SIGCONT)
os._exit(0)
"""


def test_what_does_not_arrive_is_named_and_kept(folder: Path) -> None:
    steps, disk = SlurmSteps(folder), folder / "disk"
    disk.mkdir()
    node = (*ONE, "-w", "fb1")
    program = steps.program(FILLER)
    steps.run("srun", *node, "mount", "-t", "tmpfs", "-o", "size=256m", "none", disk)
    try:
        steps.run("srun", *node, "mkdir", disk / "in")
        more = {**KEPT, "FOREBAY_POOL_CAP": "64MiB", "FOREBAY_POOL_RESCUE": str(folder)}
        words = ("srun", *node, "--forebay=pool:disk/in", PYTHON, program)
        _, errors = steps.run(*words, status=0, more=more)
    finally:
        steps.run("srun", *node, "umount", "-l", disk)
    told = f"DID NOT ARRIVE: 2.86 MiB of {disk / 'in' / 'out'} (No space left on device)."
    ensure(told in errors and "forebay pool rescue" in errors, errors)
    (log,) = folder.glob("forebay-*-fb1.log")
    ensure(told in log.read_text() and str(log) in errors, log.read_text() + errors)
    ensure(len([*folder.glob("forebay-rescue-*/*")]) == 1, "nothing was rescued")


def test_what_a_dead_daemon_took_along_is_named_and_kept(folder: Path) -> None:
    steps = SlurmSteps(folder)
    program = steps.program(
        "import os\n"
        "file = os.open('out', os.O_CREAT | os.O_RDWR)\n"
        "os.write(file, b'x' * 3_000_000)\n"
        "os.pread(file, 1, 0)\n"
        "os.kill(int(os.environ['FOREBAY_POOL_DAEMON'].partition(':')[0]), 9)\n"
    )
    _, errors = steps.run("srun", *ONE, "--forebay=pool:.", PYTHON, program, more=KEPT)
    (log,) = folder.glob("forebay-*.log")
    for text in (errors, log.read_text()):
        ensure("2.86 MiB" in text and str(folder / "out") in text, text)


# Writes, says so, and waits for the end.
HOLDER = f"""
import os, signal, sys, time
if "deaf" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
file = os.open("big", os.O_CREAT | os.O_RDWR)
os.write(file, b"x" * {2 * MIB})
os.pread(file, 1, 0)  # the daemon has seen what was written
print(os.environ["FOREBAY_POOL_SOCKET"], flush=True)
time.sleep(600)
"""


@contextlib.contextmanager
def held_step(steps: SlurmSteps, *words: str) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """A step whose program has written and waits: srun, the job's number, and the socket."""
    program = steps.program(HOLDER)
    (steps.folder / "big").unlink(missing_ok=True)
    options = ("srun", "-N1", "--forebay=pool:.", PYTHON, program, *words)
    process = steps.start(*options, more=KEPT)
    try:
        assert process.stdout
        socket = process.stdout.readline().strip()
        ensure(socket.startswith("/"), socket)
        ensure((steps.folder / "big").stat().st_size == 0, "it was drained before")
        jobs, _ = steps.run("squeue", "-h", "-t", "RUNNING", "-o", "%i")
        yield process, jobs.split()[-1], socket
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("deaf", [False, True])
def test_a_cancelled_step_has_what_it_wrote(deaf: bool, folder: Path) -> None:
    """Also where the program does not hear SIGTERM: the pool does."""
    steps = SlurmSteps(folder)
    with held_step(steps, *(["deaf"] if deaf else [])) as (srun, job, socket):
        steps.run("scancel", job)
        said, _ = srun.communicate(timeout=SECONDS_MAX)
    found = (folder / "big").read_bytes()
    ensure(found == b"x" * 2 * MIB, f"bytes are missing: {len(found)} are there\n{said}")
    all_gone(socket)


def test_a_killed_step_names_what_is_lost_in_a_log_of_the_users(folder: Path) -> None:
    steps = SlurmSteps(folder, user="games")
    with held_step(steps) as (srun, job, socket):
        steps.run("scancel", "--signal=KILL", f"{job}.0")
        srun.communicate(timeout=SECONDS_MAX)
        ensure(until(lambda: bool([*folder.glob("forebay-*.log")]), 60), "no log")
    (log,) = folder.glob("forebay-*.log")
    ensure(re.fullmatch(rf"forebay-{job}\.0-fb[12]\.log", log.name) is not None, log.name)
    text = log.read_text()
    ensure(f"LOST: {2 * MIB} bytes of {folder / 'big'}" in text, text)
    ensure(log.stat().st_uid == pwd.getpwnam("games").pw_uid, "it is another user's")
    all_gone(socket)


def test_the_option_of_a_batch_script_is_for_its_steps(folder: Path) -> None:
    steps = SlurmSteps(folder)
    program, out = steps.program(WRITER), folder / "out"
    script = steps.program(
        "#!/bin/sh\n"
        "echo batch ${FOREBAY_POOL_SOCKET:-no pool} $LD_PRELOAD\n"
        f"srun --quiet -n2 {PYTHON} {program}\n"
        "cmp -s out-0 out-1 || echo different\n"
        f"srun --quiet -n1 --forebay=off {PYTHON} {program}\necho job ends\n",
        "job.sh",
    )
    words = ("sbatch", "-N1", "-n2", "-o", out, "--forebay=pool:.", script)
    steps.run(*words)
    ensure(until(lambda: out.exists() and "job ends" in out.read_text(), SECONDS_MAX), "no end")
    text = out.read_text()
    ensure("batch no pool\n" in text and text.count("no pool\n") == 2, text)
    ensure(text.count("through the pool: 8.00 MiB of 2 files") == 1, text)


def test_a_pool_around_the_step_is_used_as_it_is(folder: Path) -> None:
    """`forebay run --pool` in a batch script that was given the option, on two nodes."""
    steps = SlurmSteps(folder)
    program, out = steps.program(WRITER), folder / "out"
    script = steps.program(
        f"#!/bin/sh\n{COMMAND} run --pool . -- srun --quiet -n2 {PYTHON} {program}\n"
        "echo job ends\n",
        "job.sh",
    )
    words = ("-N2", "-n2", "--ntasks-per-node=1", "-o", out, "--forebay=pool:.", script)
    steps.run("sbatch", *words)
    ensure(until(lambda: out.exists() and "job ends" in out.read_text(), SECONDS_MAX), "no end")
    text = out.read_text()
    ensure("through the pool: 8.00 MiB of 2 files" in text and "no pool" not in text, text)
    for rank in (0, 1):
        ensure((folder / f"out-{rank}").read_bytes() == written(rank), text)


def tracking() -> str:
    """How this Slurm finds the processes of a step."""
    return Path(os.environ[VARIABLE]).read_text()


def test_the_daemon_is_in_the_control_groups_of_its_step(folder: Path) -> None:
    conf = tracking()
    if "proctrack/cgroup" not in conf:
        pytest.skip("this Slurm tracks processes by /proc")
    steps = SlurmSteps(folder)
    program = steps.program(TELLER)
    limit = ("--mem=200",) if "task/cgroup" in conf else ()
    out, errors = steps.run("srun", *ONE, *limit, "--forebay=pool:.", PYTHON, program)
    groups = {line.split(":")[1]: line.split(":")[2] for line in out.splitlines() if ":/" in line}
    ensure("/step_0" in groups["freezer"], out)
    if limit:
        ensure("/step_0" in groups["memory"], out)
        ensure("of 50.0 MiB" in errors, errors)  # a quarter of the job's memory
