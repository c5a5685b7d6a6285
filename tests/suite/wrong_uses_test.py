"""Wrong uses of the command, as people make them: each ends with a status, and has no traceback
and one message that names what is wrong, why, and what to do: *problem (why). What to do next.*

Each line of the table is a command line behind `forebay`, with the variables in front of it, and
behind ## what the message has to name."""

from __future__ import annotations

import multiprocessing
import os
import re
import shlex
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import forebay.application
import forebay.main
from forebay.common.model.errors import UsageError
from suite import mpi as m
from suite.verdict import ensure

SHARE_LEAST = 0.95
"""The share of wrong uses that have to be answered."""
AT_ONCE = 4
"""Several uses at a time: some wait for launchers and daemons."""
SECONDS_MAX = 900
FORM = re.compile(r"(?:forebay|ERROR): (?:nothing was measured: )?(.+ \(.+\)\. \S.*)")
RULE = re.compile(r"-{20,}")
HELP = re.compile(r"See what there is: forebay((?: [a-z-]+)*) --help$", re.MULTILINE)

RUN = """
runn -- true ## runn
--verzion ## --verzion
run ## COMMAND
run -- ## COMMAND
run '' ## ""
run -- ./none ## ./none
run -- nosuchprogram ## nosuchprogram
run -- ./text ## ./text
run -- ./out ## ./out
run -n 4 -- true ## -n
run --pol out -- true ## --pol
run --pool ## --pool
run --pool '' -- true ## path ""
run --pool missing -- true ## missing
run --pool --set a=b -- true ## --pool
run --pool a,b -- true ## a,b
run --pool / -- true ## pool / (
run --pool /proc -- true ## pool /proc (
run --pool /proc/self -- true ## pool /proc/
run --pool /etc -- true ## pool /etc (
run --pool /sys -- true ## pool /sys (
run --pool /dev -- true ## pool /dev (
run --pool /dev/null -- true ## pool /dev/null (
run --pool /usr/lib -- true ## pool /usr/lib (
run --pool pipe -- true ## pipe
run --set cb_nodes -- true ## "cb_nodes"
run --set =3 -- true ## "=3"
run --set cb_nodez=3 -- true ## cb_nodez
run --set cb_nodes=many -- true ## many
run --set cb_nodes=-1 -- true ## -1
run --set cb_buffer_size=4MiX -- true ## 4MiX
run --set pool_window=99999999999999GiB -- true ## pool_window
run --set pool_mount=maybe -- true ## maybe
run --set enabled=perhaps -- true ## perhaps
run --pool out --set pool_nodes=x -- true ## pool_nodes
run --pool out --set pool_starter=nosuchstarter --set pool_nodes=2 -- true ## nosuchstarter
run --pool out --set pool_durability=node -- true ## pool_journal
run --pool out --set pool_journal=/proc/none --set pool_durability=node -- true ## /proc/none
run --settings none.toml -- true ## none.toml
run --settings out -- true ## out
run --settings text -- true ## text
run --settings unknown.toml -- true ## cb_nodez
run --settings twice.toml -- true ## twice.toml
run --settings table.toml -- true ## table.toml
run --settings latin.toml -- true ## latin.toml
run --record none/r -- true ## none/r
run --record out -- true ## out
run --summary none/s -- true ## none/s
run --format yaml -- true ## yaml
run --pairs 3 -- true ## --pairs
run --output-dir out -- true ## --output-dir
run --compare --pairs 0 -- true ## --pairs
run --compare --pairs many -- true ## many
FOREBAY_LIBDIR=/none run -- true ## /none
FOREBAY_CB_NODES=x run -- true ## FOREBAY_CB_NODES
FOREBAY_SETTINGS=none.toml run -- true ## none.toml
FOREBAY_POOL_CAP=lots run --pool out -- true ## FOREBAY_POOL_CAP
"""
POOL = """
pool stat ## stat
pool start ## PATH
pool start missing ## missing
pool start /proc ## pool /proc (
pool start --set pool_cap out ## pool_cap
pool start --set pool_cup=1GiB out ## pool_cup
pool start --settings none.toml out ## none.toml
pool start --socket /proc/self/none/socket out ## /proc/self/none
pool start --socket LONG/socket out ## LONG
pool start --pool out ## --pool
pool status --socket none ## none
pool status --socket text ## text
pool status --wach ## --wach
pool status --interval 0 ## --interval
pool status out ## out
pool status --all --socket out ## --socket
pool status --all-nodes ## pool_starter
pool drain --socket none ## none
pool stop --socket none ## none
pool stop --format xml ## xml
pool rescue ## FILE
pool rescue none ## none
pool rescue text ## text
pool rescue out ## out
pool rescue --into none/x text ## text
settings nosuch ## nosuch
settings --settings none.toml ## none.toml
settings --settings text ## text
settings --formt json ## --formt
settings '' ## ""
settings --about weather ## weather
settings --for lustre ## lustre
FOREBAY_CB_NODES=-4 settings ## FOREBAY_CB_NODES
layout show none ## none
layout set -c x out ## x
layout set -c 0 out ## -c
layout set -S 3 out ## out
layout set out ## -c
layout set -c 2 none/f ## none/f
doctor none ## none
doctor text ## text
doctor -n 0 ## -n
doctor --format xml ## xml
"""
BENCHMARKS = """
bench iorr ## iorr
bench ior --nosuch ## --nosuch
bench ior -t 1q -o out/f ## 1q
bench ior -np x -o out/f ## -np
bench ior -np 0 -o out/f ## -np
bench ior -np ## -np
bench ior -t 3 -b 7 -o out/f ## -t 3
bench ior --launcher nosuch -o out/f ## nosuch
bench ior --launcher '' -o out/f ## --launcher
bench ior --html none/p.html -o out/f ## none/p.html
bench ior --format xml -o out/f ## xml
bench ior -a NOSUCH -o out/f ## NOSUCH
bench hpio -n 2 -d out ## -n
bench meta --storm nosuch -d out ## nosuch
bench meta -n x -d out ## "x"
bench compare ior -- ## B
bench compare --pairs 1 ior -- ior ## --pairs
bench compare --pairs x ior -- ior ## --pairs
bench compare nosuch -- ior ## nosuch
bench compare --margin 900% ior -- ior ## --margin
FOREBAY_MPI_FAMILY=lam bench ior -o out/f ## lam
"""
TUNING = """
probe ## DIR
probe none -- mpiexec ## none
probe text -- mpiexec ## text
probe /proc -- mpiexec ## /proc
probe out --level quickest -- mpiexec ## quickest
probe out --bytes lots -- mpiexec ## lots
probe out --share 300% -- mpiexec ## --share
probe out --seconds 0 -- mpiexec ## --seconds
probe out -- nosuch ## nosuch
probe out ## launcher
probe out -o none/p.toml -- mpiexec ## none/p.toml
probe --simulate nosuch ## nosuch
probe --simulate lustre-96-ost nodes=x ## nodes
probe --simulate lustre-96-ost nodez=3 ## nodez
advise ## --ranks
advise --ranks 8 ## --bytes
advise --ranks 0 --bytes 1g ## --ranks
advise --ranks 8 --bytes huge ## huge
advise --portrait none --ranks 8 --bytes 1g ## none
advise --portrait text --ranks 8 --bytes 1g ## text
advise --record none ## none
advise --record text ## text
advise --record empty ## empty
advise --darshan text ## text
advise --command 'mpiexec -n 4 cp a b' ## cp
advise --command 'ior -t 1q' ## 1q
advise --ranks 8 --bytes 1g --may-change weather ## weather
advise --ranks 8 --bytes 1g -o none/a.json ## none/a.json
advise --ranks 8 --bytes 1g --html none/a.html ## none/a.html
advise --ranks 8 --bytes 1g --ready none ## none
advise --ranks 8 --bytes 1g --rules text ## text
advise --ranks 8 --bytes 1g --record text ## --record
apply ## ADVICE
apply none -- true ## none
apply text -- true ## text
apply old.json -- true ## old.json
verify none -- true ## none
verify text -- true ## text
verify old.json -- true ## old.json
verify out -- true ## out
verify none --pairs x -- true ## --pairs
verify none --rate a --time b -- true ## --rate
verify none --html none/v.html -- true ## none/v.html
report ## FILE
report none ## none
report text ## text
report empty ## empty
report out ## out
report none.darshan ## none.darshan
report text --html none/r.html ## none/r.html
report text --portrait none ## none
report --format xml text ## xml
"""
SCRIPTS = """
job-script -- ./p ## --slurm
job-script --slurm ## no program
job-script --slurm --pbs --pool out -- ./p ## --pbs
job-script --slurm --pool out --nodes 0 -- ./p ## --nodes
job-script --slurm --pool out --time soon -- ./p ## soon
job-script --slurm --pool out --array 9-1 -- ./p ## 9-1
job-script --slurm --pool out --array all -- ./p ## all
job-script --slurm --pool out --signal FOO@60 -- ./p ## FOO
job-script --slurm --pool out --signal USR1 -- ./p ## USR1
job-script --slurm --pool out --set nosuch=1 -- ./p ## nosuch
job-script --slurm --pool out --step "./a 'b" -- ./p ## --step
simulate ## PLATFORM
simulate nosuch ## nosuch
"""
SIMULATED = """
simulate text ## text
simulate laptop nodes=0 ## nodes
simulate laptop nodez=1 ## nodez
simulate laptop nodes ## nodes
simulate laptop link_rate=fast ## link_rate
simulate --io-ranks laptop io_ranks=0 ## io_ranks
simulate --io-ranks laptop --variant romio ## romio
"""
LONG = "long" * 30


@dataclass(frozen=True)
class WrongUse:
    """A command line, with the variables in front of it, and what its message has to name."""

    line: str
    variables: dict[str, str]
    words: tuple[str, ...]
    named: str


def wrong_use(line: str) -> WrongUse:
    text, _, named = line.replace("LONG", LONG).partition(" ## ")
    words = shlex.split(text)
    variables = {}
    while words[0].startswith("FOREBAY_"):
        name, _, value = words.pop(0).partition("=")
        variables[name] = value
    return WrongUse(line=line, variables=variables, words=tuple(words), named=named)


def table(text: str) -> list[WrongUse]:
    return [wrong_use(line) for line in text.splitlines() if line]


def wrong_uses() -> list[WrongUse]:
    found = [one for text in (RUN, POOL, BENCHMARKS, TUNING, SCRIPTS) for one in table(text)]
    return found + (table(SIMULATED) if (m.LIBRARIES / "forebay_sim").exists() else [])


def prepared(folder: Path) -> Path:
    """A folder with what the command lines name."""
    (folder / "out").mkdir()
    (folder / "a,b").mkdir()
    (folder / "text").write_text("neither TOML nor JSON\n")
    (folder / "empty").touch()
    os.mkfifo(folder / "pipe")
    (folder / "unknown.toml").write_text("cb_nodez = 1\n")
    (folder / "twice.toml").write_text("cb_nodes = 1\ncb_nodes = 2\n")
    (folder / "table.toml").write_text("[cb_nodes]\na = 1\n")
    (folder / "latin.toml").write_bytes(b'exclude = ["\xe9"]\n')
    (folder / "old.json").write_text('{"schema": "forebay.advice/99"}\n')
    return folder


@dataclass(frozen=True)
class Said:
    """The output of a command, and its exit status."""

    status: int
    output: str
    errors: str


def carried_out(use: WrongUse, folder: Path, told: Path) -> Said:
    """Carries one out in a process that has imported everything before: a new interpreter for each
    would take minutes."""
    told.mkdir(exist_ok=True)
    output, errors = told / "output", told / "errors"
    process = os.fork()
    if process == 0:
        status = 1
        try:
            for number, path in ((0, Path(os.devnull)), (1, output), (2, errors)):
                flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
                os.dup2(os.open(path, flags), number)
            status = _status(use, folder)
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return Said(status=status, output=output.read_text(), errors=errors.read_text())


@dataclass(frozen=True)
class Answer:
    """The answer to a wrong use, and whether it has changed something in its folder."""

    use: WrongUse
    said: Said
    has_changed_something: bool


def answers(uses: Sequence[WrongUse], place: Path) -> list[Answer]:
    """The answers to each, in their order. `place` is an empty folder."""
    forebay.application.application()  # imports all commands
    with pytest.raises(UsageError):  # imports what they import when they parse their words
        forebay.application.perform(["doctor", "-n", "0"])
    with multiprocessing.get_context("fork").Pool(AT_ONCE) as workers:
        tasks = [(use, place) for use in uses]
        return workers.starmap_async(_answer, tasks, chunksize=1).get(SECONDS_MAX)


def _answer(use: WrongUse, place: Path) -> Answer:
    """Each worker has a folder of its own, so it is known which use has changed something."""
    own = place / str(os.getpid())
    folder = own / "here"
    if not own.exists():
        folder.mkdir(parents=True)
        prepared(folder)
    before = shown(folder)
    said = carried_out(use, folder, own / "told")
    return Answer(use=use, said=said, has_changed_something=shown(folder) != before)


def _status(use: WrongUse, folder: Path) -> int:
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
    os.chdir(folder)
    for name in [name for name in os.environ if name.startswith("FOREBAY_")]:
        del os.environ[name]
    libraries = {"FOREBAY_LIBDIR": str(m.LIBRARIES), "FOREBAY_SIM": f"{m.LIBRARIES}/forebay_sim"}
    os.environ.update({**libraries, **use.variables})
    sys.argv = ["forebay", *use.words]
    try:
        forebay.main.main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def own_lines(text: str) -> list[str]:
    """The lines but those that a launcher puts between rules."""
    lines, inside = [], False
    for line in text.splitlines():
        if RULE.fullmatch(line):
            inside = not inside
        elif not inside and line.strip():
            lines.append(line)
    return lines


def _is_of(path: str, words: Sequence[str]) -> bool:
    """Whether a command's names are those that `words` begin with."""
    names = path.split()
    knows_none = words[0] not in forebay.application.SUBCOMMANDS
    return tuple(names) == tuple(words[: len(names)]) and (bool(names) or knows_none)


def complaints(use: WrongUse, said: Said) -> list[str]:
    """Parts that the answer lacks."""
    lines = own_lines(said.errors)
    messages = {found[1] if (found := FORM.fullmatch(line)) else "" for line in lines}
    told = {
        "the status is 0": said.status == 0,
        "a traceback": "Traceback" in said.errors,
        "something on standard output": bool(said.output),
        "not one message of the form: problem (why). What to do next.": len(messages) != 1
        or "" in messages,
        "the help of another command": not all(
            _is_of(path, use.words) for path in HELP.findall(said.errors)
        ),
        f"{use.named} is not named": use.named.replace("LONG", LONG) not in said.errors,
    }
    return [text for text, is_so in told.items() if is_so]


def shown(folder: Path) -> dict[str, bytes]:
    files = sorted(folder.rglob("*"))
    return {str(one): one.read_bytes() if one.is_file() else b"" for one in files}


def test_wrong_uses_are_answered(tmp_path: Path) -> None:
    ensure((m.LIBRARIES / "forebayd").exists(), f"no {m.LIBRARIES} (not built). Run `make build`.")
    uses = wrong_uses()
    failed: list[str] = []
    for answer in answers(uses, tmp_path):
        line, said = answer.use.line, answer.said
        ensure("Traceback" not in said.errors, f"{line}\n{said.errors}")
        ensure(said.status != 0, f"status 0: {line}\n{said.output}{said.errors}")
        ensure(not answer.has_changed_something, f"{line} has changed something in its folder")
        missing = complaints(answer.use, said)
        if missing:
            failed.append(f"{line} [{said.status}]: {'; '.join(missing)}\n{said.errors[-600:]}")
    ensure(len(uses) >= 100, f"{len(uses)} wrong uses only")
    text = "\n".join(failed)
    print(f"{len(failed)} of {len(uses)} wrong uses are not answered as they should be\n{text}")
    ensure(len(uses) - len(failed) >= SHARE_LEAST * len(uses), text)


@pytest.mark.parametrize(
    ("errors", "is_good"),
    [
        ("forebay: cannot pool x (there is none). Make it.", True),
        ("forebay: cannot pool x.", False),
        ("forebay: cannot pool x (there is none). Make it.\nand more", False),
        ("forebay: no x (none). See what there is: forebay run --help", True),
        ("forebay: no x (none). See what there is: forebay --help", False),
        ("forebay: no x (none). See what there is: forebay pool --help", False),
        ("ERROR: no x (none). Make it.\n" + "-" * 60 + "\nmpiexec\n" + "-" * 60, True),
    ],
)
def test_an_answer_has_the_form_of_all_messages(errors: str, is_good: bool) -> None:
    use = wrong_use("run x ## x")
    assert complaints(use, Said(status=2, output="", errors=errors)) == [] or not is_good
    assert is_good or complaints(use, Said(status=2, output="", errors=errors))
