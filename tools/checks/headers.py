"""Each header of src/ compiles alone (and twice in one file)."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from checks import layer_table
from checks.report import Finding, Outcome, Place, run

BARE = ["c++", "-std=c++20", "-DFMT_HEADER_ONLY=1"]
# A precompiled header would lend a header what it does not include itself.
_DROPPED_WITH_VALUE = {"-o", "-MF", "-MT", "-c", "-include"}
_DROPPED = {"-MD", "-Werror", "-Winvalid-pch"}


def flags_of(command: str) -> list[str]:
    """The compiler and flags of one entry of compile_commands.json, without input and output."""
    words = shlex.split(command)
    launched = [number for number, word in enumerate(words) if Path(word).name == "ccache"]
    if launched:
        words = words[launched[0] + 1 :]
    kept: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in _DROPPED_WITH_VALUE:
            skip = True
        elif word not in _DROPPED and not word.startswith("-fsanitize"):
            kept.append(word)
    return kept


def flags_by_layer(place: Place) -> Mapping[str, Sequence[str]]:
    """Flags with which some source of each layer is compiled."""
    database = place.build / "compile_commands.json"
    if not database.exists():
        return {}
    layers = layer_table.read(place.root / "layers.toml")
    source = place.root / "src"
    flags: dict[str, Sequence[str]] = {}
    for entry in json.loads(database.read_text(encoding="utf-8")):
        file = Path(entry["file"])
        if file.suffix != ".cpp" or not file.is_relative_to(source):
            continue
        layer = layer_table.layer_of(layers, file.relative_to(source).as_posix())
        if layer is not None and (layer.name not in flags or file.stem.endswith("_test")):
            flags[layer.name] = flags_of(entry["command"])
    return flags


def first_error(header: Path, source: Path, flags: Sequence[str]) -> str:
    """The compiler's first complaint about `header` on its own; empty when there is none."""
    name = header.relative_to(source).as_posix()
    tests = f'-DFOREBAY_SOURCE_DIR="{source.parent}"'  # what headers of tests may ask for
    command = [*flags, tests, f"-I{source}", "-fsyntax-only", "-x", "c++", "-"]
    text = f'#include "{name}"\n#include "{name}"\n'
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    errors = [line for line in done.stderr.splitlines() if "error" in line]
    return errors[0] if errors else done.stderr.strip()


def check(place: Place) -> Outcome:
    """Each header of src/ compiles alone (and twice in one file)."""
    source = place.root / "src"
    layers = layer_table.read(place.root / "layers.toml")
    flags = flags_by_layer(place)
    headers = sorted(source.rglob("*.hpp"))

    def error_of(header: Path) -> str:
        layer = layer_table.layer_of(layers, header.relative_to(source).as_posix())
        if layer is not None and layer.families and layer.name not in flags:
            return ""  # no MPI here: nothing of this layer is compiled either
        return first_error(header, source, flags.get(layer.name if layer else "", BARE))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        errors = list(pool.map(error_of, headers))
    findings = [
        Finding(
            header.relative_to(place.root).as_posix(),
            "does not compile alone",
            error,
            "Include what it uses.",
        )
        for header, error in zip(headers, errors, strict=True)
        if error
    ]
    return Outcome(f"{len(headers)} headers", findings)


if __name__ == "__main__":
    sys.exit(run(check))
