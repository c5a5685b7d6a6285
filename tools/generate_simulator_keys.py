#!/usr/bin/env python3
"""Turns schema/simulator.toml into C++: the keys of forebay_sim's command lines with the members
that they set, and the parameters of the random load of other jobs."""

import json
import sys
import tomllib
from collections.abc import Callable, Sequence

from generate_settings import number
from generated_files import arguments_of, write_files

NOTE = "// Made by tools/generate_simulator_keys.py from schema/simulator.toml. Do not edit."
# For each kind, the unit, and whether values are integers.
KINDS = {
    "integer": ("", True),
    "switch": ("", True),
    "number": ("", False),
    "bytes": ("B", True),
    "seconds": ("s", False),
    "rate": ("B/s", False),
}
# For each command, the type whose members its keys set, and its header.
SUBJECTS = {
    "collective": ("CollectiveExperiment", "worlds/simulate/experiment.hpp"),
    "pool": ("PoolExperiment", "worlds/simulate/pool_experiment.hpp"),
    "io_ranks": ("IoRanksExperiment", "worlds/simulate/io_ranks_experiment.hpp"),
    "independent": ("IndependentExperiment", "worlds/simulate/independent.hpp"),
}


def text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def platform_keys(table: dict) -> str:
    rows = "".join(
        f"    {{{text(row['name'])}, {text(row['number'])}, {text(row['meaning'])}}},\n"
        for row in table["platform"]
    )
    return (
        f"{NOTE}\n#pragma once\n\nnamespace forebay::sim {{\n\n"
        "// A word that changes a number of the platform, and that number's name there.\n"
        "struct PlatformKey {\n    const char* name;\n    const char* number;\n"
        "    const char* meaning;\n};\n\n"
        f"inline constexpr PlatformKey platform_keys[] = {{\n{rows}}};\n\n"
        "}  // namespace forebay::sim\n"
    )


def key(row: dict, subject: str) -> str:
    if row["kind"] not in KINDS:
        raise SystemExit(f"simulator.toml: {row['name']}: unknown kind {row['kind']}")
    unit, whole = KINDS[row["kind"]]
    bounds = (0, 1) if row["kind"] == "switch" else (row["minimum"], row["maximum"])
    cells = [
        *map(text, (row["name"], row["meaning"], unit)),
        f"{{{number(bounds[0])}, {number(bounds[1])}, {json.dumps(whole)}}}",
        str(row.get("times", 1.0)),
    ]
    return (
        f"        settable<{subject}>(\n            {{{', '.join(cells)}}},\n"
        f"            []({subject}& one) -> auto& {{ return one.{row['place']}; }}),\n"
    )


def keys_of(command: str) -> Callable[[dict], str]:
    """The function that makes the header with a command's keys."""
    subject, header = SUBJECTS[command]

    def made(table: dict) -> str:
        rows: Sequence[dict] = [row for row in table["key"] if command in row["commands"]]
        return (
            f'{NOTE}\n#pragma once\n\n#include "{header}"\n'
            '#include "worlds/simulate/key_value_options.hpp"\n\n#include <vector>\n\n'
            f"namespace forebay::sim {{\n\n"
            f"inline std::vector<OptionKey<{subject}>> {command}_keys() {{\n"
            f"    return {{\n{''.join(key(row, subject) for row in rows)}    }};\n}}\n\n"
            "}  // namespace forebay::sim\n"
        )

    return made


def background_load(table: dict) -> str:
    rows = "".join(
        f"inline constexpr double {name} = {value};\n"
        for name, value in table["background_load"].items()
    )
    return (
        f"{NOTE}\n#pragma once\n\nnamespace forebay::sim {{\n\n{rows}\n"
        "}  // namespace forebay::sim\n"
    )


def main() -> int:
    given = arguments_of(__doc__).parse_args()
    table = tomllib.loads(given.table.read_text(encoding="utf-8"))
    for row in table["key"]:
        for command in row["commands"]:
            if command not in SUBJECTS:
                raise SystemExit(f"simulator.toml: {row['name']}: unknown command {command}")
    made = {f"{command}_keys.hpp": keys_of(command) for command in SUBJECTS}
    others = {"platform_keys.hpp": platform_keys, "background_load.hpp": background_load}
    write_files(given.folder, {**made, **others}, table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
