#!/usr/bin/env python3
"""Finds in an installed mpi.h all functions that take a communicator, and makes code by which each
of them meets the compute ranks' communicator where a program says MPI_COMM_WORLD: assembly
(src/io_ranks/preload/trampolines.S.inc) and the list of their names. Used for I/O ranks."""

import argparse
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

NOTE = "Made by tools/generate_world_calls.py from the installed mpi.h. Do not edit."
HEADERS = ("mpi.h", "mpi-ext.h")
REGISTERS = ("%rdi", "%rsi", "%rdx", "%rcx", "%r8", "%r9")

# Written by hand (src/io_ranks/preload/exports.cpp): more is to be done than to replace the world.
BY_HAND = {
    "MPI_Abort": "ends the I/O ranks, too",
    "MPI_Attr_get": "what the MPI says of the world is known of the true world only",
    "MPI_Comm_get_attr": "as MPI_Attr_get",
    "MPI_Comm_set_errhandler": "errors without a communicator are errors of the true world",
    "MPI_Errhandler_set": "as MPI_Comm_set_errhandler",
    "MPI_Comm_spawn": "refused: the new processes would cut their world, too",
    "MPI_Comm_spawn_multiple": "as MPI_Comm_spawn",
}
# These have no communicator among their arguments, but the world's begin and end.
ALSO_BY_HAND = ("MPI_Init", "MPI_Init_thread", "MPI_Finalize")

# Functions that take a communicator by value and are to be left alone.
LEFT = {
    "MPI_Comm_c2f": "a handle's number: the program compares it with Fortran's MPI_COMM_WORLD",
    "MPI_Comm_toint": "as MPI_Comm_c2f",
    "MPIR_Dup_fn": "called by the MPI, with the communicators that it has",
    "MPI_DUP_FN": "as MPIR_Dup_fn",
    "MPI_COMM_DUP_FN": "as MPIR_Dup_fn",
}
# Functions that header files do not declare (any more), and where their communicators are.
UNDECLARED = {"MPI_Errhandler_get": [1], "MPI_Errhandler_set": [1]}
# MPICH's Fortran library calls it past the functions that mpi.h has.
OF_MPICH = {"MPII_Comm_set_attr": [1]}
# Open MPI's Fortran library reaches a communicator's attributes by itself: its functions, under all
# their names, lead to ours (fortran_attributes.cpp).
OF_OPEN_MPI = ("attr_get", "attr_put", "comm_get_attr", "comm_set_attr")

_ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
_PROTOTYPE = re.compile(
    r"\b(?:int|double|MPI_\w+)\s+(?P<name>MPI[A-Z]?_\w+)\s*\((?P<parameters>[^;{}]*?)\)\s*;"
)
_COMMUNICATOR = re.compile(r"(const )?MPI_Comm\b(?![^,]*[*\[(])")


def parameters_of(text: str) -> list[str]:
    """The parameters in a prototype; commas inside of brackets divide none."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append(text[begin:at].strip())
            begin = at + 1
    return [*parts, text[begin:].strip()]


def prototypes(preprocessed: str) -> Mapping[str, Sequence[str]]:
    """The functions that preprocessed headers declare, with their parameters."""
    text = _ATTRIBUTE.sub("", preprocessed)
    return {
        found["name"]: parameters_of(found["parameters"]) for found in _PROTOTYPE.finditer(text)
    }


def with_communicators(declared: Mapping[str, Sequence[str]]) -> dict[str, list[int]]:
    """Functions that take communicators by value, and which of their parameters, from 1, these
    are."""
    found = {
        name: [at for at, one in enumerate(parameters, 1) if _COMMUNICATOR.match(one)]
        for name, parameters in declared.items()
    }
    return {name: positions for name, positions in found.items() if positions}


def preprocessed(compiler: str, includes: Sequence[str]) -> str:
    """The headers of the MPI in `includes`, preprocessed. Raises SystemExit if there is none."""
    flags = [f"-I{folder}" for folder in includes]
    lines = [f'#if __has_include("{name}")\n#include "{name}"\n#endif\n' for name in HEADERS]
    done = subprocess.run(
        [compiler, "-E", "-P", "-xc", *flags, "-"],
        input="".join(lines),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0 or "MPI_Init" not in done.stdout:
        raise SystemExit(f"cannot read mpi.h (in {', '.join(includes)}):\n{done.stderr}")
    return done.stdout


def translated(declared: Mapping[str, Sequence[str]], family: str) -> dict[str, list[int]]:
    """All exported names whose communicators are replaced: those that begin with MPI and those that
    begin with PMPI, which Fortran's libraries call."""
    more = {**UNDECLARED} if family == "openmpi" else {}
    found = {**with_communicators(declared), **more}
    names: dict[str, list[int]] = {}
    for name, positions in sorted(found.items()):
        if name not in BY_HAND and name not in LEFT:
            names[name] = names[f"P{name}"] = positions
    return {**names, **(OF_MPICH if family == "mpich" else {})}


def fortran_names(family: str) -> dict[str, str]:
    """The names of functions for Fortran that lead to functions of ours, and to which."""
    if family != "openmpi":
        return {}
    return {
        name: f"forebay_fortran_{stem}"
        for stem in OF_OPEN_MPI
        for name in (
            f"ompi_{stem}_f",
            *(f"{p}mpi_{stem}{end}" for p in ("", "p") for end in ("", "_", "__")),
            *(f"{p}MPI_{stem.upper()}" for p in ("", "P")),
        )
    }


def trampolines(names: Mapping[str, Sequence[int]], fortran: Mapping[str, str]) -> str:
    """The assembly."""
    lines = [f"/* {NOTE} */", '#include "io_ranks/preload/trampolines.S.inc"', ""]
    for number, (name, positions) in enumerate(names.items()):
        lines.append(f"entry {name}")
        for at in positions:
            in_register = at <= len(REGISTERS)
            lines.append(
                f"    in_register {REGISTERS[at - 1]}"
                if in_register
                else f"    on_stack {8 * (at - len(REGISTERS))}"
            )
        lines.append(f"    go_on {name} {number}")
    lines += ["", *(f"lead {name} {ours}" for name, ours in fortran.items())]
    lines += ["", "slots_begin", *(f"slot {number}" for number in range(len(names))), "slots_end"]
    return "\n".join([*lines, ""])


def names_header(names: Mapping[str, Sequence[int]]) -> str:
    """The names, in the order of their slots."""
    rows = "\n".join(f'    "{name}",' for name in names)
    return (
        f"// {NOTE}\n#pragma once\n\nnamespace forebay::io_ranks {{\n\n"
        f"inline constexpr unsigned function_count = {len(names)};\n"
        f"inline constexpr const char* function_names[] = {{\n{rows}\n}};\n\n"
        "}  // namespace forebay::io_ranks\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--compiler", default="cc")
    parser.add_argument("--family", required=True)
    parser.add_argument("--include", action="append", default=[])
    arguments = parser.parse_args()
    declared = prototypes(preprocessed(arguments.compiler, arguments.include))
    names = translated(declared, arguments.family)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    assembly = trampolines(names, fortran_names(arguments.family))
    (arguments.folder / "trampolines.S").write_text(assembly, encoding="utf-8")
    (arguments.folder / "names.hpp").write_text(names_header(names), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
