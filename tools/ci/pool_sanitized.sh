#!/bin/bash
# Runs the integration tests of pool and capture with instrumented libraries: first with the daemon
# and libforebay_posix.so of the asan build, then with the tsan build's daemon and the normal
# libforebay_posix.so. A sanitizer's report about any process fails the test that started it.
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
tests=(tests/suite/pool_bad_block_test.py tests/suite/pool_faults_test.py
    tests/suite/pool_quota_test.py
    tests/suite/pool_paper_test.py tests/suite/pool_run_test.py tests/suite/posix_calls_test.py
    tests/suite/posix_forks_test.py tests/suite/posix_killed_test.py
    tests/suite/posix_random_test.py tests/suite/posix_seen_test.py
    tests/suite/posix_streams_test.py tests/suite/posix_stress_test.py
    tests/suite/posix_switch_test.py tests/suite/posix_test.py)
chosen=(-m 'not full')
if (($# > 0)); then chosen=("$@"); fi

# prepare PRESET FILE…: makes build/pool-PRESET/lib, the release libraries with FILE… of the preset.
prepare() {
    local preset=$1 place=$PWD/build/pool-$1 file
    shift
    tools/ci/build.sh release && tools/ci/build.sh "$preset" "${@/#/lib/}" || return 1
    rm -rf "$place"
    mkdir -p "$place"
    cp -rs "$PWD/build/release/lib" "$place/lib"
    for file in "$@"; do ln -sf "$PWD/build/$preset/lib/$file" "$place/lib/$file"; done
    export FOREBAY_LIBDIR=$place/lib FOREBAY_TEST_DIR=$PWD/build/tests-$preset
}

asan() {
    local run_time options
    prepare asan forebayd libforebay_posix.so || return 1
    cc -O1 -Wall -shared -fPIC -o build/pool-asan/lenient.so tests/posix/lenient.c || return 1
    run_time=$(clang++-19 -print-file-name="libclang_rt.asan-$(uname -m).so")
    # Leaks and mismatched operators new and delete are in the programs, not in our code.
    options=detect_leaks=0:alloc_dealloc_mismatch=0:detect_container_overflow=0:disable_coredump=0
    FOREBAY_PRELOAD_FIRST="$PWD/build/pool-asan/lenient.so $run_time" \
        ASAN_OPTIONS=$options:verify_asan_link_order=0 run
}

tsan() {
    prepare tsan forebayd || return 1
    TSAN_OPTIONS=second_deadlock_stack=1 run
}

run() { tools/ci/pytest.sh "${tests[@]}" -n 2 --dist worksteal "${chosen[@]}"; }

failed=0
for sanitizer in "${sanitizers[@]}"; do "$sanitizer" || failed=1; done
exit "$failed"
