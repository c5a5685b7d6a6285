#!/usr/bin/env python3
"""Turns schema/ior_options.toml into C++: the options of forebay-ior, and the members they set."""

import json
import sys
import tomllib
from collections.abc import Sequence

from generated_files import arguments_of, write_files

NOTE = "// Made by tools/generate_ior_options.py from schema/ior_options.toml. Do not edit."
# For each kind, the type of the function that returns the member, and the member's type.
KINDS = {
    "flag": ("Flag", "bool"),
    "count": ("Number", "std::int64_t"),
    "number": ("Number", "std::int64_t"),
    "size": ("Number", "std::int64_t"),
    "rate": ("Number", "std::int64_t"),
    "text": ("Text", "std::string"),
}


def text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def row(option: dict) -> str:
    if option["kind"] == "limit":
        return f"    limit_spec({text(option['name'])}),\n"
    if option["kind"] not in KINDS:
        raise SystemExit(f"ior_options.toml: {option['name']}: unknown kind {option['kind']}")
    finder, member = KINDS[option["kind"]]
    cells = [
        f"'{option['letter']}'" if "letter" in option else r"'\0'",
        text(option.get("name", "")),
        f"OptionKind::{option['kind']}",
        f"{finder}{{[](IorOptions& to) -> {member}& {{ return to.{option['place']}; }}}}",
        text(option.get("meaning", "")),
        text(option.get("advice", "")),
    ]
    return f"    {{{', '.join(cells)}}},\n"


def rows(options: Sequence[dict]) -> str:
    return (
        f'{NOTE}\n#pragma once\n\n#include "benchmarks/ior/option_table.hpp"\n\n'
        "#include <cstdint>\n#include <string>\n\nnamespace forebay::ior {\n\n"
        f"inline constexpr OptionSpec option_rows[] = {{\n{''.join(map(row, options))}}};\n\n"
        "}  // namespace forebay::ior\n"
    )


def main() -> int:
    given = arguments_of(__doc__).parse_args()
    options = tomllib.loads(given.table.read_text(encoding="utf-8"))["option"]
    write_files(given.folder, {"rows.hpp": rows}, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
