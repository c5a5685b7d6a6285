#!/bin/bash
# Builds one preset and runs its unit tests, or every n-th of them. Usage: unit.sh PRESET [n]
set -euo pipefail
cd "$(dirname "$0")/../.."
preset=${1:-dev}
tools/ci/build.sh "$preset"
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-2}
ctest --preset "$preset" --no-tests=error -I "1,,${2:-1}"
