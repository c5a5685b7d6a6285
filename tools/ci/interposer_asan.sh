#!/bin/bash
# The interposer of the asan build under MPI programs: views, calls, errors and full disks. The
# sanitizer's run time comes before everything else in the programs, which are not instrumented.
# Usage: interposer_asan.sh [options of pytest]
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/ci/build.sh asan
run_time=$(clang++-19 -print-file-name="libclang_rt.asan-$(uname -m).so")
export FOREBAY_PRELOAD_FIRST=$run_time
export FOREBAY_LIBDIR=$PWD/build/asan/lib FOREBAY_TEST_DIR=$PWD/build/tests-asan
# Leaks of an MPI are not ours to mend.
export ASAN_OPTIONS=detect_leaks=0:detect_container_overflow=0:verify_asan_link_order=0
chosen=(-m sanitized)
if (($# > 0)); then chosen=("$@"); fi
exec tools/ci/pytest.sh tests/suite -n 2 --dist worksteal "${chosen[@]}"
