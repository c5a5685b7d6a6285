#!/bin/bash
# Runs the tests of the Python packages and of the tools. Tests that simulate are run by sim.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
exec tools/ci/pytest.sh python tools evaluation -n 2 --dist worksteal \
    --ignore python/tests/simulate_test.py -m 'not full'
