#!/bin/bash
# MPI programs with and without Forebay, on the release build.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [[ ! -x tests/run_all.sh ]]; then
    echo "no tests/run_all.sh yet"
    exit 0
fi
PATH=$PWD/.venv/bin:$PATH tests/run_all.sh
