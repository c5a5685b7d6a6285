#!/bin/bash
# Tests of the Python package and of the tools.
set -euo pipefail
cd "$(dirname "$0")/../.."
folders=()
for folder in python tools bench tests/suite; do
    if [[ -d $folder ]]; then folders+=("$folder"); fi
done
PYTHONPATH=$PWD:$PWD/tools:$PWD/tests:$PWD/python \
    .venv/bin/python -m pytest -q -p no:cacheprovider -o python_files='*_test.py test_*.py' \
    -o addopts= --import-mode=importlib "${folders[@]}"
