#!/bin/bash
# Pure layers, engine and memory adapter build and pass without any MPI on the machine.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/ci/build.sh sim
ctest --preset sim --no-tests=error
