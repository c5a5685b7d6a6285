"""Probing by srun, on the Slurm of two nodes that tests/slurm.sh brought up."""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from suite.prober import Prober
from suite.verdict import ensure

VARIABLE = "FOREBAY_SLURM"
# The nodes have the same addresses.
MEANS = {
    "FOREBAY_MPI_FAMILY": "openmpi",
    "OMPI_MCA_btl": "self,vader,tcp",
    "OMPI_MCA_btl_tcp_if_include": "lo",
}
TWO_NODES = ("srun", "--mpi=pmix", "-N", "2", "-n", "4", "--ntasks-per-node=2")


@pytest.mark.slurm
@pytest.mark.skipif(VARIABLE not in os.environ, reason=f"no {VARIABLE} (tools/ci/slurm.sh)")
def test_probing_by_srun_sees_nodes_and_their_ranks(folder: Path) -> None:
    where = folder / "where"
    where.mkdir()
    means = {**MEANS, "SLURM_CONF": os.environ[VARIABLE]}
    prefix = ("env", *(f"{name}={value}" for name, value in means.items()))
    prober = replace(Prober(folder=folder, launcher=TWO_NODES), prefix=prefix)
    said = prober.run(prober.words(where, "--bytes", "480m", "--seconds", "60"), status=0)
    ensure("2 nodes × 2 ranks" in said, said)
    portrait = tomllib.loads(prober.portrait.read_text())
    text = json.dumps(portrait)
    ensure('"nodes": 2' in text and '"ranks_per_node": 2' in text, text[:1500])
    ensure('"per_node": [1, 2]' in text, text[:1500])
    ensure(list(where.iterdir()) == [], "files were left")
