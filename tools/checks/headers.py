"""Each header of src/ and benchmarks/ compiles alone (and twice in one file).

Most of a compile's time goes into what headers include. One run of the compiler therefore checks a
chain of headers, in which each header includes its predecessor: whatever the predecessor declares
is available to the header anyway, so the order hides no missing include. If a chain fails, each of
its headers is compiled by itself."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from checks import layer_table
from checks.report import Finding, Outcome, Place, run

BARE = ["c++", "-std=c++20", "-DFMT_HEADER_ONLY=1"]
# -include would add the precompiled header, and so hide missing includes.
_DROPPED_WITH_VALUE = {"-o", "-MF", "-MT", "-c", "-include"}
_DROPPED = {"-MD", "-Werror", "-Winvalid-pch"}


def flags_of(command: str) -> list[str]:
    """The compiler and its flags in an entry of compile_commands.json, without input and output."""
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


_UNITED = re.compile(r'^#include "(.+\.cpp)"$', re.MULTILINE)


def source_of(file: Path) -> Path:
    """The file itself, or the first source of a unity build's generated file."""
    if file.parent.name != "Unity":
        return file
    return Path(_UNITED.findall(file.read_text(encoding="utf-8"))[0])


def flags_by_layer(place: Place) -> Mapping[str, Sequence[str]]:
    """For each layer, the flags with which one of its sources is compiled."""
    database = place.build / "compile_commands.json"
    if not database.exists():
        return {}
    layers = layer_table.read(place.root / "layers.toml")
    below = (place.root / "src", place.root / "benchmarks")
    flags: dict[str, Sequence[str]] = {}
    for entry in json.loads(database.read_text(encoding="utf-8")):
        file = source_of(Path(entry["file"]))
        if file.suffix != ".cpp" or not any(file.is_relative_to(folder) for folder in below):
            continue
        layer = layer_table.layer_of(layers, layer_table.name_of(place.root, file))
        if layer is not None and (layer.name not in flags or file.stem.endswith("_test")):
            flags[layer.name] = flags_of(entry["command"])
    return flags


_INCLUDE = re.compile(r'^[ \t]*#\s*include\s*"([^"]+)"', re.MULTILINE)


def closures(paths: Mapping[str, Path]) -> Mapping[str, frozenset[str]]:
    """For each header, those of the headers that it includes directly or indirectly."""
    known = frozenset(paths)
    direct = {
        name: known & frozenset(_INCLUDE.findall(path.read_text(encoding="utf-8")))
        for name, path in paths.items()
    }
    found: dict[str, frozenset[str]] = {}
    for name in paths:
        seen: set[str] = set()
        waiting = list(direct[name])
        while waiting:
            if (other := waiting.pop()) not in seen:
                seen.add(other)
                waiting.extend(direct[other])
        found[name] = frozenset(seen)
    return found


def chains(
    includes: Mapping[str, frozenset[str]], flags: Mapping[str, Sequence[str]]
) -> Sequence[Sequence[str]]:
    """Divides all headers into chains: each header includes its predecessor and is compiled with at
    least the predecessor's flags."""
    made: list[list[str]] = []
    for name in sorted(includes, key=lambda name: (len(includes[name]), name)):
        fitting = [
            chain
            for chain in made
            if chain[-1] in includes[name] and set(flags[chain[-1]]) <= set(flags[name])
        ]
        if fitting:
            max(fitting, key=lambda chain: len(includes[chain[-1]])).append(name)
        else:
            made.append([name])
    return made


def first_error(names: Sequence[str], root: Path, flags: Sequence[str]) -> str:
    """The compiler's first error about these headers, or an empty text."""
    tests = f'-DFOREBAY_SOURCE_DIR="{root}"'  # a macro that headers of tests use
    folders = [f"-I{root / 'src'}", f"-I{root}"]
    command = [*(flags or BARE), tests, *folders, "-fsyntax-only", "-x", "c++", "-"]
    text = "".join(f'#include "{name}"\n' * 2 for name in names)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    errors = [line for line in done.stderr.splitlines() if "error" in line]
    return errors[0] if errors else done.stderr.strip()


def check(place: Place) -> Outcome:
    """Each header of src/ and benchmarks/ compiles alone (and twice in one file)."""
    layers = layer_table.read(place.root / "layers.toml")
    flags = flags_by_layer(place)
    used: dict[str, Sequence[str]] = {}
    paths = dict(layer_table.sources(place.root, "*.hpp"))
    for name in paths:
        layer = layer_table.layer_of(layers, name)
        if layer is not None and layer.families and layer.name not in flags:
            continue  # there is no MPI of this family, so nothing of the layer is compiled
        used[name] = flags.get(layer.name if layer else "", ())

    def errors_of(chain: Sequence[str]) -> Sequence[tuple[str, str]]:
        if not first_error(chain, place.root, used[chain[-1]]):
            return []
        return [(name, first_error([name], place.root, used[name])) for name in chain]

    included = closures({name: paths[name] for name in used})
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [one for errors in pool.map(errors_of, chains(included, used)) for one in errors]
    findings = [
        Finding(
            paths[name].relative_to(place.root).as_posix(),
            "does not compile alone",
            error,
            "Include what it uses.",
        )
        for name, error in found
        if error
    ]
    return Outcome(f"{len(used)} headers", findings)


if __name__ == "__main__":
    sys.exit(run(check))
