"""Prints the PyPI packages that .venv needs: those of pyproject.toml, and tools for a purpose."""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def project_requirements(pyproject: Path) -> list[str]:
    """The dependencies of the Python package, with those of its extras, which the demo needs."""
    if not pyproject.exists():
        return []
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    found: list[str] = list(project.get("dependencies", []))
    for names in project.get("optional-dependencies", {}).values():
        found += names
    return found


def listed(path: Path, purpose: str) -> list[str]:
    """The packages in requirements.txt (`name==version  # purpose`) that `purpose` needs."""
    wanted = {"demo"} if purpose == "demo" else {"demo", "test"}
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        name, _, first = line.partition("#")
        if name.strip() and first.strip() in wanted:
            found.append(name.strip())
    return found


def main() -> int:
    packages = project_requirements(ROOT / "pyproject.toml")
    packages += listed(Path(__file__).with_name("requirements.txt"), sys.argv[1])
    print("\n".join(package.replace(" ", "") for package in packages))
    return 0


if __name__ == "__main__":
    sys.exit(main())
