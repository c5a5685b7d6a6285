"""layers.toml as types, and the questions the checks ask of it.

A layer's folder lies below src/, that of a layer `benchmarks/…` below the root. A header is
included by its path from there.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Layer:
    """One layer: what it may use, and what is special about it."""

    name: str
    uses: frozenset[str] = frozenset()
    test_uses: frozenset[str] = frozenset()
    pure: bool = False
    families: bool = False
    program: str = ""
    parts: frozenset[str] = frozenset()
    by_hand: frozenset[str] = frozenset()

    def archives(self) -> Sequence[str]:
        """Names of the archives that CMake makes of it; a program has none."""
        if self.program:
            return []
        stem = self.name.replace("/", "_")
        if self.families:
            return [f"libforebay_{stem}_{family}.a" for family in ("mpich", "openmpi")]
        return [f"libforebay_{stem}.a"]


Layers = Mapping[str, Layer]


def archives_in(folder: Path, layers: Iterable[Layer]) -> Iterator[tuple[Layer, Path]]:
    """The archives of these layers that have been built."""
    for layer in layers:
        for archive in layer.archives():
            if (folder / archive).exists():
                yield layer, folder / archive


def read(path: Path) -> Layers:
    """Reads layers.toml."""
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
    """(name, path) of the files that match, below src/ and benchmarks/; by its name a header is
    included."""
    for folder, named_from in ((root / "src", root / "src"), (root / "benchmarks", root)):
        for pattern in patterns:
            for path in sorted(folder.rglob(pattern)):
                yield path.relative_to(named_from).as_posix(), path


def name_of(root: Path, path: Path) -> str:
    """The name by which a source is known, of its path."""
    below = root if path.is_relative_to(root / "benchmarks") else root / "src"
    return path.relative_to(below).as_posix()


def layer_of(layers: Layers, path: str) -> Layer | None:
    """The layer of a source's name, by its longest matching folder."""
    names = [name for name in layers if path.startswith(name + "/")]
    return layers[max(names, key=len)] if names else None


def closure(layers: Layers, name: str) -> frozenset[str]:
    """Everything that `name` uses, directly or not."""
    seen: set[str] = set()
    waiting = list(layers[name].uses)
    while waiting:
        other = waiting.pop()
        if other not in seen and other in layers:
            seen.add(other)
            waiting.extend(layers[other].uses)
    return frozenset(seen)
