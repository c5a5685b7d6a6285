#!/bin/bash
# Pure layers, engine, memory adapter and simulator build and pass without any MPI on the machine,
# optimised and with all seeds; then small simulations (up to 256 ranks), with the thresholds of
# docs/internals/simulation.md: the order of the published variants, Forebay against them and the
# bound, k found while running.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/ci/unit.sh sim all
FOREBAY_SIM=$PWD/build/sim/lib/forebay_sim tools/ci/pytest.sh python/tests/simulate_test.py
