#!/bin/bash
# Runs the demo: the unmodified ocean model of examples/ocean with and without Forebay. `make demo`
# calls this after it has installed and built everything, and passes on --pairs, --folder ….
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-.venv/bin/python}
if ! command -v "$python" >/dev/null; then
    echo "cannot run the demo (no $python). Run: make demo" >&2
    exit 1
fi
PYTHONPATH=$PWD/python:$PWD/examples/ocean${PYTHONPATH:+:$PYTHONPATH} exec "$python" -m demo "$@"
