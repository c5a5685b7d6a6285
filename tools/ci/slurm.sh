#!/bin/bash
# Tests the pool of a job, Slurm's plugin, and the burst buffer of a tier, on a real Slurm of two
# nodes, which is brought up for it: with process tracking by /proc, and by control groups (if the
# kernel has version 1's freezer). Once more with jobs whose memory is bounded (if there is version
# 1's memory), for the plugin only.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/ci/packages.sh all
folder=$PWD/build/slurm
trackings=(linuxproc)
if [[ -w /sys/fs/cgroup/freezer ]]; then trackings+=(cgroup); fi
trap 'tests/slurm.sh down "$folder"' EXIT
test_with() {  # TRACKING, and options of pytest
    tests/slurm.sh down "$folder"
    FOREBAY_SLURM=$(tests/slurm.sh up "$folder" "$1")
    export FOREBAY_SLURM
    tools/ci/pytest.sh -m slurm "${@:2}"
}

for tracking in "${trackings[@]}"; do
    test_with "$tracking" tests/suite
done
if [[ -w /sys/fs/cgroup/freezer && -w /sys/fs/cgroup/memory \
    && -e build/release/lib/slurm/spank_forebay.so ]]; then
    test_with memory tests/suite/slurm_plugin_test.py
fi
