"""Includes and link dependencies follow the directions in layers.toml."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from checks import binary, layer_table
from checks.layer_table import Layer, Layers
from checks.report import Finding, Outcome, Place, run

_INCLUDE = re.compile(r'^[ \t]*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
_FOR_TESTS = re.compile(r"_(test|fuzz|bench)\.cpp$|_check\.hpp$|/oracle\.hpp$")
_SOURCES = ("*.cpp", "*.hpp", "*.c", "*.h", "*.inc")

# A pure layer computes values from values, so it needs none of these headers.
_IMPURE = re.compile(
    r"^(thread|mutex|shared_mutex|condition_variable|future|semaphore|latch|barrier|stop_token"
    r"|chrono|ctime|time\.h|random|fstream|iostream|filesystem|csignal|cstdio|stdio\.h"
    r"|unistd\.h|fcntl\.h|pthread\.h|liburing\.h|hwloc\.h|sys/.*|linux/.*)$"
)


def table_findings(layers: Layers) -> Iterator[Finding]:
    """Findings about layers.toml itself: a layer uses only layers above it, so no cycle exists."""
    above: set[str] = set()
    for layer in layers.values():
        for name in sorted(layer.uses - above):
            yield Finding(
                "layers.toml",
                f"{layer.name} uses {name}, which is not above it",
                "the list is in order, so that no circle can be written",
                "Move the layers or drop the use.",
            )
        above.add(layer.name)


def include_findings(layers: Layers, root: Path) -> Iterator[Finding]:
    """Findings about the includes of all files below src/ and benchmarks/."""
    for name, path in layer_table.sources(root, *_SOURCES):
        shown = path.relative_to(root).as_posix()
        layer = layer_table.layer_of(layers, name)
        if layer is None:
            yield Finding(
                shown,
                "this folder is in no layer",
                "layers.toml names every layer",
                "Add a [[layer]] to layers.toml or move the file.",
            )
            continue
        if not _is_compiled(layer, name):
            yield Finding(
                shown,
                f"this folder is no part of {layer.name}",
                "layers.toml names the subfolders that are compiled with a layer",
                "Add it to the layer's `parts`.",
            )
        text = path.read_text(encoding="utf-8")
        for found in _INCLUDE.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            where = f"{shown}:{line}"
            if found[1]:
                exists = any((folder / found[1]).exists() for folder in (root / "src", root))
                yield from _own_include(layers, layer, where, found[1], exists)
            else:
                yield from _outside_include(layer, name, where, found[2])


def _is_compiled(layer: Layer, name: str) -> bool:
    """Whether CMake compiles the source with the layer: it is in the layer's folder or one of its
    `parts`, or in a folder `by_hand`, which has a CMakeLists.txt of its own."""
    folder = name.removeprefix(layer.name + "/").rpartition("/")[0]
    return not folder or folder in layer.parts or folder in layer.by_hand


def _own_include(
    layers: Layers, layer: Layer, where: str, included: str, exists: bool
) -> Iterator[Finding]:
    other = layer_table.layer_of(layers, included)
    if other is None:
        if exists:  # a header that does not exist here is generated, and the compiler finds it
            yield Finding(
                where,
                f'"{included}" is in no layer',
                "includes are written from src/",
                "Write the path from src/, or <…> for another project's header.",
            )
        return
    allowed = {layer.name} | layer.uses
    if _FOR_TESTS.search(where.partition(":")[0]):
        allowed |= layer.test_uses
    if other.name not in allowed:
        yield Finding(
            where,
            f"{layer.name} includes {included}",
            f"layers.toml lets {layer.name} use only {', '.join(sorted(layer.uses)) or 'nothing'}",
            "Move the code to where the direction is right, or pass what is needed through a port.",
        )


def _outside_include(layer: Layer, name: str, where: str, included: str) -> Iterator[Finding]:
    if included == "mpi.h" and not layer.families:
        yield Finding(
            where,
            f"{layer.name} includes mpi.h",
            "only layers with `families = true` know MPI",
            "Go through ports::Communicator.",
        )
    if layer.pure and not _FOR_TESTS.search(name) and _IMPURE.match(included):
        yield Finding(
            where,
            f"pure layer {layer.name} includes <{included}>",
            "it computes values from values and touches neither kernel, clock, thread nor file",
            "Move what needs it to engine, or take the value as an argument.",
        )


def link_findings(layers: Layers, archives: Path) -> Iterator[Finding]:
    """Findings about symbols that an archive takes from archives of layers it must not use."""
    present = {
        archive: (layer, binary.owned(archive))
        for layer, archive in layer_table.archives_in(archives, layers.values())
    }
    for archive, (layer, own) in present.items():
        wanted = {reference.symbol for reference in binary.references(archive)} - own
        allowed = layer_table.closure(layers, layer.name) | {layer.name}
        for other_archive, (other, theirs) in present.items():
            if other.name in allowed or other_archive == archive:
                continue
            for symbol in binary.demangle(sorted(wanted & theirs)):
                yield Finding(
                    archive.name,
                    f"{layer.name} links {symbol} of {other.name}",
                    f"layers.toml does not let {layer.name} use {other.name}",
                    "Turn the dependency round with a port.",
                )


def check(place: Place) -> Outcome:
    """Includes and link dependencies follow the directions of layers.toml."""
    layers = layer_table.read(place.root / "layers.toml")
    findings = [*table_findings(layers), *include_findings(layers, place.root)]
    archives = place.build / "archives"
    findings += link_findings(layers, archives)
    count = len(list(archives.glob("*.a")))
    return Outcome(f"{len(layers)} layers, {count} archives", findings)


if __name__ == "__main__":
    sys.exit(run(check))
