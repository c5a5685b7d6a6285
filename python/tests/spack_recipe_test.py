"""The Spack recipe imports, and says the same as the project's own files. Spack itself is replaced
by what the recipe takes of it: names that note what they are called with."""

import importlib.util
import re
import sys
import tomllib
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "packaging/spack/spack_repo/forebay/packages/forebay/package.py"
DIRECTIVES = ("conflicts", "depends_on", "license", "variant", "version")


class Prefix:
    """Any path below a prefix."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __getattr__(self, name: str) -> "Prefix":
        return Prefix(f"{self.path}/{name}")


class Package:
    """A package of the concrete spec."""

    def __init__(self, name: str) -> None:
        self.prefix = Prefix(f"/spack/{name}")
        self.command = Prefix(f"/spack/{name}/bin/{name}")
        self.mpicc = f"/spack/{name}/bin/mpicc"
        self.libs = (f"/spack/{name}/lib/lib{name}.so",)


class Spec:
    """A concrete spec that has some variants, on some MPI."""

    def __init__(self, *has: str) -> None:
        self._has = has

    def satisfies(self, text: str) -> bool:
        return text in self._has

    def __getitem__(self, name: str) -> Package:
        return Package(name)


class CMakePackage:
    """Spack's base class, as far as the recipe uses it."""

    spec: Spec

    def define(self, name: str, value: object) -> str:
        return f"-D{name}={value}"


@pytest.fixture
def recipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, list[tuple[str, Any, Any]]]]:
    """The recipe's class, and what its directives were called with."""
    said: list[tuple[str, Any, Any]] = []
    package = types.ModuleType("spack.package")
    for name in DIRECTIVES:

        def directive(*words: object, _name: str = name, **more: object) -> None:
            said.append((_name, words, more))

        setattr(package, name, directive)
    cmake = types.ModuleType("spack_repo.builtin.build_systems.cmake")
    cmake.CMakePackage = CMakePackage  # type: ignore[attr-defined]
    cmake.generator = lambda *_: None  # type: ignore[attr-defined]
    for name in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "spack.package", package)
    monkeypatch.setitem(sys.modules, "spack_repo.builtin.build_systems.cmake", cmake)
    spec = importlib.util.spec_from_file_location("forebay_recipe", RECIPE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Forebay, said


Recipe = tuple[Any, list[tuple[str, Any, Any]]]


def test_python_packages_are_those_of_the_wheel(recipe: Recipe) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {}
    extras = project["optional-dependencies"]
    for text in [*project["dependencies"], *extras["html"], *extras["tuning"]]:
        name, _, least = text.partition(">=")
        if "python_version" in text:
            continue  # the recipe takes a newer Python
        if name == "darshan":
            continue  # who has logs installs it; the command says so
        wanted[f"py-{name}"] = least
    found = {
        name: least.rstrip(":")
        for kind, (text, *_), _ in recipe[1]
        if kind == "depends_on" and text.startswith("py-")
        for name, _, least in [text.partition("@")]
    }
    assert found == wanted


def test_cmake_is_as_new_as_the_project_asks(recipe: Recipe) -> None:
    wanted = re.search(
        r"cmake_minimum_required\(VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()
    )
    assert wanted is not None
    assert ("depends_on", (f"cmake@{wanted[1]}:",), {"type": "build"}) in recipe[1]


LIBRARIES = {
    "fuse3": "libfuse",
    "sqlite3": "sqlite",
    "libsodium": "libsodium",
    "liburing": "liburing",
    "tomlplusplus": "tomlplusplus",
    "tl-expected": "tl-expected",
    "fmt": "fmt",
    "nlohmann_json": "nlohmann-json",
    "xxhash.h": "xxhash",
    "simgrid/s4u.hpp": "simgrid",
    "slurm/spank.h": "slurm",
}
"""Packages that CMake looks for, and their names in Spack."""
_LOOKED_FOR = re.compile(
    r"pkg_check_modules\(\w+ (?:REQUIRED |IMPORTED_TARGET )*([\w-]+)(?:>=([0-9.]+))?\)"
    r"|find_package\(([\w-]+)|find_path\(\w+ (\S+\.(?:h|hpp))\b"
)
_NO_PACKAGES = {"PkgConfig", "Threads", "smpi/smpi.h"}


def test_every_library_that_cmake_looks_for_is_depended_on(recipe: Recipe) -> None:
    asked = {text for kind, (text, *_), _ in recipe[1] if kind == "depends_on"}
    text = (ROOT / "cmake/packages.cmake").read_text()
    found = [
        (module or package or header, least)
        for module, least, package, header in _LOOKED_FOR.findall(text)
    ]
    assert {name for name, _ in found} - _NO_PACKAGES == set(LIBRARIES)
    for name, least in found:
        if name in LIBRARIES and least:
            assert f"{LIBRARIES[name]}@{least}:" in asked
        elif name in LIBRARIES:
            assert any(one.partition("@")[0] == LIBRARIES[name] for one in asked), name


@pytest.mark.parametrize(
    ("has", "family"),
    [(("^[virtuals=mpi] openmpi", "+hdf5"), "openmpi"), (("+hdf5",), "mpich")],
)
def test_every_argument_of_cmake_is_one_that_the_project_reads(
    recipe: Recipe, has: tuple[str, ...], family: str
) -> None:
    package = recipe[0]()
    package.spec = Spec(*has)
    read = (ROOT / "CMakeLists.txt").read_text()
    places = (
        ("cmake", "*.cmake"),
        ("src", "**/CMakeLists.txt"),
        ("benchmarks", "**/CMakeLists.txt"),
    )
    for folder, files in places:
        read += "".join(path.read_text() for path in (ROOT / folder).glob(files))
    arguments = package.cmake_args()
    assert len(arguments) == 8
    for argument in arguments:
        name = argument.removeprefix("-D").partition("=")[0]
        general = name.replace(f"_{family}", "_")
        known = name in read or f"{general}${{family}}" in read or name.startswith("Python3_")
        assert known, name
