"""Tests when build.sh configures a preset for the first time, and when it does so again."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

CI = Path(__file__).resolve().parent
# Stand-ins for slow programs and for the package manager; cmake notes its arguments in `asked`.
CMAKE = """#!/bin/sh
echo "$*" >> asked
case $1 in --preset)
    mkdir -p build/release/CMakeFiles/a.dir
    touch build/release/build.ninja build/release/CMakeFiles/a.dir/a.o
    case $* in *--fresh*) rm -r build/release/CMakeFiles ;; esac
    for word; do case $word in -DF*) echo "${word#-D}" ;; esac; done > build/release/CMakeCache.txt
    echo SIMGRID:FILEPATH=SIMGRID-NOTFOUND >> build/release/CMakeCache.txt ;;
esac
"""
DPKG = "#!/bin/sh\ncat installed\n"
CCACHE = "#!/bin/sh\nprintf 'files_in_cache\\t%s\\n' $(cat cached)\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tools" / "ci").mkdir(parents=True)
    shutil.copy(CI / "build.sh", tmp_path / "tools" / "ci")
    (tmp_path / "apt-packages.txt").write_text("# names\ncmake   build\nlibsimgrid-dev   test\n")
    (tmp_path / "CMakePresets.json").touch()
    (tmp_path / "cached").write_text("2000")
    for name, text in (("cmake", CMAKE), ("dpkg-query", DPKG), ("ccache", CCACHE)):
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    return tmp_path


def configured(tree: Path, *installed: str, **named: str) -> list[str]:
    """Runs build.sh with these packages installed, and with `named` in the environment; returns
    how it configured the preset."""
    lines = [f"{name} 1.0 install ok installed\n" for name in installed]
    (tree / "installed").write_text("".join(lines))
    (tree / "asked").unlink(missing_ok=True)
    environment = {**os.environ, **named, "PATH": f"{tree}/bin:{os.environ['PATH']}"}
    subprocess.run(["bash", tree / "tools/ci/build.sh"], check=True, env=environment)
    return [line for line in (tree / "asked").read_text().splitlines() if "--preset" in line]


AT_ONCE = "-DFOREBAY_PRECOMPILED:BOOL=ON -DFOREBAY_UNITY:BOOL=ON"


def test_a_tree_configured_before_simgrid_came_is_configured_anew(tree: Path) -> None:
    assert configured(tree, "cmake") == ["--preset release -Wno-dev"]
    cache = tree / "build/release/CMakeCache.txt"
    cache.write_text("what was not found\n")
    assert configured(tree, "cmake", "libsimgrid-dev") == ["--preset release -Wno-dev"]
    assert "what was not found" not in cache.read_text()
    assert configured(tree, "cmake", "libsimgrid-dev") == []


def test_where_there_are_no_packages_it_is_configured_once(tree: Path) -> None:
    assert configured(tree) == ["--preset release -Wno-dev"]
    assert configured(tree) == []


def test_where_ccache_has_nothing_a_layer_is_one_source(tree: Path) -> None:
    (tree / "cached").write_text("3")
    assert configured(tree) == [f"--preset release -Wno-dev {AT_ONCE}"]
    assert configured(tree) == []


def test_a_package_that_comes_has_nothing_compiled_again_in_another_way(tree: Path) -> None:
    """Regression: after `make demo`, everything was compiled again without unity builds, though no
    source had changed."""
    (tree / "cached").write_text("3")
    first = configured(tree, "cmake")
    (tree / "cached").write_text("2000")  # another program has filled the cache meanwhile
    assert configured(tree, "cmake", "libsimgrid-dev") == first
    assert (tree / "build/release/CMakeFiles/a.dir/a.o").is_file()
    assert configured(tree, "libsimgrid-dev") == first


def test_a_tree_that_was_made_without_unity_stays_so(tree: Path) -> None:
    assert configured(tree, "cmake") == ["--preset release -Wno-dev"]
    (tree / "cached").write_text("3")
    assert configured(tree, "cmake", "libsimgrid-dev") == ["--preset release -Wno-dev"]


def test_an_mpi_that_is_named_later_has_the_tree_configured_anew(tree: Path) -> None:
    plain = ["--preset release -Wno-dev"]
    assert configured(tree) == plain
    assert configured(tree, FOREBAY_MPICC="/opt/mpi/bin/mpicc") == plain
    with (tree / "build/release/CMakeCache.txt").open("a") as cache:  # as CMake does
        cache.write("FOREBAY_MPICC:STRING=/opt/mpi/bin/mpicc\n")
    assert configured(tree, FOREBAY_MPICC="/opt/mpi/bin/mpicc") == []
    assert configured(tree) == []
    assert configured(tree, FOREBAY_MPICC="/opt/other/bin/mpicc") == plain


def test_only_developers_and_ci_take_warnings_for_errors() -> None:
    presets = json.loads((CI.parents[1] / "CMakePresets.json").read_text())["configurePresets"]
    named = {preset["name"]: preset for preset in presets}

    def value(name: str) -> str:
        preset = named[name]
        own = preset.get("cacheVariables", {}).get("FOREBAY_WERROR")
        return str(own or (value(preset["inherits"]) if "inherits" in preset else "OFF"))

    strict = {name for name in named if value(name) == "ON"} - {"developer"}
    assert strict == set(named) - {"base", "developer", "release"}


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("[1/2] Building a.o\n", 0),
        ("a.cpp:3:5: warning: unused variable 'x' [-Wunused-variable]\n", 1),
        ("ld: warning: x.o: missing .note.GNU-stack section\n", 0),
    ],
)
def test_ci_fails_where_the_compiler_warns_of_the_release_build(
    tree: Path, said: str, status: int
) -> None:
    shutil.copy(CI / "release.sh", tree / "tools/ci")
    build = tree / "tools/ci/build.sh"
    build.write_text(f"#!/bin/sh\ncat << 'END'\n{said}END\n")
    done = subprocess.run(["bash", tree / "tools/ci/release.sh"], check=False, capture_output=True)
    assert done.returncode == status
