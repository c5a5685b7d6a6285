#!/bin/bash
# Tests the interposer of the asan build under MPI programs: views, calls, errors, full disks. The
# programs are not instrumented, so the sanitizer's run time has to be the first preloaded library.
# Usage: interposer_asan.sh [options of pytest]
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/ci/build.sh asan
run_time=$(clang++-19 -print-file-name="libclang_rt.asan-$(uname -m).so")
export FOREBAY_PRELOAD_FIRST=$run_time
export FOREBAY_LIBDIR=$PWD/build/asan/lib FOREBAY_TEST_DIR=$PWD/build/tests-asan
# An MPI's memory leaks are not reported, since they are not in our code.
export ASAN_OPTIONS=detect_leaks=0:detect_container_overflow=0:verify_asan_link_order=0
chosen=(-m sanitized)
if (($# > 0)); then chosen=("$@"); fi
exec tools/ci/pytest.sh tests/suite -n 2 --dist worksteal "${chosen[@]}"
