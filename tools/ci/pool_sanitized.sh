#!/bin/bash
# The pool's and the capture's integration tests with instrumented libraries: first the daemon and
# libforebay_posix.so of the asan build, then the daemon of the tsan build beneath the library that
# users have. A report about any process fails the test that it comes from.
# Usage: pool_sanitized.sh [asan|tsan] [options of pytest]
set -euo pipefail
cd "$(dirname "$0")/../.."
sanitizers=(asan tsan)
if [[ ${1:-} == asan || ${1:-} == tsan ]]; then
    sanitizers=("$1")
    shift
fi
export FOREBAY_SANITIZED=1
export ASAN_SYMBOLIZER_PATH=/usr/bin/addr2line TSAN_SYMBOLIZER_PATH=/usr/bin/addr2line
tests=(tests/suite/pool_faults_test.py tests/suite/pool_quota_test.py
    tests/suite/pool_run_test.py tests/suite/posix_calls_test.py
    tests/suite/posix_killed_test.py tests/suite/posix_random_test.py
    tests/suite/posix_stress_test.py tests/suite/posix_switch_test.py
    tests/suite/posix_test.py)
chosen=(-m 'not full')
if (($# > 0)); then chosen=("$@"); fi

run() { tools/ci/pytest.sh "${tests[@]}" -n 2 --dist worksteal "${chosen[@]}"; }

asan() {
    local place=$PWD/build/pool-asan run_time
    run_time=$(clang++-19 -print-file-name="libclang_rt.asan-$(uname -m).so")
    tools/ci/build.sh asan forebayd forebay_posix || return 1
    mkdir -p "$place"
    cc -O1 -Wall -shared -fPIC -o "$place/lenient.so" tests/posix/lenient.c || return 1
    # Leaks, and which new goes with which free, are the programs' own business.
    local options=detect_leaks=0:alloc_dealloc_mismatch=0:detect_container_overflow=0
    FOREBAY_PRELOAD_FIRST="$place/lenient.so $run_time" \
        FOREBAY_LIBDIR=$PWD/build/asan/lib FOREBAY_TEST_DIR=$PWD/build/tests-asan \
        ASAN_OPTIONS=$options:verify_asan_link_order=0 run
}

tsan() {
    local place=$PWD/build/pool-tsan
    tools/ci/build.sh release && tools/ci/build.sh tsan forebayd || return 1
    # All but the daemon is what users have.
    rm -rf "$place"
    mkdir -p "$place"
    cp -rs "$PWD/build/release/lib" "$place/lib"
    ln -sf "$PWD/build/tsan/lib/forebayd" "$place/lib/forebayd"
    FOREBAY_LIBDIR=$place/lib FOREBAY_TEST_DIR=$PWD/build/tests-tsan \
        TSAN_OPTIONS=second_deadlock_stack=1 run
}

failed=0
for sanitizer in "${sanitizers[@]}"; do "$sanitizer" || failed=1; done
exit "$failed"
