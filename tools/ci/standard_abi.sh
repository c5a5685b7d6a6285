#!/bin/bash
# Builds the core for MPI-5's standard ABI with the mpicc_abi of PyPI's MPICH 5, and runs programs
# that the same wrapper has built, with and without Forebay.
set -euo pipefail
cd "$(dirname "$0")/../.."
wrapper=$(PYTHONPATH=tests:python:. .venv/bin/python -c \
    'from suite import mpi; print(mpi.STANDARD_ABI.cc)')
cmake --preset release -B build/abi "-DFOREBAY_MPICC=$wrapper" -Wno-dev > /dev/null
cmake --build build/abi --target forebay_core_abi forebay_mpi forebay_posix forebay_apps_daemon
FOREBAY_LIBDIR=$PWD/build/abi/lib exec tools/ci/pytest.sh tests/suite -m standard_abi
