"""Reads layers.toml, and answers the checks' questions about it.

The folder of a layer is below src/; that of a layer `benchmarks/…` is below the root. Headers are
included by their path from there.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Layer:
    """A layer: the layers that it and its tests may use, and its special properties."""

    name: str
    uses: frozenset[str] = frozenset()
    test_uses: frozenset[str] = frozenset()
    pure: bool = False
    families: bool = False
    program: str = ""
    parts: frozenset[str] = frozenset()
    by_hand: frozenset[str] = frozenset()

    def archives(self) -> Sequence[str]:
        """The names of the archives that CMake builds for it; none for a program."""
        if self.program:
            return []
        stem = self.name.replace("/", "_")
        if self.families:
            return [f"libforebay_{stem}_{family}.a" for family in ("mpich", "openmpi", "abi")]
        return [f"libforebay_{stem}.a"]


Layers = Mapping[str, Layer]


def archives_in(folder: Path, layers: Iterable[Layer]) -> Iterator[tuple[Layer, Path]]:
    """Those archives of the layers that have been built."""
    for layer in layers:
        for archive in layer.archives():
            if (folder / archive).exists():
                yield layer, folder / archive


def read(path: Path) -> Layers:
    """The layers in the file, in its order."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))["layer"]
    return {
        entry["name"]: Layer(
            name=entry["name"],
            uses=frozenset(entry.get("uses", [])),
            test_uses=frozenset(entry.get("test_uses", [])),
            pure=entry.get("pure", False),
            families=entry.get("families", False),
            program=entry.get("program", ""),
            parts=frozenset(entry.get("parts", [])),
            by_hand=frozenset(entry.get("by_hand", [])),
        )
        for entry in table
    }


def sources(root: Path, *patterns: str) -> Iterator[tuple[str, Path]]:
    """(name, path) of the files below src/ and benchmarks/ that match one of the patterns. The name
    is the path by which a header is included."""
    for folder, named_from in ((root / "src", root / "src"), (root / "benchmarks", root)):
        for pattern in patterns:
            for path in sorted(folder.rglob(pattern)):
                yield path.relative_to(named_from).as_posix(), path


def name_of(root: Path, path: Path) -> str:
    """The name of a source: its path as an include would spell it."""
    below = root if path.is_relative_to(root / "benchmarks") else root / "src"
    return path.relative_to(below).as_posix()


def layer_of(layers: Layers, path: str) -> Layer | None:
    """The layer whose folder is the longest prefix of the source's name, or None."""
    names = [name for name in layers if path.startswith(name + "/")]
    return layers[max(names, key=len)] if names else None


def closure(layers: Layers, name: str) -> frozenset[str]:
    """All layers that the layer `name` uses directly or indirectly."""
    seen: set[str] = set()
    waiting = list(layers[name].uses)
    while waiting:
        other = waiting.pop()
        if other not in seen and other in layers:
            seen.add(other)
            waiting.extend(layers[other].uses)
    return frozenset(seen)
