#!/bin/bash
# Pure layers, engine, memory adapter and simulator build and pass without any MPI on the machine;
# then small simulations (up to 256 ranks), with the thresholds of docs/internals/simulation.md: the
# order of the published variants, Forebay against them and the bound, k found while running.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/ci/build.sh sim
ctest --preset sim --no-tests=error
FOREBAY_SIM=$PWD/build/sim/lib/forebay_sim PYTHONPATH=$PWD/python \
    .venv/bin/python -m pytest -q -p no:cacheprovider -o addopts= python/tests/simulate_test.py
