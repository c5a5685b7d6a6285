"""Tests which MPI families CMake builds for, with compiler wrappers that are scripts around the
real compiler and a small mpi.h, and with the real ones of this machine."""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

CMAKE = Path(__file__).resolve().parents[2] / "cmake"
PROJECT = f"""cmake_minimum_required(VERSION 3.25)
project(families LANGUAGES NONE)
include({CMAKE}/mpi_families.cmake)
foreach(family IN LISTS FOREBAY_MPI_FAMILIES)
    get_target_property(includes forebay_mpi_${{family}} INTERFACE_INCLUDE_DIRECTORIES)
    get_target_property(links forebay_libmpi_${{family}} INTERFACE_LINK_LIBRARIES)
    set(programs "${{FOREBAY_MPICC_${{family}}}}|${{FOREBAY_MPIEXEC_${{family}}}}")
    message(STATUS "built: ${{family}}|${{programs}}|${{includes}}|${{links}}")
endforeach()
"""
# Macros that the mpi.h of each MPI defines, among others.
MPICH = '#define MPI_VERSION 4\n#define MPICH_VERSION "4.1.2"\n#define MPICH_NUMVERSION 40102300\n'
INTEL = '#define I_MPI_VERSION "2021.19"\n#define MPICH_VERSION "4.0"\n'
CRAY = '#define MPICH_VERSION "8.1.29.5"\n#define CRAY_MPICH_VERSION 8.1.29\n'
MVAPICH = '#define MVAPICH2_VERSION "2.3.7"\n'
OPEN_MPI = "".join(
    f"#define OMPI_{name}_VERSION {value}\n"
    for name, value in (("MAJOR", 5), ("MINOR", 0), ("RELEASE", 6))
)
STANDARD_ABI = "#define MPI_VERSION 5\n#define MPI_ABI_VERSION 1\n#define MPI_ABI_SUBVERSION 0\n"
OTHER = "#define MPI_VERSION 3\n"
# -show of Intel's wrapper, whose words are quoted, and those of Cray's driver, which has no -show.
SHOWS = """case "$1" in
    -show) echo 'gcc -I"{0}/include" -L"{0}/lib" -Xlinker -rpath -Xlinker "{0}/lib" -lmpi -ldl'
        exit ;;
esac
"""
CRAY_SHOWS = """case "$*" in
    -show) exit 1 ;;
    --cray-print-opts=cflags) echo '-I{0}/include'; exit ;;
    "--no-as-needed --cray-print-opts=libs")
        echo '-L{0}/lib -Wl,--as-needed,-lmpi_gnu_91,--no-as-needed -ldl'
        exit ;;
esac
"""


@dataclass(frozen=True)
class Built:
    """CMake's result for one family."""

    family: str
    wrapper: str
    launcher: str
    includes: Sequence[str]
    links: Sequence[str]


@dataclass(frozen=True)
class Told:
    """How one run of CMake ended: the families, by name, and all that was printed."""

    families: dict[str, Built]
    text: str
    status: int


class Site:
    """A machine with its own PATH, on which wrappers are installed below a folder each."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = root / "path"
        self.path.mkdir()
        for name in ("sh", "gcc", "as", "env", "ninja"):
            self.link(name, shutil.which(name) or name)
        (root / "source").mkdir()
        (root / "source/CMakeLists.txt").write_text(PROJECT)

    def link(self, name: str, to: str | Path) -> None:
        (self.path / name).symlink_to(to)

    def install(self, folder: str, header: str, name: str = "mpicc", shows: str = SHOWS) -> Path:
        """Puts an MPI with this mpi.h below `folder`; returns the path of its wrapper."""
        prefix = self.root / folder
        for part in ("bin", "include", "lib"):
            (prefix / part).mkdir(parents=True, exist_ok=True)
        (prefix / "include/mpi.h").write_text(header)
        script = f'#!/bin/sh\n{shows.format(prefix)}exec gcc "-I{prefix}/include" "$@"\n'
        for program, text in ((name, script), ("mpiexec", "#!/bin/sh\n")):
            (prefix / "bin" / program).write_text(text)
            (prefix / "bin" / program).chmod(0o755)
        return prefix / "bin" / name

    def configure(self, *options: str, **environment: str) -> Told:
        cmake = shutil.which("cmake")
        assert cmake is not None
        words = ["-GNinja", "-S", f"{self.root}/source", "-B", f"{self.root}/build"]
        only_path = "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF"  # nor what this machine has
        done = subprocess.run(
            [cmake, *words, only_path, *options],
            env={"PATH": str(self.path), **environment},
            check=False,
            capture_output=True,
            text=True,
        )
        rows = re.findall(r"^-- built: (.*)$", done.stdout, re.MULTILINE)
        found = [row.split("|") for row in rows]
        families = {
            family: Built(family, wrapper, launcher, includes.split(";"), links.split(";"))
            for family, wrapper, launcher, includes, links in found
        }
        text = " ".join((done.stdout + done.stderr).split())  # CMake breaks lines
        return Told(families, text, done.returncode)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


@pytest.mark.parametrize(
    ("header", "family", "name"),
    [
        (MPICH, "mpich", "MPICH 4.1.2"),
        (INTEL, "mpich", "Intel MPI 2021.19"),
        (CRAY, "mpich", "Cray MPICH 8.1.29"),
        (MVAPICH, "mpich", "MVAPICH2 2.3.7"),
        (OPEN_MPI, "openmpi", "Open MPI 5.0.6"),
    ],
)
def test_the_first_mpicc_in_path_says_its_family(
    site: Site, header: str, family: str, name: str
) -> None:
    wrapper = site.install("opt", header)
    site.link("mpicc", wrapper)
    told = site.configure()
    assert told.status == 0, told.text
    assert list(told.families) == [family]
    assert f"MPI of the family {family}: {name} (" in told.text
    built = told.families[family]
    assert built.includes == [f"{site.root}/opt/include"]
    assert f"-L{site.root}/opt/lib" in built.links
    assert f"-Wl,-rpath,{site.root}/opt/lib" in built.links
    assert "-lmpi" in built.links
    assert built.launcher == f"{site.root}/opt/bin/mpiexec"  # not one of another MPI
    assert site.configure().families == told.families, "and so again"


def test_intels_wrapper_is_asked_where_there_is_no_mpicc(site: Site) -> None:
    site.link("mpiicx", site.install("intel", INTEL, name="mpiicx"))
    assert list(site.configure().families) == ["mpich"]


def test_crays_driver_is_asked_in_crays_environment_only(site: Site) -> None:
    site.link("cc", site.install("cray", CRAY, name="cc", shows=CRAY_SHOWS))
    assert "there is no MPI" in site.configure().text
    told = site.configure(CRAYPE_VERSION="2.7.31")
    assert told.status == 0, told.text
    built = told.families["mpich"]
    assert built.includes == [f"{site.root}/cray/include"]
    assert built.links[1:] == [f"-L{site.root}/cray/lib", "-lmpi_gnu_91", "-ldl"]


@pytest.mark.parametrize("between", [":", ";"])
@pytest.mark.parametrize("by_environment", [True, False])
def test_several_wrappers_are_named_at_a_time(
    site: Site, between: str, by_environment: bool
) -> None:
    names = [site.install("one", OPEN_MPI), site.install("two", MPICH)]
    site.link("mpicc", site.install("three", INTEL))  # what is named is taken instead of it
    named = between.join(map(str, names))
    if by_environment:
        told = site.configure(FOREBAY_MPICC=named)
    else:
        told = site.configure(f"-DFOREBAY_MPICC={named}")
    assert told.families["openmpi"].wrapper == str(names[0])
    assert told.families["mpich"].wrapper == str(names[1])
    assert site.configure().families == told.families, "and so when CMake runs again by itself"


def test_each_family_is_built_once(site: Site) -> None:
    names = [site.install("one", MPICH), site.install("two", INTEL)]
    told = site.configure(f"-DFOREBAY_MPICC={names[0]}:{names[1]}")
    assert told.families["mpich"].wrapper == str(names[0])
    assert f"{names[1]} (Intel MPI 2021.19) is not asked further" in told.text


def test_the_standard_abi_is_a_family_beside_the_mpis_own(site: Site) -> None:
    site.link("mpicc", site.install("opt", MPICH))
    site.link("mpicc_abi", site.install("abi", STANDARD_ABI, "mpicc_abi"))
    told = site.configure()
    assert sorted(told.families) == ["abi", "mpich"]
    assert told.families["abi"].wrapper == f"{site.path}/mpicc_abi"
    assert "MPI of the family abi: the standard ABI 1.0" in told.text
    (site.path / "mpicc").unlink()
    named = site.configure(f"-DFOREBAY_MPICC={site.path}/mpicc_abi")
    assert sorted(named.families) == ["abi"]


@pytest.mark.parametrize(
    ("header", "why"),
    [
        (None, "cannot preprocess <mpi.h>"),
        ("", "its <mpi.h> is no MPI's"),
        (OTHER, "its MPI is an MPI of version 3, which is neither"),
    ],
)
def test_a_wrapper_that_cannot_be_used_is_named_with_its_reason(
    site: Site, header: str | None, why: str
) -> None:
    wrapper = site.install("opt", header or "")
    if header is None:
        (site.root / "opt/include/mpi.h").unlink()
    site.link("mpicc", wrapper)
    told = site.configure()
    assert told.status != 0
    assert f"{site.path}/mpicc: {why}" in told.text or why in told.text
    assert "-DFOREBAY_MPICC=/path/to/mpicc" in told.text
    named = site.configure(f"-DFOREBAY_MPICC={wrapper}")
    assert named.status != 0
    assert why in named.text


def test_a_wrapper_that_does_not_tell_what_it_links_is_not_used(site: Site) -> None:
    site.link("mpicc", site.install("opt", MPICH, shows='[ "$1" = -E ] || exit 1\n'))
    told = site.configure()
    assert told.status != 0
    assert "it does not tell what it links" in told.text


def test_without_an_mpi_it_is_said_what_to_do(site: Site) -> None:
    told = site.configure()
    assert told.status != 0
    assert "there is no MPI (no mpicc, mpiicx or mpiicc is in PATH)" in told.text
    for what in ("-DFOREBAY_MPICC=/path/to/mpicc", "-DFOREBAY_MPI=none"):
        assert what in told.text


def test_a_name_that_is_not_there_is_said(site: Site) -> None:
    site.link("mpicc", site.install("opt", MPICH))
    told = site.configure("-DFOREBAY_MPICC=mpicc:mpiicx")
    assert told.status != 0
    assert "there is no mpiicx (FOREBAY_MPICC names it)" in told.text


def test_debians_names_come_before_a_plain_mpicc(site: Site) -> None:
    for family, header in (("mpich", MPICH), ("openmpi", OPEN_MPI)):
        site.link(f"mpicc.{family}", site.install(family, header))
        site.link(f"mpiexec.{family}", site.root / family / "bin/mpiexec")
    site.link("mpicc", site.install("other", INTEL))
    told = site.configure()
    assert list(told.families) == ["mpich", "openmpi"]
    for family, built in told.families.items():
        assert built.wrapper == f"{site.path}/mpicc.{family}"
        assert built.launcher == f"{site.path}/mpiexec.{family}"


def test_a_plain_mpicc_is_asked_for_the_family_that_debian_lacks(site: Site) -> None:
    site.link("mpicc.openmpi", site.install("debian", OPEN_MPI))
    site.link("mpiexec.mpich", site.install("launcher", MPICH))  # without its compiler wrapper
    site.link("mpicc", site.install("opt", MPICH))
    told = site.configure()
    assert told.families["openmpi"].wrapper == f"{site.path}/mpicc.openmpi"
    assert told.families["mpich"].wrapper == f"{site.path}/mpicc"
    assert told.families["mpich"].launcher == f"{site.root}/opt/bin/mpiexec"


def test_wrappers_for_arm64_name_what_is_below_their_root(site: Site) -> None:
    """Those of tools/ci/arm64.sh: folders of the machine that compiles are not looked into."""
    root = site.root / "arm64"
    libraries = root / "usr/lib/aarch64-linux-gnu"
    headers = {
        "mpich": (root / "usr/include/aarch64-linux-gnu/mpich", MPICH),
        "openmpi": (libraries / "openmpi/include", OPEN_MPI),
    }
    for name, program in (("aarch64-linux-gnu-gcc", "gcc"), ("realpath", "realpath")):
        site.link(name, shutil.which(program) or program)
    (root / "wrappers").mkdir(parents=True)
    for family, (folder, header) in headers.items():
        folder.mkdir(parents=True)
        (folder / "mpi.h").write_text(header)
        shutil.copy(CMAKE.parent / "tools/ci/mpicc_arm64.sh", root / f"wrappers/mpicc.{family}")
    told = site.configure(
        f"-DFOREBAY_MPICC={root}/wrappers/mpicc.mpich:{root}/wrappers/mpicc.openmpi"
    )
    assert list(told.families) == ["mpich", "openmpi"], told.text
    for family, (folder, _) in headers.items():
        assert told.families[family].includes[0] == str(folder)
    assert told.families["mpich"].links[1:] == [f"-L{libraries}", "-lmpich"]
    assert told.families["openmpi"].links[1:] == [f"-L{libraries}/openmpi/lib", "-lmpi"]


REAL = {family: shutil.which(f"mpicc.{family}") for family in ("mpich", "openmpi")}


@pytest.mark.parametrize("family", REAL)
def test_a_directory_with_a_link_to_a_real_mpicc(tmp_path: Path, family: str) -> None:
    wrapper = REAL[family]
    if wrapper is None:
        pytest.skip(f"no mpicc.{family}")
    site = Site(tmp_path)
    site.link("mpicc", wrapper)
    for folder in map(Path, os.environ["PATH"].split(":")):  # what the wrapper itself calls
        for name in ("sed", "basename", "dirname", "cat", "cc1"):
            if (folder / name).exists() and not (site.path / name).exists():
                site.link(name, folder / name)
    told = site.configure()
    assert list(told.families) == [family], told.text
    assert (Path(told.families[family].includes[0]) / "mpi.h").is_file()
    assert Path(told.families[family].launcher).name == f"mpiexec.{family}"


def test_debians_two_are_found_by_their_names(tmp_path: Path) -> None:
    if None in REAL.values():
        pytest.skip("not both of Debian's MPIs are here")
    site = Site(tmp_path)
    told = site.configure(PATH=os.environ["PATH"])
    assert list(told.families) == ["mpich", "openmpi"]
    for family, built in told.families.items():
        assert built.wrapper == REAL[family]
        assert Path(built.launcher).name == f"mpiexec.{family}"
        assert not [word for word in built.links if word.startswith("-Wl,")]
