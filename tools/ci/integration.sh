#!/bin/bash
# MPI programs with and without Forebay, on the release build, two tests at a time.
# Usage: integration.sh [all]: without "all", what is marked `full` is left out (docs/testing.md).
set -euo pipefail
cd "$(dirname "$0")/../.."
chosen='not full and not slurm'
if [[ ${1:-} == all ]]; then
    chosen='not cephfs and not slurm'
    tools/ci/packages.sh all
fi
exec tools/ci/pytest.sh tests/suite -m "$chosen" -n 2 --dist worksteal
