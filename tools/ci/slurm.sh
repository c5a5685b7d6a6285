#!/bin/bash
# Tests the pool of a job on a real Slurm of two nodes, which is brought up for it: once with
# process tracking by /proc, and once by control groups (if the kernel has version 1's freezer).
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/ci/packages.sh all
folder=$PWD/build/slurm
trackings=(linuxproc)
if [[ -w /sys/fs/cgroup/freezer ]]; then trackings+=(cgroup); fi
trap 'tests/slurm.sh down "$folder"' EXIT
for tracking in "${trackings[@]}"; do
    tests/slurm.sh down "$folder"
    FOREBAY_SLURM=$(tests/slurm.sh up "$folder" "$tracking")
    export FOREBAY_SLURM
    tools/ci/pytest.sh tests/suite -m slurm
done
