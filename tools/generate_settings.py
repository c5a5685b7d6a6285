#!/usr/bin/env python3
"""Turns schema/settings.toml into the native libraries' table of settings (a C++ header)."""

import json
import re
import sys
import tomllib
from pathlib import Path

UNITS = {"": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}
KINDS = {
    "bool": "bool_",
    "integer": "integer",
    "bytes": "bytes",
    "enum": "enum_",
    "string": "string",
    "strings": "strings",
}
NO_LIMIT = (0, (1 << 63) - 1)


def number(value: int | str) -> int:
    """The value of an integer, or of a size such as "64 KiB"."""
    if isinstance(value, int):
        return value
    match = re.fullmatch(r"(\d+)\s*([A-Za-z]*)", value)
    if match is None:
        raise SystemExit(f"settings.toml: {value!r} is not an amount of bytes")
    return int(match[1]) * UNITS[match[2].lower()]


def text(value: object) -> str:
    """The canonical text of a default, as the native parser reads it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(value)
    return str(value)


def row(setting: dict) -> str:
    if setting["kind"] not in KINDS:
        raise SystemExit(f"settings.toml: {setting['name']}: unknown kind {setting['kind']}")
    low = number(setting.get("minimum", NO_LIMIT[0]))
    high = number(setting.get("maximum", NO_LIMIT[1]))
    choices = "|".join(setting.get("choices", []))
    cells = [
        json.dumps(setting["name"]),
        f"SettingKind::{KINDS[setting['kind']]}",
        json.dumps(text(setting["default"])),
        str(low),
        str(high),
        json.dumps(choices),
        json.dumps(setting.get("hint", "")),
    ]
    return f"    {{{', '.join(cells)}}},"


def header(settings: list[dict]) -> str:
    names = "\n".join(f"    {setting['name']}," for setting in settings)
    rows = "\n".join(row(setting) for setting in settings)
    return (
        "// Made by tools/generate_settings.py from schema/settings.toml. Do not edit.\n"
        "#pragma once\n\n#include <cstddef>\n#include <cstdint>\n\nnamespace forebay {\n\n"
        f"enum class SettingKind {{ {', '.join(KINDS.values())} }};\n\n"
        f"enum class Setting : std::size_t {{\n{names}\n}};\n"
        f"inline constexpr std::size_t setting_count = {len(settings)};\n\n"
        "struct SettingRow {\n    const char* name;\n    SettingKind kind;\n"
        "    const char* standard;\n    std::int64_t minimum;\n    std::int64_t maximum;\n"
        "    const char* choices;  // separated by |\n"
        "    const char* hint;     // MPI_Info key, or empty\n};\n\n"
        f"inline constexpr SettingRow setting_rows[] = {{\n{rows}\n}};\n\n"
        "}  // namespace forebay\n"
    )


def main() -> int:
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    settings = tomllib.loads(source.read_text(encoding="utf-8"))["setting"]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(header(settings), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
