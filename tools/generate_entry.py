#!/usr/bin/env python3
"""Turns src/collective/mpi/functions.toml into code.

The table lists the intercepted functions; written by hand, they would be 184 copies of the same
code. Generated are the preload stub's trampolines (assembly) with their list of names, and the
core's entry points (C++) with their table, in the same order.
"""

import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from generated_files import arguments_of, write_files

DATA_CLASSES = ("write", "read", "begin_write", "begin_read")
START_CLASSES = ("start_write", "start_read")
CLASSES = (*DATA_CLASSES, *START_CLASSES, "real", "own", "end_write", "end_read", "left")
STARTS = {"explicit": "offset", "individual": "pointer", "shared": "shared_pointer"}
OURS = "forebay_file_"
FORTRAN = """\
#if defined(MPI_ABI_VERSION)
using MPI_Fint = int;  // the standard ABI's header has no types of Fortran
#endif

"""
NOTE = "// Made by tools/generate_entry.py from src/collective/mpi/functions.toml. Do not edit."


@dataclass(frozen=True)
class Function:
    """One function of MPI-IO; `name` is without the prefix MPI_File_."""

    name: str
    kind: str
    parameters: tuple[str, ...]
    returns: str = "int"
    reason: str = ""
    pointer: str = ""
    collective: bool = False

    @property
    def by_all_ranks(self) -> bool:
        return self.collective or self.kind not in ("real", "own", "left")

    @property
    def arguments(self) -> tuple[str, ...]:
        return tuple(parameter.split()[-1].lstrip("*") for parameter in self.parameters)


def twins(row: dict) -> list[Function]:
    """The function of one row of the table, and its large-count (_c) twin if it has one."""
    unknown = set(row) - {
        "name",
        "class",
        "parameters",
        "returns",
        "reason",
        "pointer",
        "collective",
        "large",
    }
    if unknown or row["class"] not in CLASSES:
        raise SystemExit(f"functions.toml: {row['name']}: unknown class or keys {sorted(unknown)}")
    plain = Function(
        name=row["name"],
        kind=row["class"],
        parameters=tuple(row["parameters"]),
        returns=row.get("returns", "int"),
        reason=row.get("reason", ""),
        pointer=row.get("pointer", ""),
        collective=row.get("collective", False),
    )
    if not row.get("large", False):
        return [plain]
    wide = tuple(p.replace("int count", "MPI_Count count") for p in plain.parameters)
    return [
        plain,
        Function(
            f"{plain.name}_c",
            plain.kind,
            wide,
            plain.returns,
            plain.reason,
            plain.pointer,
            plain.collective,
        ),
    ]


def read_table(path: Path) -> list[Function]:
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["function"]
    return [function for row in rows for function in twins(row)]


def trampolines(functions: list[Function]) -> str:
    """x86-64 assembly: each exported name jumps through its slot. The slot first points to code
    that pushes the function's number and jumps to the binder (lazy binding)."""
    note = f"/{NOTE[1:]} */".replace("//", "/*", 1)
    lines = [note, '#include "collective/preload/binder.S.inc"', ""]
    for number, function in enumerate(functions):
        lines.append(f"trampoline {function.name} {number}")
    lines += ["", "slots_begin"]
    lines += [f"slot {function.name}" for function in functions]
    lines += ["slots_end", ""]
    return "\n".join(lines)


def names_header(functions: list[Function]) -> str:
    names = "\n".join(f'    "PMPI_File_{function.name}",' for function in functions)
    return (
        f"{NOTE}\n#pragma once\n\nnamespace forebay::interposer {{\n\n"
        f"inline constexpr unsigned function_count = {len(functions)};\n"
        f"inline constexpr const char* function_names[] = {{\n{names}\n}};\n\n"
        "}  // namespace forebay::interposer\n"
    )


def call_of(function: Function, number: int) -> str:
    """The statement that is the body of an entry point."""
    arguments = function.arguments
    real = ", ".join(("on", *arguments[1:]))
    pass_on = f"[&](MPI_File on) noexcept {{ return real::{function.name}({real}); }}"
    start = f"AccessStart::{STARTS.get(function.pointer, '')}"
    where = "offset" if "offset" in arguments else "0"
    status = "status" if "status" in arguments else "nullptr"
    access = (
        f"{{{number}, fh, {start}, {where}, const_cast<void*>(buffer), count, datatype, {status}}}"
    )
    if function.kind in START_CLASSES:
        alone = pass_on.replace("_all", "")  # the independent function with the same arguments
        return f"    return take_{function.kind}({access}, {{request, {pass_on}, {alone}}});\n"
    if function.kind in DATA_CLASSES:
        return f"    return take_{function.kind}({access}, {pass_on});\n"
    if function.kind in ("end_write", "end_read"):
        return f"    return take_{function.kind}({{{number}, fh, status}}, {pass_on});\n"
    collective = str(function.collective).lower()
    left = f"{{{number}, fh, {start}, {where}, count, datatype, {collective}}}"
    return f"    return leave({left}, {pass_on});\n"


def entry_point(function: Function, number: int) -> str:
    parameters = ", ".join(function.parameters)
    return f"int {OURS}{function.name}({parameters}) noexcept {{\n{call_of(function, number)}}}\n"


def narrow_function(function: Function) -> str:
    """A substitute for a large-count function that the MPI lacks: it calls the older twin."""
    parameters = ", ".join(function.parameters)
    older = function.name.removesuffix("_c")
    arguments = ", ".join(
        {"count": "few", "datatype": "type"}.get(name, name) for name in function.arguments
    )
    return (
        f"int forebay_narrow_{function.name}({parameters}) noexcept {{\n"
        "    return narrowed(count, datatype, [&](int few, MPI_Datatype type) noexcept {\n"
        f"        return real::{older}({arguments});\n    }});\n}}\n"
    )


def narrow_functions(functions: list[Function]) -> str:
    wide = {f.name for f in functions if f.name.endswith("_c") and "count" in f.arguments}
    bodies = "\n".join(narrow_function(f) for f in functions if f.name in wide)
    rows = "\n".join(
        f"    reinterpret_cast<void*>(&forebay_narrow_{f.name}),"
        if f.name in wide or f.name == "get_type_extent_c"
        else "    nullptr,"
        for f in functions
    )
    return (
        f'{NOTE}\n#include "entry/functions.hpp"\n#include "collective/mpi/narrow.hpp"\n\n'
        f'namespace forebay::interposer {{\n\nextern "C" {{\n\n{bodies}\n}}\n\n'
        f"namespace {{\n\nvoid* const narrow[] = {{\n{rows}\n}};\n\n}}  // namespace\n\n"
        "void* const* narrow_table() noexcept {\n    return narrow;\n}\n\n"
        "}  // namespace forebay::interposer\n"
    )


def entry_points(functions: list[Function]) -> str:
    made = [(n, f) for n, f in enumerate(functions) if f.kind not in ("own", "real")]
    bodies = "\n".join(entry_point(function, number) for number, function in made)
    rows = "\n".join(
        "    nullptr,"
        if function.kind == "real"
        else f"    reinterpret_cast<void*>(&{OURS}{function.name}),"
        for function in functions
    )
    return (
        f'{NOTE}\n#include "collective/mpi/access.hpp"\n#include "entry/functions.hpp"\n\n'
        f'namespace forebay::interposer {{\n\nextern "C" {{\n\n{bodies}\n}}\n\n'
        f"namespace {{\n\nvoid* const table[] = {{\n{rows}\n}};\n\n}}  // namespace\n\n"
        "void* const* own_table() noexcept {\n    return table;\n}\n\n"
        "}  // namespace forebay::interposer\n"
    )


def functions_header(functions: list[Function]) -> str:
    """functions.hpp: declares the entry points, their numbers and their names."""
    declared = "\n".join(
        f"{f.returns} {OURS}{f.name}({', '.join(f.parameters)}) noexcept;"
        for f in functions
        if f.kind != "real"
    )
    real = "\n".join(
        f"inline {f.returns} {f.name}({', '.join(f.parameters)}) noexcept {{\n"
        f"    using Function = {f.returns} (*)({', '.join(f.parameters)});\n"
        f"    return reinterpret_cast<Function>(real_address({n}))({', '.join(f.arguments)});\n}}"
        for n, f in enumerate(functions)
        if f.name != "delete"  # a C++ keyword, and we never call it
    )
    names = "\n".join(f'    "MPI_File_{function.name}",' for function in functions)
    reasons = "\n".join(f'    "{function.reason}",' for function in functions)
    together = "\n".join(f"    {str(function.by_all_ranks).lower()}," for function in functions)
    return (
        f"{NOTE}\n#pragma once\n\n#include <cstddef>\n#include <mpi.h>\n\n{FORTRAN}"
        "namespace forebay::interposer {\n\n"
        f"inline constexpr std::size_t function_count = {len(functions)};\n"
        "[[nodiscard]] void* real_address(std::size_t number) noexcept;\n\n"
        "// The MPI's own functions, whatever name the program's calls are bound to.\n"
        f"namespace real {{\n{real}\n}}  // namespace real\n\n"
        f"inline constexpr const char* function_names[] = {{\n{names}\n}};\n"
        "// Why a function is always left to the MPI; empty where it is not.\n"
        f"inline constexpr const char* function_reasons[] = {{\n{reasons}\n}};\n"
        "// Whether every rank of the file makes the call.\n"
        f"inline constexpr bool function_is_collective[] = {{\n{together}\n}};\n"
        "// In the order above; nullptr: the MPI's own.\n"
        "[[nodiscard]] void* const* own_table() noexcept;\n\n"
        f'extern "C" {{\n{declared}\n}}\n\n}}  // namespace forebay::interposer\n'
    )


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--part", choices=("preload", "core", "names"), required=True)
    arguments = parser.parse_args()
    functions = read_table(arguments.table)
    if arguments.part == "names":
        print("\n".join(f"{p}_File_{f.name}" for f in functions for p in ("MPI", "PMPI")))
        return 0
    made = {
        "preload": {"trampolines.S": trampolines, "names.hpp": names_header},
        "core": {
            "functions.hpp": functions_header,
            "entry_points.cpp": entry_points,
            "narrow_functions.cpp": narrow_functions,
        },
    }[arguments.part]
    write_files(arguments.folder, made, functions)
    return 0


if __name__ == "__main__":
    sys.exit(main())
