"""The examples: what their pages say to type leaves the same files with Forebay as without it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from suite import mpi as m
from suite.pooled import first_difference, tree
from suite.typed import PYTHON, Shell, blocks
from suite.verdict import ensure

EXAMPLES = m.ROOT / "examples"
# Each with what it needs: an executable, or a module of the examples' Python. The first three are
# in `make test`.
NEEDS = {
    "c-mpi-io": "mpicc.openmpi",
    "fortran-restart": "gfortran",
    "numpy-checkpoint": "import numpy",
    "append-log": "",
    "h5py-mpi4py": "import h5py, mpi4py",
    "netcdf-fortran": "nf-config",
    "netcdf-python": "import netCDF4, xarray, dask",
    "torch-checkpoint": "import torch",
    "pool-switch": "gfortran",
    "snakemake-rule": "snakemake",
    "shallow-water": "mpifort",
}
QUICK = 3
# Those that other tests run, and those that are words only.
ELSEWHERE = {"ocean", "wrf-roms", "pbs", "lsf"}
TAKEN = re.compile(r"^through the pool: ([0-9.]+ \w+) of [1-9]\d* files?,", re.MULTILINE)


def _missing(need: str) -> bool:
    if need.startswith("import "):
        done = subprocess.run([PYTHON, "-c", need], capture_output=True, check=False)
        return done.returncode != 0
    return bool(need) and shutil.which(need) is None


def test_every_example_is_run_and_listed() -> None:
    found = {page.parent.name for page in EXAMPLES.glob("*/README.md")}
    by_slurm = {name for name in found if name.startswith("slurm-")}
    ensure(found - by_slurm == {*NEEDS, *ELSEWHERE}, f"{found}")
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    missing = [name for name in sorted(found) if f"({name}/README.md)" not in listed]
    ensure(not missing, f"examples/README.md does not list {missing}")


def _written(place: Path, before: set[str]) -> dict[str, tuple[str, int, bytes]]:
    """Files that the example has written, without a workflow's notes, which have times in them."""
    return {
        path: what
        for path, what in tree(place).items()
        if path not in before and not path.startswith(".snakemake")
    }


def _runs_of_rules(place: Path) -> int:
    """How often a workflow runs programs by Forebay."""
    rules = place / "Snakefile"
    return rules.read_text(encoding="utf-8").count("forebay run") if rules.exists() else 0


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if number < QUICK else pytest.mark.full)
        for number, name in enumerate(NEEDS)
    ],
)
def test_an_example_leaves_the_same_files(name: str, folder: Path) -> None:
    if _missing(NEEDS[name]):
        pytest.skip(f"no {NEEDS[name]} here (the page of the example names the package)")
    (script,) = blocks(EXAMPLES / name / "README.md")
    trees = []
    for plain in (True, False):
        place = folder / ("plain" if plain else "pooled")
        shutil.copytree(EXAMPLES / name, place)
        before = {*tree(place)}
        said = Shell(place, folder / f"{place.name}-tools", plain=plain)(script)
        ensure(said.status == 0, f"status {said.status}:\n{said.output}{said.errors}")
        trees.append(_written(place, before))
        runs = 0 if plain else script.count("forebay run") + _runs_of_rules(place)
        taken = TAKEN.findall(said.errors)
        ensure(len(taken) == runs, f"not every run went through the pool:\n{said.errors}")
    ensure(trees[0], "it has left nothing")
    ensure(not first_difference(*trees), first_difference(*trees))


JOB_VARIABLES = {
    "pbs": {"PBS_JOBID": "7.server", "PBS_NODEFILE": "{folder}/hosts"},
    "lsf": {"LSB_JOBID": "7", "LSB_MCPU_HOSTS": "node 2"},
}


@pytest.mark.full
@pytest.mark.parametrize("script", ["job.sh", "steps.sh"])
@pytest.mark.parametrize("system", ["pbs", "lsf"])
def test_a_script_for_a_batch_system_that_is_not_here(
    system: str, script: str, folder: Path
) -> None:
    """It has this system's variables, and the launcher of this machine."""
    place = folder / "job"
    shutil.copytree(EXAMPLES / system, place)
    (folder / "hosts").write_text("node\nnode\n")
    variables = {name: text.format(folder=folder) for name, text in JOB_VARIABLES[system].items()}
    shell = Shell(place, folder / "tools")
    said = shell(f"exec ./{script}", more={**variables, "PBS_O_WORKDIR": str(place)})
    ensure(said.status == 0, f"status {said.status}:\n{said.output}{said.errors}")
    ensure("through the pool: " in said.errors, said.errors)
    ensure("on this node only" not in said.errors, said.errors)
    for rank in (0, 1):
        text = (place / f"output-{rank}.txt").read_text()
        ensure(text == f"rank {rank}\n" * 100_000, f"rank {rank} has written something else")
