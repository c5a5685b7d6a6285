#!/usr/bin/env python3
"""Turns schema/pool_messages.toml into C++: constants that the pool's clients and daemon share
(constants.hpp), and the requests and replies on the socket (messages.hpp)."""

import sys
import textwrap
import tomllib
from collections.abc import Sequence

from generated_files import arguments_of, write_files

NOTE = "// Made by tools/generate_messages.py from schema/pool_messages.toml. Do not edit."
WIDTH = 100
# For each kind, the type, its size in bytes, and the initial value in a message.
KINDS = {
    "u32": ("std::uint32_t", 4, " = 0"),
    "u64": ("std::uint64_t", 8, " = 0"),
    "i32": ("std::int32_t", 4, " = 0"),
    "i64": ("std::int64_t", 8, " = 0"),
    "ask": ("QuestionKind", 4, " = QuestionKind::hello"),
}


def comment(text: str, indent: str) -> str:
    """`text` as lines of a C++ comment, each with its newline; empty if there is no text."""
    lines = textwrap.wrap(text, WIDTH - len(indent) - len("// "))
    return "".join(f"{indent}// {line}\n" for line in lines)


def field_of(row: dict, table: dict) -> tuple[str, int]:
    """The declaration of a member, and its size in bytes."""
    if row["kind"] == "text":
        size = table["path_bytes"]
        declared = f"std::array<char, pool::path_bytes> {row['name']}{{}};"
    elif row["kind"] in KINDS:
        kind, size, initial = KINDS[row["kind"]]
        if row["name"] == "format":
            initial = " = pool::format"
        declared = f"{kind} {row['name']}{initial};"
    else:
        raise SystemExit(f"pool_messages.toml: {row['name']}: unknown kind {row['kind']}")
    return comment(row.get("doc", ""), "    ") + f"    {declared}\n", size


def message(name: str, rows: Sequence[dict], table: dict) -> str:
    """The C++ struct of a message. The static assertion on its size proves that there is no
    padding, so that readers of the table can compute each field's offset."""
    fields = [field_of(row, table) for row in rows]
    members = "".join(declared for declared, _ in fields)
    size = sum(size for _, size in fields)
    return f"struct {name} {{\n{members}}};\nstatic_assert(sizeof({name}) == {size});\n"


def constants(table: dict) -> str:
    states = "".join(
        comment(row.get("doc", ""), "    ") + f"    {row['name']} = {number},\n"
        for number, row in enumerate(table["file_state"])
    )
    return (
        f"{NOTE}\n#pragma once\n\n#include <cstddef>\n#include <cstdint>\n\n"
        "namespace forebay::pool {\n\n"
        f"inline constexpr std::uint64_t format = {table['format']:#x};\n"
        f"inline constexpr std::size_t path_bytes = {table['path_bytes']};\n\n"
        f"// The effect of writes to a file.\nenum class FileState : std::uint32_t {{\n{states}}};"
        "\n\n}  // namespace forebay::pool\n"
    )


def asks(rows: Sequence[dict]) -> str:
    text = ""
    for number, row in enumerate(rows, start=1):
        text += comment(f"Question: {row['carries']}. Reply: {row['reply']}.", "    ")
        text += f"    {row['name']} = {number},\n"
    return f"enum class QuestionKind : std::uint32_t {{\n{text}}};\n"


def flags(rows: Sequence[dict]) -> str:
    text = "// Bits of ClientQuestion::flags.\n"
    for row in rows:
        for flag in row.get("flags", []):
            text += comment(f"{row['name']}: {flag['doc']}.", "")
            text += f"inline constexpr std::uint32_t {flag['name']} = {flag['bit']};\n"
    return text


def messages(table: dict) -> str:
    rows = table["ask"]
    bounds = (
        f"inline constexpr QuestionKind first_ask = QuestionKind::{rows[0]['name']};\n"
        f"inline constexpr QuestionKind last_ask = QuestionKind::{rows[-1]['name']};\n"
    )
    parts = (
        asks(rows) + bounds,
        flags(rows),
        message("ClientQuestion", table["question"], table),
        message("DaemonReply", table["reply"], table),
    )
    return (
        f'{NOTE}\n#pragma once\n\n#include "pool_protocol/constants.hpp"\n\n#include <array>\n'
        "#include <cstdint>\n\nnamespace forebay::protocol {\n\n"
        + "\n".join(parts)
        + "\n}  // namespace forebay::protocol\n"
    )


def main() -> int:
    given = arguments_of(__doc__).parse_args()
    table = tomllib.loads(given.table.read_text(encoding="utf-8"))
    write_files(given.folder, {"constants.hpp": constants, "messages.hpp": messages}, table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
