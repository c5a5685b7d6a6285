#!/bin/bash
# Runs pytest of .venv; leaves the results where tools/ci/steps.py reads them. Takes its options.
set -euo pipefail
cd "$(dirname "$0")/../.."
results=()
if [[ -n ${FOREBAY_RESULTS:-} ]]; then
    results=(--junitxml "$(mktemp "$FOREBAY_RESULTS/XXXXXX.xml")")
fi
PATH=$PWD/.venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 \
    exec .venv/bin/python -m pytest --durations=10 "${results[@]}" "$@"
