#!/bin/bash
# Tests of the Python package and of the tools.
set -euo pipefail
cd "$(dirname "$0")/../.."
exec tools/ci/pytest.sh python tools bench
