"""Turns layers.toml into CMake variables, so that the build and the checks read one table."""

import sys
import tomllib
from pathlib import Path


def cmake_list(values: list[str]) -> str:
    return ";".join(values)


def main() -> int:
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    layers = tomllib.loads(source.read_text(encoding="utf-8"))["layer"]
    lines = [f'set(FOREBAY_ALL_LAYERS "{cmake_list([layer["name"] for layer in layers])}")']
    for layer in layers:
        name = layer["name"].replace("/", "_")
        for key in ("parts", "uses", "test_uses", "packages"):
            lines.append(f'set(FOREBAY_{name}_{key} "{cmake_list(layer.get(key, []))}")')
        for key in ("program", "needs", "test_shards"):
            lines.append(f'set(FOREBAY_{name}_{key} "{layer.get(key, "")}")')
        for key in ("pure", "families"):
            lines.append(f"set(FOREBAY_{name}_{key} {'ON' if layer.get(key, False) else 'OFF'})")
    text = "\n".join(lines) + "\n"
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
