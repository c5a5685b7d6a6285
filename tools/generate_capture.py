#!/usr/bin/env python3
"""Turns src/pool/capture/functions.toml into code.

The table lists the captured functions of libc. Five files are generated: libc's own functions by
name (real.hpp), declarations of the handlers (captured.hpp), the functions that the library
exports, which only call the handlers (exports.cpp), the handlers for wide characters, which are all
alike (wide_functions.cpp), and the dispatch of syscall(2) by number (numbers.cpp). All other
handlers are written by hand.
"""

import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from generated_files import arguments_of, write_files

NOTE = "// Made by tools/generate_capture.py from src/pool/capture/functions.toml. Do not edit."
KEYS = frozenset(
    "name also handler does returns parameters variadic assembly wide stream late"
    " numbers older_numbers newer_numbers may_be_missing missing_words if_captured if_holds"
    " number_only".split(),
)
DOES = frozenset({"own", "leave", "passed"})


@dataclass(frozen=True, kw_only=True)
class Function:
    """One function of libc. `names` are all names that it is exported as; `handler` is ours.

    For a function of wide characters, `wide` is what it returns on failure, and `stream` its
    stream. `numbers` are the C++ names of the system calls that do the same: syscall(2) with such a
    number calls the handler if one of the parameters `if_captured` is a captured descriptor, or the
    predicate `if_holds` is true. Not every machine has the system calls of `older_numbers`, which
    are among the `numbers`."""

    names: tuple[str, ...]
    handler: str
    returns: str
    parameters: tuple[str, ...]
    variadic: bool
    assembly: bool
    wide: str
    stream: str
    late: bool
    numbers: tuple[str, ...]
    older_numbers: frozenset[str]
    may_be_missing: bool
    missing_words: str
    if_captured: tuple[str, ...]
    if_holds: str
    number_only: bool

    @property
    def arguments(self) -> tuple[str, ...]:
        return tuple(parameter.split()[-1].lstrip("*") for parameter in self.parameters)

    def declared(self, name: str) -> str:
        """The declaration of the handler as `name`; it takes variable arguments as a va_list."""
        rest = ("va_list rest",) if self.variadic else ()
        return f"{self.returns} {name}({', '.join((*self.parameters, *rest))}) noexcept"


def function_of(row: dict) -> Function:
    unknown = set(row) - KEYS
    if unknown or row["does"] not in DOES:
        raise SystemExit(f"functions.toml: {row['name']}: unknown class or keys {sorted(unknown)}")
    older = tuple(f"SYS_{number}" for number in row.get("older_numbers", []))
    return Function(
        names=(row["name"], *row.get("also", [])),
        handler=row.get("handler", row["name"]),
        returns=row.get("returns", "int"),
        parameters=tuple(row["parameters"]),
        variadic=row.get("variadic", False),
        assembly=row.get("assembly", False),
        wide=row.get("wide", ""),
        stream=f"::{row['stream']}" if "stream" in row else "stream",
        late=row.get("late", False),
        numbers=(
            *(f"SYS_{number}" for number in row.get("numbers", [])),
            *older,
            *(f"kernel::number::{number}" for number in row.get("newer_numbers", [])),
        ),
        older_numbers=frozenset(older),
        may_be_missing=row.get("may_be_missing", False),
        missing_words=row.get("missing_words", "").strip(),
        if_captured=tuple(row.get("if_captured", [])),
        if_holds=row.get("if_holds", ""),
        number_only=row.get("number_only", False),
    )


def read_table(path: Path) -> list[Function]:
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["function"]
    return [function_of(row) for row in rows]


def system_call_of(number: int, function: Function) -> str:
    """A case of by_system_call(): a function that makes the system call."""
    words = function.missing_words or ", ".join(
        (
            function.numbers[0],
            *(f"kernel::word_of({argument})" for argument in function.arguments),
        )
    )
    return (
        f"        case {number}:\n            return reinterpret_cast<void*>("
        f"+[]({', '.join(function.parameters)}) noexcept {{\n                "
        f"return static_cast<{function.returns}>("
        f"kernel::system_call({words}));\n            }});"
    )


def real_header(all_functions: list[Function]) -> str:
    """real.hpp: libc's functions, called at the address that the loader has for the first name."""
    functions = [function for function in all_functions if not function.number_only]
    names = "\n".join(f'    "{function.names[0]}",' for function in functions)
    late = "\n".join(f"    {str(function.late).lower()}," for function in functions)
    calls = "\n".join(
        f"inline {f.returns} {f.handler}({', '.join(f.parameters)}) noexcept {{\n"
        f"    using Function = {f.returns} (*)({', '.join(f.parameters)});\n"
        f"    return reinterpret_cast<Function>(real_address({number}))"
        f"({', '.join(f.arguments)});\n}}"
        for number, f in enumerate(functions)
        if not f.variadic
    )
    by_system_call = "\n".join(
        system_call_of(number, f) for number, f in enumerate(functions) if f.may_be_missing
    )
    return (
        f'{NOTE}\n#pragma once\n\n#include "foundation/kernel/newer_linux.hpp"\n'
        '#include "foundation/kernel/system_call.hpp"\n'
        '#include "pool/capture/calls/libc.hpp"\n\n#include <sys/syscall.h>\n\n'
        "namespace forebay::capture {\n\n"
        f"inline constexpr std::size_t function_count = {len(functions)};\n"
        f"inline constexpr const char* function_names[] = {{\n{names}\n}};\n"
        "// Looked for when they are called first.\n"
        f"inline constexpr bool function_is_late[] = {{\n{late}\n}};\n\n"
        "using RealAddresses = std::array<std::atomic<void*>, function_count>;\n"
        "extern RealAddresses real_addresses;  // of process.cpp\n"
        "void* find_real(std::size_t number) noexcept;\n"
        "[[nodiscard]] inline void* real_address(std::size_t number) noexcept {\n"
        "    void* const known = real_addresses[number].load(std::memory_order_relaxed);\n"
        "    return known != nullptr ? known : find_real(number);\n}\n\n"
        "// Takes the place of a function that an older libc lacks; null for the others.\n"
        "[[nodiscard]] inline void* by_system_call(std::size_t place) noexcept {\n"
        f"    switch (place) {{\n{by_system_call}\n        default: return nullptr;\n    }}\n}}\n\n"
        f"namespace real {{\n\n{calls}\n\n}}  // namespace real\n\n"
        "}  // namespace forebay::capture\n"
    )


def captured_header(functions: list[Function]) -> str:
    declared = "\n".join(f"{function.declared(function.handler)};" for function in functions)
    return (
        f'{NOTE}\n#pragma once\n\n#include "pool/capture/calls/libc.hpp"\n\n'
        f"namespace forebay::capture::captured {{\n\n{declared}\n\n"
        "}  // namespace forebay::capture::captured\n"
    )


def exported(function: Function, name: str) -> str:
    """The definition of one exported function: it has a unique name in C++, and the name of libc's
    function as its symbol."""
    label = f"forebay_captured_{name}"
    rest = ("...",) if function.variadic else ()
    parameters = ", ".join((*function.parameters, *rest))
    declared = f"{function.returns} {label}({parameters}) noexcept"
    call = f"forebay::capture::captured::{function.handler}"
    if function.variadic:
        result = (
            f"    va_list rest;\n    va_start(rest, {function.arguments[-1]});\n"
            f"    const auto result = {call}({', '.join((*function.arguments, 'rest'))});\n"
            "    va_end(rest);\n    return result;\n"
        )
    else:
        result = f"    return {call}({', '.join(function.arguments)});\n"
    return (
        f'[[gnu::visibility("default")]] {declared} __asm__("{name}");\n{declared} {{\n{result}}}\n'
    )


def exports(functions: list[Function]) -> str:
    bodies = "\n".join(
        exported(function, name)
        for function in functions
        if not function.assembly and not function.number_only
        for name in function.names
    )
    return f'{NOTE}\n#include "capture/captured.hpp"\n\nextern "C" {{\n\n{bodies}\n}}\n'


def wide_function(function: Function) -> str:
    """The handler for a function of wide characters: calls libc's function once the stream is ready
    for it. A variadic function calls its twin with a va_list."""
    if function.variadic:
        arguments = ", ".join((*function.arguments, "rest"))
        result = f"captured::v{function.handler}({arguments})"
    else:
        call = f"real::{function.handler}({', '.join(function.arguments)})"
        result = f"ready_for_wide({function.stream}) ? {call} : {function.wide}"
    return f"{function.declared(function.handler)} {{\n    return {result};\n}}\n"


def wide_functions(functions: list[Function]) -> str:
    bodies = "\n".join(wide_function(function) for function in functions if function.wide)
    return (
        f'{NOTE}\n#include "capture/captured.hpp"\n#include "capture/real.hpp"\n'
        '#include "pool/capture/calls/wide.hpp"\n\n'
        f"namespace forebay::capture::captured {{\n\n{bodies}\n"
        "}  // namespace forebay::capture::captured\n"
    )


def condition(function: Function) -> str:
    """The C++ condition under which a system call by number is ours; words[0] is its first
    argument."""
    if function.if_holds:
        return f"{function.if_holds}(words)"
    tests = " || ".join(
        f"concerns(words[{function.arguments.index(name)}])" for name in function.if_captured
    )
    return tests or "true"


def call_by_number(function: Function) -> str:
    """The C++ call of the handler; arguments and result are converted from and to words."""
    types = [parameter.rsplit(None, 1)[0] for parameter in function.parameters]
    arguments = ", ".join(f"as<{kind}>(words[{at}])" for at, kind in enumerate(types))
    call = f"captured::{function.handler}({arguments})"
    if function.returns == "void":
        return f"{call};\n            return 0"
    return f"return word({call})"


def numbers_source(functions: list[Function]) -> str:
    """numbers.cpp: a table of the numbers, whether a call is ours, and the call itself."""
    rows = [(number, function) for function in functions for number in function.numbers]

    def lines(line_of: Callable[[str, Function], str]) -> str:
        return "\n".join(
            f"#if defined({number})\n{line_of(number, function)}\n#endif"
            if number in function.older_numbers
            else line_of(number, function)
            for number, function in rows
        )

    listed = lines(lambda number, _: f"    {number},")
    conditions = lines(lambda number, one: f"        case {number}: return {condition(one)};")
    calls = lines(lambda number, one: f"        case {number}:\n            {call_by_number(one)};")
    return (
        f'{NOTE}\n#include "capture/captured.hpp"\n#include "foundation/kernel/newer_linux.hpp"\n'
        '#include "pool/capture/calls/numbers.hpp"\n\n#include <sys/syscall.h>\n\n'
        "namespace forebay::capture {\n\n"
        f"constexpr int numbers[] = {{\n{listed}\n}};\n\n"
        "bool is_ours(long number, const long* words) noexcept {\n"
        f"    switch (number) {{\n{conditions}\n        default: return false;\n    }}\n}}\n\n"
        "long call_by_number(long number, const long* words) noexcept {\n"
        f"    switch (number) {{\n{calls}\n        default: return -1;\n    }}\n}}\n\n"
        "}  // namespace forebay::capture\n\n"
        'extern "C" {\n'
        "extern const forebay::capture::NumberTable forebay_numbers;\n"
        "constinit const forebay::capture::NumberTable forebay_numbers =\n"
        "    forebay::capture::table_of(forebay::capture::numbers);\n}\n"
    )


def main() -> int:
    arguments = arguments_of(__doc__).parse_args()
    functions = read_table(arguments.table)
    made = {
        "real.hpp": real_header,
        "captured.hpp": captured_header,
        "exports.cpp": exports,
        "wide_functions.cpp": wide_functions,
        "numbers.cpp": numbers_source,
    }
    write_files(arguments.folder, made, functions)
    return 0


if __name__ == "__main__":
    sys.exit(main())
