#!/bin/bash
# Pure layers, engine, memory adapter and simulator pass as the release tree has built them, linked
# without any MPI, with all seeds (sim.sh all), or with those that `unit.sh asan` leaves out; then
# small simulations (up to 256 ranks), with the thresholds of
# docs/internals/simulation.md: the order of the published variants, Forebay against them and the
# bound, k found while running.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/ci/build.sh release
tools/ci/unit.sh sim "${1:-others}"
FOREBAY_SIM=$PWD/build/release/lib/forebay_sim tools/ci/pytest.sh python/tests/simulate_test.py
