#!/bin/bash
# Runs the unit tests of the pure layers, engine, memory adapter and simulator of the release build,
# linked without MPI: with all seeds (sim.sh all), or with the seeds that `unit.sh asan` leaves out.
# Then runs small simulations (up to 256 ranks) with the thresholds of docs/internals/simulation.md:
# the order of published variants, Forebay compared with them and with the bound, and the k that is
# found while running.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/ci/build.sh release
tools/ci/unit.sh sim "${1:-others}"
if [[ ${1:-} != all ]]; then tools/ci/unit.sh sim slow; fi
export FOREBAY_SIM=$PWD/build/release/lib/forebay_sim
tests=(python/tests/simulate_test.py)
if [[ ${1:-} == all ]]; then tests+=(python/tests/io_ranks_simulation_test.py); fi
tools/ci/pytest.sh "${tests[@]}"
