"""Runs the commands that `forebay advise` prints, as they are printed: by a shell, in a folder of
its own. Lustre's own commands are only read: they need a Lustre."""

from __future__ import annotations

import getopt
import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from suite import mpi as m
from suite.file_systems import until
from suite.on import BENCHMARK, EACH
from suite.prober import PACKAGES, RANKS, SECONDS_MAX, Prober
from suite.striping import striped_file_system
from suite.verdict import ensure

LOGS = m.ROOT / "python" / "tests" / "darshan_logs"
TITLES = {
    "layout": "Layout of the output directory, either of:",
    "composite": "The same for files of all sizes (composite):",
    "settings": "Settings (forebay.toml):",
    "hints": "Hints for ROMIO (a file that ROMIO_HINTS names):",
    "batch": "In the batch script:",
    "proof": "To run it so, and to prove that it helps:",
}


def printed(text: str) -> Mapping[str, list[str]]:
    """The lines below each title."""
    found: dict[str, list[str]] = {name: [] for name in TITLES}
    names = {title: name for name, title in TITLES.items()}
    here = ""
    for line in text.splitlines():
        if line in names:
            here = names[line]
        elif here and line.startswith("  "):
            found[here].append(line.removeprefix("  "))
        else:
            here = ""
    return found


class Shell:
    """Runs a printed line where `forebay`, `mpiexec` and `./program` are what they are called."""

    def __init__(self, folder: Path, mpi: m.Mpi) -> None:
        self.folder = folder
        bin_ = folder / "bin"
        bin_.mkdir()
        commands = {
            "forebay": f"{Prober(folder=folder).python} -m forebay",
            "mpiexec": str(shutil.which(mpi.launcher)),
        }
        for name, command in commands.items():
            (bin_ / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
            (bin_ / name).chmod(0o755)
        out = folder / "out"
        out.mkdir()
        program = folder / "program"
        ior = m.LIBRARIES / mpi.family / "forebay-ior"
        words = f"-a MPIIO -c -w -k -t 64k -b 256k -o {out}/f"
        program.write_text(f"#!/bin/sh\nexec {ior} {words}\n")
        program.chmod(0o755)

    def run(self, line: str, *, status: tuple[int, ...] = (0,), **variables: str) -> str:
        """The output of a line."""
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        environment = {**m.clean_environment(), "PATH": path, "PYTHONPATH": PACKAGES, **variables}
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        environment["FOREBAY_LIBDIR"] = str(m.LIBRARIES)
        with (self.folder / "said").open("w+") as out:
            with m.started(
                ["sh", "-ec", line], out, environment=environment, folder=self.folder
            ) as (process):
                ended = until(lambda: process.poll() is not None, SECONDS_MAX)
            out.seek(0)
            said = out.read()
        ensure(ended and process.returncode in status, f"{line}: {process.returncode}\n{said}")
        return said


def advised(shell: Shell, *options: str) -> Mapping[str, list[str]]:
    """For two ranks that write collectively, where a process is faster than a target."""
    shell.run("forebay probe --simulate tsubame-2.5-thin --formulas -o model.toml 2>/dev/null")
    words = "--ranks 2 --bytes 64g --collective -o advice.json --ready ."
    return printed(shell.run(f"forebay advise --portrait model.toml {words} {shlex.join(options)}"))


def test_what_probing_says_to_do_next_runs_as_it_is_printed(folder: Path) -> None:
    """The portrait's name wants quotes."""
    shell = Shell(folder, m.MPICH)
    said = shell.run("forebay probe --simulate lustre-96-ost --formulas -o 'my model.toml'")
    _, _, next_ = said.rpartition("What it means for a program: ")
    ensure(next_.startswith("forebay advise --portrait"), said)
    ensure("predicted" in shell.run(next_.splitlines()[0]), next_)


@EACH
def test_what_a_report_says_to_do_next_runs_as_it_is_printed(mpi: m.Mpi, folder: Path) -> None:
    """Where the advice was to keep everything, verify said that there was nothing to verify."""
    shell = Shell(folder, mpi)
    log = folder / "four ranks.darshan"
    log.write_bytes((LOGS / "case-tinycoll.darshan").read_bytes())
    lines = shell.run(f"forebay report {shlex.quote(str(log))}").splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("To prove it"))
    advise, verify = lines[at + 1 : at + 3]
    ensure("collective writes of 16 B by each rank" in lines[at - 1], lines[at - 1])
    with m.cores(mpi, RANKS):
        ensure("nothing is known to set" in shell.run(advise), advise)
        own = verify.replace("DIR", f"{folder / 'out'} --pairs 6")
        own = own.replace("COMMAND", "mpiexec -n 2 ./program")
        said = shell.run(own, status=(0, 3, 4))
        ensure("as fast through Forebay, all settings kept" in said, said)


@BENCHMARK
def test_batch_script_and_proof_run_as_they_are_printed(mpi: m.Mpi, folder: Path) -> None:
    """The local disk has no layouts, and `forebay layout` says so; all else runs."""
    shell = Shell(folder, mpi)
    with m.cores(mpi, RANKS):
        lines = advised(shell, "--output-dir", str(folder / "out"))
        ensure(all(lines[name] for name in ("settings", "hints", "batch", "proof")), str(lines))
        layout, *batch = lines["batch"]
        said = shell.run(layout, status=(1,))
        ensure("forebay layout set" in layout and "no layout" in said, said)
        for line in batch:
            said = shell.run(line)
            ensure("forebay run" in line and (folder / "out" / "f").exists(), said)
        apply, verify = lines["proof"]
        said = shell.run(apply, status=(5,))  # the advised layout did not take effect
        ensure("striping_factor" in said, said)
        said = shell.run(verify, status=(0, 3, 4, 5))
        ensure("as fast with the advice" in said or said.startswith("not applied"), said)


def test_settings_and_hints_are_taken_as_they_are_printed(folder: Path) -> None:
    shell = Shell(folder, m.MPICH)
    with m.cores(m.MPICH, RANKS):
        lines = advised(shell)
        for name, kind in (("forebay.toml", "settings"), ("romio.hints", "hints")):
            ensure((folder / name).read_text().splitlines() == lines[kind], f"{name}: {lines}")
        said = shell.run("forebay settings --settings forebay.toml")
        for line in lines["settings"]:
            setting, _, value = line.partition(" = ")
            ensure(setting in said and value.strip('"') in said, f"{line}:\n{said}")
        told = shell.run(
            "mpiexec -n 2 ./program", ROMIO_HINTS=str(folder / "romio.hints"), ROMIO_PRINT_HINTS="1"
        )
        for line in lines["hints"]:
            name, _, value = line.partition(" ")
            if name == "striping_factor":
                continue  # ROMIO takes it where a file system has stripes
            ensure(f"key = {name}" in told and value in told, f"{line}:\n{told}")


def test_layout_commands_run_as_they_are_printed(folder: Path) -> None:
    """For a file, since directories have no layout on the file system of the tests."""
    shell = Shell(folder, m.MPICH)
    with striped_file_system(folder) as mount:
        lines = advised(shell, "--output-dir", str(mount / "f"))
        ours, lfs = lines["layout"]
        said = shell.run(ours, status=(0, 1))
        ensure("3 targets" in said, said)
        for line in (lfs, *lines["composite"]):
            ensure_lfs(line, str(mount / "f"))
        ensure(len(lines["composite"]) == 1, str(lines))


def ensure_lfs(line: str, directory: str) -> None:
    """As lfs setstripe(1) wants it: a component ends with a stripe, behind the one before it, and
    the last one has no end."""
    program, verb, *words = shlex.split(line)
    options, rest = getopt.getopt(words, "E:c:S:")
    ensure((program, verb, rest) == ("lfs", "setstripe", [directory]), line)
    ends = [value for name, value in options if name == "-E"]
    sizes = [int(value) for name, value in options if name == "-S"]
    ensure(all(size % 65536 == 0 for size in sizes), line)
    ensure(all(int(value) != 0 for name, value in options if name == "-c"), line)
    units = {"M": 1 << 20, "G": 1 << 30}
    bytes_ = [int(one[:-1]) * units[one[-1]] for one in ends[:-1]]
    ensure(bytes_ == sorted(bytes_) and ends[-1:] in ([], ["-1"]), line)
    ensure(all(end % size == 0 for end in bytes_ for size in sizes), line)
