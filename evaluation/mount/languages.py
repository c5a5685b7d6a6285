"""The programs whose output is measured: the same steps in several languages, and by a shell."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from evaluation.pool.places import ROOT
from forebay.common.model.frozen import frozen

MIB = 1 << 20
SOURCES = ROOT / "evaluation" / "mount"
IN_STEPS = """
step=1
while [ "$step" -le "$3" ]; do
    case $2 in /dev/null) to=$2 ;; *) to=$2.$step ;; esac
    {command} || exit 1
    [ "$step" -eq "$3" ] || sleep "$5e-3"
    step=$((step + 1))
done
"""
"""A job script. Its words: what it reads or runs, the file, steps, MiB, milliseconds."""
ONE_PROGRAM = 'exec "$1" - "$3" "$4" "$5" > "$2"'
BY_REDIRECTION = "≥ 10 ×"
BY_OTHERS = "≥ 5 ×"


@frozen
class OutputProgram:
    """A program that takes the words FILE STEPS MIB MILLISECONDS behind its command."""

    name: str
    command: Sequence[str]
    asked: str = BY_OTHERS


@frozen
class CompiledLanguage:
    """A language: how to compile steps.<ending> with its compiler, and how to start the result."""

    name: str
    compiler: str
    words: Sequence[str]
    command: Sequence[str]


def outputs(folder: Path, mebibytes: int) -> tuple[list[OutputProgram], list[str]]:
    """The programs, compiled into `folder` (in memory), and the names of those that are left out,
    because their compiler is not there."""
    steps, source = str(folder / "steps"), folder / "source"
    with source.open("wb") as file:
        for _ in range(mebibytes):
            file.write(b"x" * MIB)
    _compile(folder, ["cc", "-O2", "-o", steps, str(SOURCES / "steps.c")])
    found = [
        OutputProgram(
            name="prog > file", command=_script(ONE_PROGRAM, steps), asked=BY_REDIRECTION
        ),
        OutputProgram(
            name="prog >> file",
            command=_script(_each_step('"$1" - 1 "$4" 0 >> "$2"'), steps),
            asked=BY_REDIRECTION,
        ),
        OutputProgram(
            name="dd bs=1M",
            command=_script(_each_step('dd if="$1" of="$to" bs=1M status=none'), str(source)),
            asked=BY_REDIRECTION,
        ),
        OutputProgram(
            name="cp",
            command=_script(_each_step('cp "$1" "$to"'), str(source)),
            asked=BY_REDIRECTION,
        ),
        OutputProgram(name="appending C", command=[steps], asked=BY_REDIRECTION),
    ]
    left_out = []
    for one in _languages(folder):
        if shutil.which(one.compiler) is None:
            left_out.append(f"{one.name} (no {one.compiler})")
            continue
        _compile(folder, [one.compiler, *one.words])
        asked = BY_REDIRECTION if one.compiler == "gfortran" else BY_OTHERS
        found.append(OutputProgram(name=one.name, command=one.command, asked=asked))
    if importlib.util.find_spec("numpy") is None:
        left_out.append("numpy memmap (no numpy)")
    else:
        memmap = [sys.executable, str(SOURCES / "steps_memmap.py")]
        found.append(OutputProgram(name="numpy memmap", command=memmap))
    return found, left_out


def _each_step(command: str) -> str:
    return IN_STEPS.replace("{command}", command)


def _script(text: str, first: str) -> list[str]:
    return ["sh", "-c", text, "sh", first]


def _languages(folder: Path) -> tuple[CompiledLanguage, ...]:
    static, fortran, go, rust = (str(folder / name) for name in ("static", "fortran", "go", "rust"))
    return (
        CompiledLanguage(
            name="static binary",
            compiler="cc",
            words=("-O2", "-static", "-o", static, str(SOURCES / "steps.c")),
            command=(static,),
        ),
        CompiledLanguage(
            name="appending Fortran",
            compiler="gfortran",
            words=("-O2", "-o", fortran, str(SOURCES / "steps.f90")),
            command=(fortran,),
        ),
        CompiledLanguage(
            name="Go",
            compiler="go",
            words=("build", "-o", go, str(SOURCES / "steps.go")),
            command=(go,),
        ),
        CompiledLanguage(
            name="Rust",
            compiler="rustc",
            words=("-O", "-o", rust, str(SOURCES / "steps.rs")),
            command=(rust,),
        ),
        CompiledLanguage(
            name="Java NIO",
            compiler="javac",
            words=("-d", str(folder), str(SOURCES / "Steps.java")),
            command=("java", "-cp", str(folder), "Steps"),
        ),
    )


def _compile(folder: Path, words: Sequence[str]) -> None:
    """Raises RuntimeError if it does not compile."""
    caches = {"GOCACHE": str(folder / "cache"), "GOPATH": str(folder / "gopath")}
    more = {"GO111MODULE": "off", "CGO_ENABLED": "0", **caches}
    done = subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{words[0]} ended with {done.returncode}: {done.stderr[-1500:]}")
