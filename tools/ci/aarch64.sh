#!/bin/bash
# Makes the wheel for aarch64 by Debian's cross compiler, and runs what is in it under qemu's user
# emulation: MPI programs of 2 ranks on both MPIs, and C programs whose files are in the pool of a
# daemon, by `forebay run` and without it. Unit tests, too, also with pages of 64 KiB. Debian's
# arm64 packages are unpacked into build/aarch64-root, not installed; the wheel is left in
# build/dist-aarch64. The kernel is told to start aarch64 programs by qemu in a user namespace only,
# where binfmt_misc is its own (Linux 6.7). In what `expect` runs, set -e does not count.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [[ ${1:-} != inside ]]; then
    tools/ci/packages.sh all
    exec unshare --user --map-root-user --mount "$0" inside
fi
tree=$(realpath -m "${FOREBAY_BUILD:-build/aarch64}")
root=$(realpath -m "${FOREBAY_ROOTS:-build}/aarch64-root")
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
source tools/ci/expect.sh
source tools/ci/roots.sh
source tools/ci/arm64.sh
libraries=$prefix/installed/forebay/lib
limit=$((120 * ${FOREBAY_TESTS_SLOWER:-1}))  # seconds; more where the step runs on idle cores
tested=(foundation_kernel foundation_base foundation_record pool_protocol pool_capture)
# qemu lets every madvise succeed, so that addresses are not checked, and has no seccomp filters;
# in the user namespace no file can be given to a stranger; and /bin/sh is not for aarch64.
without='KnownMemory.*:OwnFiles.*'
without+=:ProgramFile.ThisProgramIsPreloadable:ProgramFile.AScriptIsWhatItsInterpreterIs

programs_start_by_qemu() {
    # The beginning of an ELF file: 64 bits, little-endian, that machine, a program or a library.
    local magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
    local mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
    mount -t binfmt_misc none /proc/sys/fs/binfmt_misc \
        && echo ":aarch64:M::$magic:$mask:$(command -v qemu-aarch64-static):F" \
            > /proc/sys/fs/binfmt_misc/register
}

is_installed_by_pip() {  # as on a machine of that kind, but for what comes from PyPI with it
    .venv/bin/python -m pip --disable-pip-version-check install --no-deps --only-binary :all: \
        --platform manylinux_2_28_aarch64 --target "$prefix/installed" \
        build/dist-aarch64/forebay-*-manylinux_2_28_aarch64.whl
}

builds_tests() {
    cmake --preset aarch64 -B "$tree" "-DFOREBAY_SYSROOT=$root" -Wno-dev \
        && cmake --build "$tree" --target "${tested[@]/%/_test}"
}

passes() {  # passes TEST [PAGE]: a unit test, with pages of that many bytes
    qemu-aarch64-static ${2:+-p "$2"} "$tree/bin/$1_test" "--gtest_filter=-$without"
}

compile() {  # compile PROGRAM
    aarch64-linux-gnu-gcc "--sysroot=$root" -std=gnu11 -O1 "tests/posix/$1.c" -o "$prefix/$1"
}

run_in() {  # run_in FOLDER PROGRAM WORDS [VARIABLE…]: its output goes to FOLDER.said
    mkdir "$prefix/$1"
    # shellcheck disable=SC2086  # one word or more
    timeout "$limit" env -C "$prefix/$1" "${@:4}" "$prefix/$2" $3 > "$prefix/$1.said" 2>&1
}

is_same() {  # is_same PROGRAM WORDS: plain and with a pool
    local daemon status=0
    rm -rf "$prefix"/{plain,pooled,daemon}
    mkdir -m 700 "$prefix/daemon"
    FOREBAY_POOL_QUIET=60000 FOREBAY_POOL_AGE=3600 "$libraries/forebayd" \
        --socket "$prefix/daemon/s" --rescue "$prefix/daemon" > "$prefix/daemon.said" &
    daemon=$!
    until [[ -S $prefix/daemon/s ]]; do
        kill -0 "$daemon" || return 1
        sleep 0.1
    done
    run_in plain "$1" "$2" || status=1
    run_in pooled "$1" "$2" QEMU_SET_ENV="LD_PRELOAD=$libraries/libforebay_posix.so" \
        FOREBAY_POOL_SOCKET="$prefix/daemon/s" FOREBAY_POOL_PATHS="$prefix/pooled" || status=1
    kill "$daemon"
    wait "$daemon" || status=1
    diff "$prefix"/{plain,pooled}.said && diff -r "$prefix"/{plain,pooled} && ((status == 0))
}

runs_by_the_command() {  # the bytes arrive, and went through the pool
    local here=$PWD
    mkdir "$prefix/run"
    (cd "$prefix/run" && PYTHONPATH=$prefix/installed timeout "$limit" \
        "$here/.venv/bin/python" -m forebay run --pool . --format json \
        --summary "$prefix/summary" -- "$prefix/streams" written) \
        && diff -r "$prefix/plain" "$prefix/run" && python3 - "$prefix" <<'END'
import json, pathlib, sys
(file,) = json.loads((pathlib.Path(sys.argv[1]) / "summary").read_text())["pool"]["files"]
assert file["path"] == f"{sys.argv[1]}/run/written" and file["taken"] > 100000, file
END
}

# A case of the suite, whose program is compiled by Open MPI's wrapper in $root. The launcher is
# this machine's, as it is for MPICH. Runs both with the MPI alone and with the core. qemu cannot
# read the memory of another process (process_vm_readv), which Open MPI is told.
open_mpi_is_same() {
    local case=views-ompi414-2-held
    env -u FOREBAY_RESULTS "PATH=$root/wrappers:$PATH" "FOREBAY_LIBDIR=$libraries" \
        "FOREBAY_TEST_DIR=$prefix/tests" OMPI_MCA_btl_vader_single_copy_mechanism=none \
        tools/ci/pytest.sh "tests/suite/programs_test.py::test_same_as_plain[$case]"
}

# Between two ranks under qemu, MPICH's MPI_Finalize does not return, with and without Forebay. By
# then the program has closed its files and said "end".
mpich_runs() {  # mpich_runs FOLDER [WORD OF THE LAUNCHER…]
    local launcher
    mkdir "$prefix/$1"
    timeout "$((3 * limit))" mpiexec.mpich -n 2 "${@:2}" "$prefix/views" "$prefix/$1" vector \
        > "$prefix/$1.said" 2>&1 &
    launcher=$!
    until grep -qs '^end' "$prefix/$1/out.txt"; do
        if ! kill -0 "$launcher"; then
            cat "$prefix/$1.said"
            return 1
        fi
        sleep 0.1
    done
    kill "$launcher" 2> /dev/null
    wait "$launcher"
    return 0
}

mpich_is_same() {
    local preload=$libraries/libforebay_mpi.so record=$prefix/core/record.jsonl
    "$root/wrappers/mpicc.mpich" -std=gnu11 -O1 -I tests/mpi tests/mpi/views.c -o "$prefix/views" \
        && mpich_runs alone \
        && mpich_runs core -genv LD_PRELOAD "$preload" -genv FOREBAY_RECORD "$record" \
        && PYTHONPATH=python:tests .venv/bin/python - "$prefix" <<'END'
import pathlib, sys
from suite.compare import compare
prefix = pathlib.Path(sys.argv[1])
compare(prefix / "alone", prefix / "core", ranks=2)
END
}

export QEMU_LD_PREFIX=$root
expect "a root of arm64 packages" arm64_root "$root"
expect "starting programs by qemu" programs_start_by_qemu
expect "a wheel for aarch64" env FOREBAY_WHEEL_ARCH=aarch64 packaging/make_wheel.sh \
    build/dist-aarch64
expect "pip install" is_installed_by_pip
expect "libraries that need glibc 2.28 and no C++ library" env PYTHONPATH=tools \
    python3 -m checks.needed --build "$prefix/installed"
expect "the build of tests for aarch64" builds_tests
for test in "${tested[@]}"; do
    expect "$test" passes "$test"
done
for test in pool_protocol pool_capture; do
    expect "$test with pages of 64 KiB" passes "$test" 65536
done
for program in streams strange_streams stream_operations; do
    expect "$program for aarch64" compile "$program"
done
expect "random operations on streams" is_same stream_operations "1 300"
for words in wide standard strangers; do
    expect "streams: $words" is_same strange_streams "$words"
done
for words in read both buffers positions modes descriptors written; do
    expect "streams: $words" is_same streams "$words"
done
expect "forebay run with a pool" runs_by_the_command
expect "two ranks on Open MPI" open_mpi_is_same
expect "two ranks on MPICH" mpich_is_same
echo "$passed passed, 0 failed"
