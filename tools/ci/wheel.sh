#!/bin/bash
# Installs the wheel of `make wheel` into a new environment, and checks that `forebay` and its
# libraries work there. It is that of `pip install .`, without what is of this machine only:
# SimGrid, HDF5 and PnetCDF. The wheel is left in build/dist for systems.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
source tools/ci/expect.sh

python3 -m venv "$prefix/venv"
# The compilers and flags of the release preset, so that ccache has the results.
export CC=/usr/bin/cc CXX=/usr/bin/c++
export FOREBAY_WHEEL_FLAGS='-Ccmake.define.FOREBAY_PRECOMPILED=OFF'
export FOREBAY_WHEEL_FLAGS+=' -Ccmake.define.FOREBAY_UNITY=OFF'
export FOREBAY_WHEEL_FLAGS+=' -Ccmake.define.CMAKE_CXX_FLAGS_RELEASE=-O2\ -g1'
expect "a wheel" packaging/make_wheel.sh build/dist
expect "pip install" "$prefix/venv/bin/python" -m pip --disable-pip-version-check --quiet \
    install build/dist/forebay-*.whl
expect "the tag of all systems with glibc 2.28" \
    ls build/dist/forebay-*"-manylinux_2_28_$(uname -m).whl"
expect "libraries that need glibc 2.28 and no C++ library" env PYTHONPATH=tools \
    python3 -m checks.needed --build "$prefix/venv"
expect "the manual from pip" man -l "$prefix/venv/share/man/man1/forebay-run.1"
expect "the command from pip" "$prefix/venv/bin/forebay" --version
expect "the doctor from pip" "$prefix/venv/bin/forebay" doctor "$prefix"
says_why_not() {  # the simulator is not in the wheel
    ! "$prefix/venv/bin/forebay" simulate laptop region_count=10 2> "$prefix/said" \
        && grep -q "cannot find the simulator" "$prefix/said"
}
expect "what to do for the simulator" says_why_not
expect "the benchmark from pip" "$prefix/venv/bin/forebay" bench ior -np 2 -a DUMMY -t 4k -b 64k
echo "$passed passed, 0 failed"
