#!/bin/bash
# Tests of the Python package and of the tools. Those that simulate are in sim.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
exec tools/ci/pytest.sh python tools evaluation -n 2 --dist worksteal \
    --ignore python/tests/simulate_test.py
