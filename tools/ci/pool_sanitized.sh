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
    tools/ci/build.sh asan forebayd forebay_posix
    local run_time
    mkdir -p build/pool-asan
    cc -O1 -Wall -shared -fPIC -o build/pool-asan/lenient.so tests/posix/lenient.c
    run_time=$(clang++-19 -print-file-name="libclang_rt.asan-$(uname -m).so")
    # Leaks, and how programs pair new and free, are not ours to mend.
    FOREBAY_PRELOAD_FIRST="$PWD/build/pool-asan/lenient.so $run_time" \
        FOREBAY_LIBDIR=$PWD/build/asan/lib FOREBAY_TEST_DIR=$PWD/build/tests-asan \
        ASAN_OPTIONS=detect_leaks=0:detect_container_overflow=0:verify_asan_link_order=0:alloc_dealloc_mismatch=0 \
        run
}

tsan() {
    tools/ci/build.sh tsan forebayd
    # All but the daemon is what users have.
    rm -rf build/pool-tsan
    mkdir -p build/pool-tsan
    cp -rs "$PWD/build/release/lib" build/pool-tsan/lib
    ln -sf "$PWD/build/tsan/lib/forebayd" build/pool-tsan/lib/forebayd
    FOREBAY_LIBDIR=$PWD/build/pool-tsan/lib FOREBAY_TEST_DIR=$PWD/build/tests-tsan \
        TSAN_OPTIONS=second_deadlock_stack=1 run
}

failed=0
for sanitizer in "${sanitizers[@]}"; do
    ("$sanitizer") || failed=1
done
exit "$failed"
