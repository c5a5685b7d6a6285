"""Tests what is said where there is no apt, with a PATH in which only some programs are."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CI = Path(__file__).resolve().parent
ROOT = CI.parents[1]
BASE = ("bash", "dirname", "sed", "env")
PROGRAMS = ("cmake", "ninja", "pkg-config", "ccache")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the scripts and their tables, with a PATH without apt and compilers, and a C++
    compiler that has every header but those in the file `missing`."""
    (tmp_path / "tools/ci").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    for name in ("packages.sh", "rpm_packages.sh"):
        shutil.copy(CI / name, tmp_path / "tools/ci")
    for name in ("apt-packages.txt", "rpm-packages.txt"):
        shutil.copy(ROOT / name, tmp_path)
    for name in BASE + PROGRAMS:
        there = shutil.which(name) or shutil.which("true")
        assert there is not None
        (tmp_path / "bin" / name).symlink_to(there)
    python = tmp_path / "bin/python3"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    compiler = tmp_path / "bin/c++"
    compiler.write_text(
        '#!/bin/bash\nread -r line\nfor name in $(< "$FOREBAY_TEST_MISSING"); do\n'
        '    case $line in *"$name"*) exit 1 ;; esac\ndone\n'
    )
    compiler.chmod(0o755)
    (tmp_path / "missing").touch()
    return tmp_path


def said(tree: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": f"{tree}/bin", "FOREBAY_TEST_MISSING": str(tree / "missing"), **more}
    bash = shutil.which("bash")
    assert bash is not None
    return subprocess.run(
        [bash, tree / "tools/ci/packages.sh", "demo"],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
    )


def test_where_all_is_there_nothing_is_said(tree: Path) -> None:
    done = said(tree)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_is_missing_is_named_as_dnf_and_zypper_name_it(tree: Path) -> None:
    (tree / "missing").write_text("nlohmann/json.hpp tl/expected.hpp")
    (tree / "bin/ninja").unlink()
    done = said(tree)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    (line,) = [line for line in lines if "nlohmann/json.hpp" in line]
    assert line.split()[1:] == ["dnf:", "json-devel", "zypper:", "nlohmann_json-devel"]
    assert "  dnf install ninja-build expected-devel json-devel" in lines
    assert "  zypper install ninja nlohmann_json-devel" in lines  # it has no package of the other


@pytest.mark.parametrize(
    ("missing", "package"), [("liburing.h", "liburing-devel"), ("libstdc++.a", "libstdc++-static")]
)
def test_without_what_may_be_missing_it_is_built(tree: Path, missing: str, package: str) -> None:
    (tree / "missing").write_text(missing)
    done = said(tree)
    assert done.returncode == 0
    assert package in done.stdout


def test_headers_of_loaded_modules_are_there(tree: Path) -> None:
    (tree / "missing").write_text("toml++/toml.h")
    (tree / "prefix/include/toml++").mkdir(parents=True)
    (tree / "prefix/include/toml++/toml.h").touch()
    assert said(tree).returncode == 1
    assert said(tree, CMAKE_PREFIX_PATH=f"/opt/none:{tree}/prefix").returncode == 0


def test_a_compiler_that_is_too_old_is_named(tree: Path) -> None:
    (tree / "bin/g++-8").write_text("#!/bin/sh\nexit 1\n")
    (tree / "bin/g++-8").chmod(0o755)
    assert "a C++20 compiler (g++-8, or CXX)" in said(tree, CXX="g++-8").stderr


def test_every_package_of_a_build_is_looked_for(tree: Path) -> None:
    """A package that the build begins to need is named for those without apt, too."""
    lines = [line.split() for line in (ROOT / "apt-packages.txt").read_text().splitlines()]
    builds = {line[0] for line in lines if line[0] != "#" and line[1] == "build"}
    of_mpis = {"libmpich-dev", "mpich", "libopenmpi-dev", "openmpi-bin"}  # mpi_families.cmake
    of_tests = {"libgtest-dev", "libgmock-dev", "librapidcheck-dev"}
    with_others = {"gcc", "python3-venv", "python3-dev", "fuse3"}
    rows = (ROOT / "rpm-packages.txt").read_text().splitlines()
    looked_for = [row for row in rows if row and not row.startswith("#")]
    # On Debian, the compiler's archives come with it.
    alike = [row for row in looked_for if not row.startswith("archive:")]
    assert len(builds - of_mpis - of_tests - with_others) == len(alike)
    assert all(len(row.split()) == 4 for row in looked_for)


def test_where_there_is_apt_it_is_asked(tree: Path) -> None:
    for name in ("apt-get", "dpkg-query"):
        (tree / "bin" / name).write_text("#!/bin/sh\necho ok installed\n")
        (tree / "bin" / name).chmod(0o755)
    (tree / "bin/grep").symlink_to(shutil.which("grep") or os.devnull)
    (tree / "missing").write_text("sodium.h")
    done = said(tree)
    assert (done.returncode, done.stderr) == (0, "")
