#!/bin/bash
# Tests MPI programs with and without Forebay, with the release build, two tests at a time.
# Usage: integration.sh [all]. Without "all", tests marked `full` are left out (docs/testing.md).
set -euo pipefail
cd "$(dirname "$0")/../.."
chosen='not full and not slurm and not standard_abi'
if [[ ${1:-} == all ]]; then
    chosen='not cephfs and not slurm and not standard_abi'
    tools/ci/packages.sh all
fi
exec tools/ci/pytest.sh tests/suite -m "$chosen" -n 2 --dist worksteal
