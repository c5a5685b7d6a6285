"""`forebay run` with real MPIs and the real libraries, where these are built."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from forebay.common.model.known_launchers import Flavour
from forebay.common.model.launcher import start

FAMILIES = ("mpich", "openmpi")
RANKS, PIECES, PIECE_BYTES = 2, 512, 256
SOURCE = """
#include <mpi.h>
#include <string.h>
enum { pieces = %d, piece = %d };
static char bytes[pieces * piece];
int main(int argc, char** argv) {
    int rank, ranks;
    MPI_File file;
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    memset(bytes, 'a' + rank, sizeof bytes);
    MPI_Type_vector(pieces, piece, piece * ranks, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, rank * piece, MPI_BYTE, type, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, bytes, sizeof bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_write_at(file, 0, bytes, rank == 0 ? 1 : 0, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Type_free(&type);
    MPI_Finalize();
    return 4;
}
""" % (PIECES, PIECE_BYTES)  # noqa: UP031  (braces)


def libraries(root: Path) -> Path | None:
    folders = [Path(os.environ.get("FOREBAY_LIBDIR", "/none"))]
    folders += [root / "build" / preset / "lib" for preset in ("release", "dev")]
    return next((path for path in folders if (path / "libforebay_mpi.so").is_file()), None)


ALONE_FIRST = """
#include <mpi.h>
int main(int argc, char** argv) {
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_File_open(MPI_COMM_SELF, "own", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_close(&file);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
"""


def run(family: str, source: str, *, ranks: int, status: int, folder: Path, root: Path) -> Any:
    """Compiles and runs the source through Forebay; its summary."""
    built, compiler = libraries(root), shutil.which(f"mpicc.{family}")
    if built is None or compiler is None:
        pytest.skip(f"no native libraries or no mpicc.{family}")
    if not (built / f"libforebay_core_{family}.so").is_file():
        pytest.skip(f"no core for {family}")
    (folder / "a.c").write_text(source)
    subprocess.run([compiler, "a.c", "-o", "a"], cwd=folder, check=True)
    flavour = Flavour.OPEN_MPI if family == "openmpi" else Flavour.HYDRA
    launcher = start(f"mpiexec.{family}", flavour=flavour, ranks=ranks, root=os.geteuid() == 0)
    done = subprocess.run(
        [
            *(sys.executable, str(root / "python" / "forebay"), "run"),
            *("--format", "json", "--summary", "summary.json", "--"),
            *(*launcher, "./a", "out"),
        ],
        cwd=folder,
        env={**os.environ, "FOREBAY_LIBDIR": str(built)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == status, done.stderr
    return json.loads((folder / "summary.json").read_text())


@pytest.mark.parametrize("family", FAMILIES)
def test_collective_write_is_taken_over_and_reported(
    family: str, tmp_path: Path, root: Path
) -> None:
    summary = run(family, SOURCE, ranks=RANKS, status=4, folder=tmp_path, root=root)
    wanted = b"".join(bytes([97 + rank]) * PIECE_BYTES for rank in range(RANKS)) * PIECES
    assert (tmp_path / "out").read_bytes() == wanted
    (file,) = summary["files"]
    assert file["path"] == str(tmp_path / "out")
    assert (file["ranks"], file["write"]["calls"]) == (RANKS, 1)
    assert file["write"]["bytes"] == RANKS * PIECES * PIECE_BYTES
    (passed,) = file["passed_through"]
    assert (passed["call"], passed["reason"]) == ("MPI_File_write_at", "independent call")
    assert [job["family"] for job in summary["jobs"]] == [family]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_job_whose_ranks_first_open_a_file_alone_is_one_job(
    family: str, tmp_path: Path, root: Path
) -> None:
    summary = run(family, ALONE_FIRST, ranks=3, status=0, folder=tmp_path, root=root)
    assert [(job["ranks"], job["rank"]) for job in summary["jobs"]] == [(3, 0)]
