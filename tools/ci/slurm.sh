#!/bin/bash
# The pool of a job on a real Slurm of two nodes, which is brought up for it.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/ci/packages.sh all
folder=$PWD/build/slurm
tests/slurm.sh down "$folder"
trap 'tests/slurm.sh down "$folder"' EXIT
FOREBAY_SLURM=$(tests/slurm.sh up "$folder")
export FOREBAY_SLURM
tools/ci/pytest.sh tests/suite -m slurm
