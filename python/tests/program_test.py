"""Tests the facts that program files reveal: names of libraries, real ELF files, and what cannot be
reached."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from forebay.common.files.elf import read_elf
from forebay.common.files.programs import ProgramFiles
from forebay.common.model.program import Family, Linkage, ProgramFacts, family_of_soname

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


@pytest.mark.parametrize(
    ("soname", "family"),
    [
        ("libmpi.so.40", Family.OPEN_MPI),
        ("libmpi.so.20.10.1", Family.OPEN_MPI),
        ("libmpi.so.12", Family.MPICH),
        ("libmpi.so.12.0.5", Family.MPICH),
        ("libmpich.so.12", Family.MPICH),
        ("libmpi_cray.so.12", Family.MPICH),
        ("libmpi_gnu_91.so.12", Family.MPICH),
        ("libmpi_abi.so.0", Family.STANDARD_ABI),
        ("libmpi.so.0", Family.UNKNOWN),
        ("libmpi.so", Family.UNKNOWN),
        ("libmpt.so", Family.UNKNOWN),
        ("libmpi_mpifh.so.40", None),
        ("libmpi_cxx.so.40", None),
        ("libmpi_usempif08.so.40", None),
        ("libc.so.6", None),
        ("libmpfr.so.6", None),
    ],
)
def test_families_by_name(soname: str, family: Family | None) -> None:
    assert family_of_soname(soname) is family


def compile_c(folder: Path, source: str, *flags: str) -> Path:
    (folder / "a.c").write_text(source)
    command = ["cc", str(folder / "a.c"), "-o", str(folder / "a"), *flags]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "a"


def library(folder: Path, soname: str) -> None:
    (folder / "lib.c").write_text("int MPI_Init(void) { return 0; }\n")
    subprocess.run(
        [
            "cc",
            "-shared",
            str(folder / "lib.c"),
            "-o",
            str(folder / soname),
            f"-Wl,-soname,{soname}",
        ],
        check=True,
    )


@needs_compiler
def test_dynamic_program_with_an_mpi(tmp_path: Path) -> None:
    library(tmp_path, "libmpi.so.40")
    source = "int MPI_Init(void); int main(void) { return MPI_Init(); }\n"
    path = compile_c(tmp_path, source, f"-L{tmp_path}", "-l:libmpi.so.40")
    facts = ProgramFiles().inspect(path)
    assert (facts.linkage, facts.mpi_library) == (Linkage.DYNAMIC, "libmpi.so.40")
    assert facts.family is Family.OPEN_MPI
    assert facts.obstacle is None


@needs_compiler
def test_mpi_behind_another_library_is_found(tmp_path: Path) -> None:
    library(tmp_path, "libmpich.so.12")
    (tmp_path / "io.c").write_text("int MPI_Init(void); int io(void) { return MPI_Init(); }\n")
    where = [f"-L{tmp_path}", f"-Wl,-rpath,{tmp_path}"]
    subprocess.run(
        ["cc", "-shared", "-fPIC", str(tmp_path / "io.c"), "-o", str(tmp_path / "libio.so"),
         *where, "-l:libmpich.so.12"],
        check=True,
    )  # fmt: skip
    path = compile_c(tmp_path, "int io(void); int main(void) { return io(); }\n", *where, "-lio")
    elf = read_elf(path)
    assert elf is not None
    assert "libmpich.so.12" not in elf.needed
    assert ProgramFiles().inspect(path).family is Family.MPICH


@needs_compiler
@pytest.mark.parametrize("flags", [(), ("-s",)])
def test_mpi_inside_the_program_is_out_of_reach(tmp_path: Path, flags: tuple[str, ...]) -> None:
    source = (
        'const char* volatile name = "MPIR_CVAR_DEBUG_HOLD";'
        "int ompi_mpi_init(void) { return 0; } int main(void) { return ompi_mpi_init(); }\n"
    )
    facts = ProgramFiles().inspect(compile_c(tmp_path, source, *flags))
    assert facts.mpi_is_static
    assert "shared library" in (facts.obstacle or "")


@needs_compiler
@pytest.mark.parametrize("flag", ["-static", "-static-pie"])
def test_static_program_is_out_of_reach(tmp_path: Path, flag: str) -> None:
    try:
        path = compile_c(tmp_path, "int main(void) { return 0; }\n", flag)
    except subprocess.CalledProcessError:
        pytest.skip(f"no libc for {flag}")
    facts = ProgramFiles().inspect(path)
    assert facts.linkage is Linkage.STATIC
    assert "Link it dynamically" in (facts.obstacle or "")


def test_scripts_and_other_files(tmp_path: Path) -> None:
    script = tmp_path / "job.sh"
    script.write_text("#!/bin/sh\ntrue\n")
    assert ProgramFiles().inspect(script).linkage is Linkage.SCRIPT
    empty = tmp_path / "empty"
    empty.write_bytes(b"")
    assert ProgramFiles().inspect(empty).linkage is Linkage.UNREADABLE
    assert ProgramFiles().locate("no-such-program-here") is None


@pytest.mark.parametrize("bytes_kept", [4, 5, 63, 64, 70, 200, 1000])
def test_cut_elf_file_is_no_crash(tmp_path: Path, bytes_kept: int) -> None:
    cut = tmp_path / "cut"
    cut.write_bytes(Path(sys.executable).resolve().read_bytes()[:bytes_kept])
    assert ProgramFiles().inspect(cut).path == cut


def test_an_unknown_family_is_an_obstacle() -> None:
    facts = ProgramFacts(
        path=Path("a"), linkage=Linkage.DYNAMIC, mpi_library="libmpt.so", family=Family.UNKNOWN
    )
    assert "libmpt.so" in (facts.obstacle or "")


@needs_compiler
def test_a_program_of_another_libc_is_told_from_one_of_glibc(tmp_path: Path) -> None:
    source = "int main(void) { return 0; }"
    own = ProgramFiles().inspect(compile_c(tmp_path, source))
    assert own.is_captured
    assert own.obstacle is None
    musl = "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1"
    other = ProgramFiles().inspect(compile_c(tmp_path, source, musl))
    assert other.is_of_other_libc
    assert not other.is_captured
    assert "not glibc" in str(other.obstacle)
