"""Scripts of `forebay job-script`, run by bash with a `forebay` that notes what it is told."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forebay.common.model.errors import ForebayError, SettingsError, UsageError
from forebay.job_script.model import BatchJob, BatchSystem
from forebay.job_script.report import script_text
from forebay.job_script.use_case import PlannedJob, ScriptRequest, plan_job
from forebay.machine_ports import World
from forebay.settings.model.given import overrides_of

ROOT = Path(__file__).resolve().parents[2]
MakeWorld = Callable[..., World]
SLURM, PBS, LSF = BatchSystem.SLURM, BatchSystem.PBS, BatchSystem.LSF
EVERY_SYSTEM = pytest.mark.parametrize("system", list(BatchSystem), ids=lambda one: one.value)
WORDS = (
    "two words", "", "it's", '"quoted"', "line\nbreak", "$HOME", "`id`", "back\\slash", "*", "~",
    "-n", "--", "tab\tescape\x1b[0m", "ümlaut", "\udcff", "a=b", "!event", "#no", "{task}",
)  # fmt: skip
JOB_VARIABLES = {
    SLURM: {"SLURM_ARRAY_TASK_ID": "7"},
    PBS: {"PBS_ARRAY_INDEX": "7"},
    LSF: {"LSB_JOBINDEX": "7"},
}

# Notes its words and what it finds in its environment; `run` starts the program, and `pool start`
# a process that stands for the daemon: at SIGUSR1, it notes that.
DAEMON = """#!/bin/bash
trap 'echo "[[\\"close down\\"], null]" >> "$NOTES"' USR1
: > "$1/ready"
until [[ -e $1/stopped ]]; do sleep 0.01; done
: > "$1/ended"
"""
FOREBAY = f"""#!{sys.executable}
import json, os, pathlib, subprocess, sys, time
words = sys.argv[1:]
if words[:2] == ["pool", "stop"]:
    socket = pathlib.Path(words[words.index("--socket") + 1])
    socket.with_name("stopped").touch()
    while not socket.with_name("ended").exists():
        time.sleep(0.01)
noted = [os.fsencode(word).decode("latin-1") for word in words]
with open(os.environ["NOTES"], "a") as notes:
    notes.write(json.dumps([noted, os.environ.get("FOREBAY_POOL_SOCKET")]) + "\\n")
if words[0] == "run":
    program = words[words.index("--") + 1 :]
    os.execvp(program[0], program)
if words[1] == "start":
    socket = pathlib.Path(words[words.index("--socket") + 1])
    if "START" in os.environ:
        sys.exit(int(os.environ["START"]))
    socket.touch()
    socket.with_name("socket.log").write_text("the last words\\n")
    null = subprocess.DEVNULL
    daemon = subprocess.Popen(
        ["daemon", socket.parent], stdin=null, stdout=null, stderr=null, start_new_session=True
    )
    while not socket.with_name("ready").exists():
        time.sleep(0.01)
    print(f"# forebayd, process {{daemon.pid}}: /a: b, process 1: c")
    print(f"export FOREBAY_POOL_SOCKET={{socket}}")
else:
    sys.exit(int(os.environ.get("STOP", "0")))
"""
# Notes its words, too, and ends with the number in its first one, if any.
PROGRAM = f"""#!{sys.executable}
import json, os, sys
noted = [os.fsencode(word).decode("latin-1") for word in sys.argv[1:]]
with open(os.environ["NOTES"], "a") as notes:
    notes.write(json.dumps([["program", *noted], os.environ.get("FOREBAY_POOL_SOCKET")]) + "\\n")
sys.exit(int(sys.argv[1].removeprefix("exit-")) if sys.argv[1:2] and "exit-" in sys.argv[1] else 0)
"""
# Says that it runs; at the signal it writes a line, and ends with 5.
HANDLER = """#!/bin/bash
trap 'echo caught; exit 5' {signal}
: > running
while ((SECONDS < 100)); do sleep 0.01; done
"""


class Place:
    """A folder with the fake `forebay`, in which scripts are run as a batch system runs them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bin").mkdir()
        self.program("bin/forebay", FOREBAY)
        self.program("program", PROGRAM)
        self.program("bin/daemon", DAEMON)
        self.program("bin/mpiexec", '#!/bin/bash\nshift 2\nexec "$@"\n')

    def program(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o755)

    def start(self, script: str, **variables: str) -> subprocess.Popen[str]:
        (self.folder / "job.sh").write_text(script)
        # A test run in the background of a shell ignores SIGINT, and bash cannot trap it then.
        return subprocess.Popen(
            ["env", "--default-signal=INT", "bash", "job.sh"],
            cwd=self.folder,
            env={
                "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
                "NOTES": str(self.folder / "notes"),
                "PBS_O_WORKDIR": str(self.folder),
                **variables,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, script: str, **variables: str) -> tuple[int, str]:
        """The status, and what was said."""
        process = self.start(script, **variables)
        said, _ = process.communicate(timeout=180)
        return process.returncode, said

    @property
    def notes(self) -> list[list[str]]:
        """The words of each `forebay` and program that ran."""
        return [words for words, _ in self._noted()]

    @property
    def sockets(self) -> list[str | None]:
        """The pool that each of them was in."""
        return [socket for _, socket in self._noted()]

    def _noted(self) -> list[tuple[list[str], str | None]]:
        lines = (self.folder / "notes").read_text().splitlines()
        found = [json.loads(line) for line in lines]
        return [
            ([os.fsdecode(word.encode("latin-1")) for word in words], socket)
            for words, socket in found
        ]

    def until(self, name: str) -> None:
        deadline = time.monotonic() + 60
        while not (self.folder / name).exists():
            assert time.monotonic() < deadline, name
            time.sleep(0.01)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def job(**changes: Any) -> BatchJob:
    usual: dict[str, Any] = {"system": SLURM, "name": "job", "steps": (("./program",),)}
    return BatchJob(**{**usual, "pool": (".",), **changes})


def steps(*lines: Sequence[str], **changes: Any) -> BatchJob:
    return job(steps=tuple(tuple(words) for words in lines), **changes)


def asked(**changes: Any) -> ScriptRequest:
    return ScriptRequest(**{"systems": (SLURM,), "command": ("./program",), **changes})


# --- what reaches the programs


@EVERY_SYSTEM
@pytest.mark.parametrize("count", [1, 2])
def test_words_reach_the_program_as_they_are(place: Place, system: BatchSystem, count: int) -> None:
    line = ("./program", *WORDS)
    status, said = place.run(script_text(steps(*[line] * count, system=system)))
    assert status == 0, said
    assert [words for words in place.notes if words[0] == "program"] == [
        ["program", *WORDS]
    ] * count


@EVERY_SYSTEM
@pytest.mark.parametrize("count", [1, 2])
def test_an_array_has_the_number_of_its_task(place: Place, system: BatchSystem, count: int) -> None:
    line = ("./program", "in put-{task}.nml", "{task}{task}", "'{task}'", "{ta")
    one = steps(*[line] * count, system=system, array="1-9", pool=("out put/{task}",))
    script = script_text(replace(one, settings=("pool_journal=/local/j-{task}",)))
    status, said = place.run(script, **JOB_VARIABLES[system])
    assert status == 0, said
    assert place.notes[-1 if count == 1 else -2] == [
        "program", "in put-7.nml", "77", "'7'", "{ta"
    ]  # fmt: skip
    assert "out put/7" in place.notes[0]
    assert "pool_journal=/local/j-7" in place.notes[0]
    assert (place.folder / "out put" / "7").is_dir()
    status, said = place.run(script)
    assert status != 0, "it ran without a number"
    assert "unbound variable" in said


def test_pools_and_settings_reach_forebay_as_they_are(place: Place) -> None:
    for count in (1, 2):
        one = steps(*[["./program"]] * count, pool=(".", "a b"), settings=("pool_window=1 GiB",))
        assert place.run(script_text(one))[0] == 0
    first, start = place.notes[0], place.notes[2]
    settings = ["--set", "pool_window=1 GiB", "--"]
    assert first == ["run", "--pool", ".", "--pool", "a b", *settings, "./program"]
    assert start[:2] == ["pool", "start"]
    assert start[-5:] == ["--set", "pool_window=1 GiB", "--", ".", "a b"]


@EVERY_SYSTEM
def test_the_record_reaches_steps_and_the_end_of_their_pool(
    place: Place, system: BatchSystem
) -> None:
    """A single step, and each one on several nodes, has its own `forebay run` that appends to it;
    a daemon of all steps appends when it is stopped."""
    for one in (job(), steps(["./program"], ["./program"], nodes=2)):
        kept = replace(one, record="my run.jsonl", system=system)
        assert place.run(script_text(kept))[0] == 0
    runs = [words for words in place.notes if words[0] == "run"]
    assert len(runs) == 3
    assert all(words[words.index("--record") + 1] == "my run.jsonl" for words in runs)
    together = steps(["sh", "-c", 'echo "$FOREBAY_RECORD"'], ["./program"], system=system)
    status, said = place.run(script_text(replace(together, record="my run.jsonl")))
    record = str(place.folder / "my run.jsonl")
    assert (status, said.splitlines()[0]) == (0, record)
    (stop,) = [words for words in place.notes if words[:2] == ["pool", "stop"]]
    assert stop[-2:] == ["--record", record]


def test_a_launcher_is_there_once(make_world: MakeWorld) -> None:
    def line(*command: str, **changes: Any) -> str:
        return " ".join(plan_job(asked(command=command, **changes), make_world()).job.steps[0])

    assert line("./a", "1") == "./a 1"
    assert line("./a", "1", tasks=4) == "srun ./a 1"
    assert line("./a", nodes=2, tasks=4, systems=(PBS,)) == "mpiexec -n 8 ./a"
    assert line("srun", "-n", "3", "./a", tasks=4) == "srun -n 3 ./a"
    assert line("env", "A=1", "mpirun", "./a", tasks=4) == "env A=1 mpirun ./a"
    assert line("bash", "steps.sh", tasks=4) == "bash steps.sh"


# --- what the batch system is asked for


def directives(script: str) -> list[str]:
    return [line for line in script.splitlines() if re.match(r"#(SBATCH|PBS|BSUB) ", line)]


def test_directives(make_world: MakeWorld) -> None:
    def told(system: BatchSystem, **changes: Any) -> str:
        request = asked(systems=(system,), nodes=2, tasks=4, time="12:30:01", **changes)
        return "\n".join(directives(script_text(plan_job(request, make_world()).job)))

    assert told(SLURM, signal="USR1@180", array="1-9%3").replace("#SBATCH ", "") == (
        "--job-name=program\n--nodes=2\n--ntasks=8\n--ntasks-per-node=4\n--time=12:30:01\n"
        "--array=1-9%3\n--signal=B:USR1@180\n--output=program-%A_%a.out"
    )
    assert told(PBS, array="1-9").replace("#PBS ", "") == (
        "-S /bin/bash\n-N program\n-l select=2:ncpus=4:mpiprocs=4\n-l walltime=12:30:01\n"
        "-J 1-9\n-j oe"
    )
    assert told(LSF, signal="USR2@61", array="1-9%3").replace("#BSUB ", "") == (
        '-J "program[1-9]%3"\n-n 8\n-R "span[ptile=4]"\n-W 12:31\n-wa USR2\n-wt 0:02\n'
        "-o program.%J_%I.out"
    )


@EVERY_SYSTEM
def test_a_name_is_no_command(make_world: MakeWorld, place: Place, system: BatchSystem) -> None:
    """A newline in it began a line of the script."""
    request = asked(systems=(system,), name="a\ntouch harm\n$(touch harm) #")
    script = script_text(plan_job(request, make_world()).job)
    assert place.run(script)[0] == 0
    assert not (place.folder / "harm").exists()
    assert "a_touch" in directives(script)[1 if system is PBS else 0]


def test_the_name_is_the_programs(make_world: MakeWorld) -> None:
    def name(*command: str, **changes: Any) -> str:
        return plan_job(asked(command=command, **changes), make_world()).job.name

    assert name("bin/model.x", "7") == "model.x"
    assert name("srun", "-n", "4", "bin/model", "x") == "model"
    assert name("mpiexec", "-n", "4", "./model") == "model"
    assert name("./a-very-long-name-of-a-model", systems=(PBS,)) == "a-very-long-nam"
    assert name("/") == "job"


@pytest.mark.parametrize("system", [PBS, LSF], ids=lambda one: one.value)
@pytest.mark.parametrize("count", [1, 2])
def test_the_pool_is_told_what_the_batch_system_does_not_tell(
    place: Place, system: BatchSystem, count: int
) -> None:
    begin = int(time.time())
    one = steps(*[["./program"]] * count, system=system, seconds=1000, nodes=3 - count)
    assert place.run(script_text(one))[0] == 0
    words = place.notes[0]
    assert f"pool_nodes={3 - count}" in words
    end = next(int(word.partition("=")[2]) for word in words if "pool_job_end=" in word)
    assert begin + 1000 <= end <= int(time.time()) + 1000


def test_a_script_for_pbs_that_pbs_does_not_run_says_so(place: Place) -> None:
    status, said = place.run("unset PBS_O_WORKDIR\n" + script_text(job(system=PBS)))
    assert status != 0
    assert "PBS runs this script, by qsub" in said


# --- how it ends


@EVERY_SYSTEM
@pytest.mark.parametrize("nodes", [1, 2])
def test_a_failed_step_is_the_status_and_ends_the_job(
    place: Place, system: BatchSystem, nodes: int
) -> None:
    lines = (["./program", "exit-3"], ["./program", "behind"])
    status, said = place.run(script_text(steps(*lines, system=system, nodes=nodes)))
    assert status == 3, said
    assert not any("behind" in words for words in place.notes)
    stops = [words for words in place.notes if words[:2] == ["pool", "stop"]]
    assert len(stops) == (nodes == 1)


def test_a_single_step_is_the_script_itself(place: Place) -> None:
    """So that signals and status are its own."""
    assert place.run(script_text(steps(["./program", "exit-3"])))[0] == 3
    assert place.run(script_text(steps(["sh", "-c", "kill -TERM $$"])))[0] == -signal.SIGTERM


@pytest.mark.parametrize(
    ("own", "stop", "status", "says"),
    [
        (0, 0, 0, None),
        (0, 74, 74, "Not all that was written has arrived"),
        (0, 75, 75, "All has arrived, but the journal failed"),
        (0, 1, 74, "The pool's daemon has died"),
        (3, 74, 3, "Not all that was written has arrived"),
        (3, 0, 3, None),
    ],
)
def test_the_end_of_the_pool_is_told(
    place: Place, own: int, stop: int, status: int, says: str | None
) -> None:
    script = script_text(steps(["./program"], ["./program", f"exit-{own}"]))
    found, said = place.run(script, STOP=str(stop))
    assert found == status, said
    if says is None:
        assert said == ""
    else:
        assert says in said
    assert ("the last words" in said) == (stop == 1)


def test_all_steps_are_in_one_pool_of_the_jobs_own(place: Place) -> None:
    script = script_text(steps(["./program"], ["./program"]))
    for _ in range(2):
        assert place.run(script)[0] == 0
    first, second = place.sockets[1], place.sockets[5]
    assert place.sockets == [None, first, first, None, None, second, second, None]
    assert first is not None
    assert first != second
    assert place.notes[0][3] == place.notes[3][3] == first
    assert not Path(first).parent.exists(), "the job has left something in /tmp"


def test_a_pool_that_does_not_start_is_not_stopped(place: Place) -> None:
    status, said = place.run(script_text(steps(["./program"], ["./program"])), START="125")
    assert status == 125, said
    assert [words[:2] for words in place.notes] == [["pool", "start"]]


@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize(
    ("sent", "handled"),
    [(signal.SIGTERM, "TERM"), (signal.SIGINT, "TERM"), (signal.SIGUSR1, "USR1"),
     (signal.SIGUSR2, "USR2")],
)  # fmt: skip
def test_a_step_gets_the_signals_of_the_script(
    place: Place, sent: signal.Signals, handled: str, nodes: int
) -> None:
    """Bash waits for a program in the foreground before it does anything about a signal."""
    place.program("handler", HANDLER.format(signal=handled))
    lines = (["./handler"], ["./program", "behind"])
    process = place.start(script_text(steps(*lines, nodes=nodes)))
    place.until("running")
    process.send_signal(sent)
    said, _ = process.communicate(timeout=180)
    assert process.returncode == 5, said
    assert said == "caught\n"
    assert not any("behind" in words for words in place.notes)
    assert (place.notes[-1][:2] == ["pool", "stop"]) == (nodes == 1)
    is_closed = ["close down"] in place.notes
    assert is_closed == (nodes == 1 and sent is not signal.SIGUSR2)


def test_no_step_begins_behind_sigterm(place: Place) -> None:
    """Also where the step before it ends well."""
    place.program("handler", HANDLER.format(signal="TERM").replace("exit 5", "exit 0"))
    process = place.start(script_text(steps(["./handler"], ["./program", "behind"])))
    place.until("running")
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=180)
    assert process.returncode == 143, said
    assert [words[:2] for words in place.notes] == [
        ["pool", "start"], ["close down"], ["pool", "stop"]
    ]  # fmt: skip


def test_a_signal_that_the_step_survives_changes_no_status(place: Place) -> None:
    text = HANDLER.format(signal="USR1").replace("caught; exit 5", "caught; : > caught")
    place.program(
        "handler", text.replace("while ((SECONDS < 100)); do", "until [[ -e go ]]; do") + "exit 6\n"
    )
    process = place.start(script_text(steps(["./handler"], ["./program"])))
    place.until("running")
    process.send_signal(signal.SIGUSR1)
    place.until("caught")
    (place.folder / "go").touch()
    said, _ = process.communicate(timeout=180)
    assert (process.returncode, said) == (6, "caught\n")


# --- what is refused


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"systems": ()}, r"Say one of --slurm, --pbs and --lsf"),
        ({"systems": (SLURM, PBS)}, r"2 batch systems were named"),
        ({"command": ()}, r"no program was given"),
        ({"time": "30"}, r"--time 02:30:00"),
        ({"time": "00:00:00"}, r"--time 02:30:00"),
        ({"time": "1:00:00\n#SBATCH --uid=0"}, r"--time 02:30:00"),
        ({"array": "1,2"}, r"--array 1-100"),
        ({"array": "1-2\ntouch harm"}, r"--array 1-100"),
        ({"signal": "KILL@60"}, r"--signal USR1@180"),
        ({"signal": "USR1"}, r"--signal USR1@180"),
        ({"signal": "USR1@99999"}, r"at most 65535 seconds"),
        ({"signal": "USR1@60", "systems": (PBS,)}, r"it sends none"),
        ({"journal": Path("/local")}, r"Say --pool FOLDER"),
        ({"pool": (Path("--"),)}, r"--pool wants a folder"),
        ({"steps": ("",)}, r"empty --step"),
        ({"command": ("forebay", "run", "--", "./a")}, r"the script has it already"),
        ({"steps": ("./a 'b",)}, r"Close its quotes"),
        ({"steps": ("./a | ./b",)}, r"--step 'bash -c '\"'\"'"),
        ({"steps": ("./a > out",)}, r"operator of the shell"),
        ({"steps": ("./a; ./b",)}, r"operator of the shell"),
        ({"overrides": overrides_of(["pool_windo=1GiB"])}, r"pool_window"),
        ({"overrides": overrides_of(["pool_window=wide"])}, r"pool_window"),
    ],
)
def test_what_cannot_be_a_job_is_refused(
    make_world: MakeWorld, changes: Mapping[str, Any], says: str
) -> None:
    with pytest.raises((UsageError, SettingsError), match=says) as raised:
        plan_job(asked(**changes), make_world())
    assert isinstance(raised.value, ForebayError)
    assert raised.value.exit_code == 2


def test_the_step_that_is_shown_instead_of_a_pipe_is_taken(make_world: MakeWorld) -> None:
    with pytest.raises(UsageError) as raised:
        plan_job(asked(steps=("echo 'a b' | wc",)), make_world())
    shown = str(raised.value).rpartition("Have a shell run it: ")[2].removesuffix(".")
    option, line = shlex.split(shown)
    assert option == "--step"
    planned = plan_job(asked(steps=(line,)), make_world())
    assert planned.job.steps[1] == ("bash", "-c", "echo 'a b' | wc")


def warnings_of(world: World, **changes: Any) -> str:
    planned: PlannedJob = plan_job(asked(**changes), world)
    return "\n".join(planned.warnings)


def test_a_step_may_have_an_empty_word(make_world: MakeWorld) -> None:
    planned = plan_job(asked(steps=("./a '' 'b c'",)), make_world())
    assert planned.job.steps[1] == ("./a", "", "b c")


def test_what_is_probably_a_mistake_is_said(make_world: MakeWorld) -> None:
    world = make_world()
    assert warnings_of(world, pool=(Path(),)) == ""
    assert "mkdir -p misspelt" in warnings_of(world, pool=(Path("misspelt"),))
    assert warnings_of(world, pool=(Path("{task}"),), array="1-2") == ""
    assert "Say --array" in warnings_of(world, command=("./a", "in-{task}"))
    said = warnings_of(world, pool=(Path(),), overrides=overrides_of(["pool_cap=4"]))
    assert "pool_cap=4GiB" in said


# --- the scripts as such


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="no shellcheck")
@EVERY_SYSTEM
def test_shellcheck_finds_nothing(tmp_path: Path, system: BatchSystem) -> None:
    lines = (["./a", "b c"], ["./d"])
    jobs = {
        "one": job(system=system),
        "plain": job(system=system, pool=()),
        "several": steps(*lines, system=system, settings=("pool_window=1GiB",)),
        "nodes": steps(*lines, system=system, nodes=2),
        "record": steps(*lines, system=system, record="my run"),
        "array": steps(["./a", "{task}"], ["./b"], system=system, array="1-2", pool=("{task}",)),
    }
    for name, one in jobs.items():
        (tmp_path / f"{name}.sh").write_text(script_text(one))
    found = sorted(tmp_path.glob("*.sh"))
    done = subprocess.run(
        ["shellcheck", *found], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout


def shown() -> list[tuple[Path, str]]:
    """The `forebay job-script` lines of the examples, each with its folder."""
    return [
        (page.parent, line)
        for page in sorted((ROOT / "examples").glob("*/README.md"))
        for line in page.read_text(encoding="utf-8").splitlines()
        if line.startswith("forebay job-script ")
    ]


@pytest.mark.parametrize(
    ("folder", "line"), shown(), ids=[f"{one.name}-{line.split()[-1]}" for one, line in shown()]
)
def test_the_scripts_of_the_examples_are_what_the_command_writes(
    forebay: Callable[..., subprocess.CompletedProcess[str]], folder: Path, line: str
) -> None:
    words = shlex.split(line)
    assert words[-2] == ">"
    done = forebay(*words[1:-2], folder=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (folder / words[-1]).read_text(encoding="utf-8")
