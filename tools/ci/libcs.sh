#!/bin/bash
# Runs what was built with the libcs of Debian 11 and 13 (glibc 2.31 and 2.41), in roots of a few
# packages: programs start with what is preloaded, and say and leave the same with their files in
# the pool of a daemon there as without (C streams, whose words libc lays out, and system calls by
# number); ranks of an MPI program there write through the core. Needs root. In what `expect` runs,
# set -e does not count.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [[ ${1:-} != inside ]]; then
    exec unshare --mount "$0" inside  # what is mounted here ends with this
fi
libraries=$(realpath "${FOREBAY_BUILD:-build/release}/lib")
prefix=$(mktemp -d)
trap 'umount "$prefix"/*/proc 2>/dev/null || true; rm -rf --one-file-system "$prefix"' EXIT
source tools/ci/expect.sh
source tools/ci/roots.sh

root_of() {  # root_of SUITE PACKAGE…: their files in $prefix/SUITE, and what programs need beside
    local root=$prefix/$1 folder
    mkdir -p "$root"/{dev/shm,etc,proc,tmp}
    unpack "$1" "$root" "${@:2}" || return 1
    for folder in bin lib lib64; do  # since Debian 12 they are links, which base-files brings
        if [[ ! -e $root/$folder ]]; then ln -s "usr/$folder" "$root/$folder"; fi
    done
    echo "127.0.0.1 localhost $(hostname)" > "$root/etc/hosts"
    cp -a "$prefix/mpi/usr" "$root" && mknod -m 666 "$root/dev/null" c 1 3 \
        && mount -t proc proc "$root/proc" \
        && cp "$libraries"/libforebay_{mpi,posix,core_mpich}.so "$root/tmp" \
        && cp "$libraries"/forebay{d,-layout} "$root/tmp"
}

compile() {  # compile SOURCE [WORD…]: with Debian 11's headers and libc, so that it runs on both
    local of=$prefix/bullseye/usr/lib/x86_64-linux-gnu libc=$prefix/bullseye/lib/x86_64-linux-gnu
    local name gcc
    name=$(basename "$1" .c)
    gcc=$(dirname "$(gcc -print-libgcc-file-name)")
    gcc -std=gnu11 -O1 -nostdinc -isystem "$gcc/include" \
        -isystem "$prefix/bullseye/usr/include/x86_64-linux-gnu" \
        -isystem "$prefix/bullseye/usr/include" '-Dstrerrorname_np(x)=strerror(x)' \
        -DSYS_clone3=435 -DSYS_close_range=436 -DSYS_openat2=437 -nostdlib -no-pie \
        "$of"/crt{1,i}.o "$gcc/crtbegin.o" "$@" "$libc/libpthread.so.0" \
        "$libc/libc.so.6" "$of/libc_nonshared.a" "$libc/ld-linux-x86-64.so.2" \
        "$gcc/crtend.o" "$of/crtn.o" -o "$prefix/bullseye/tmp/$name" \
        && cp "$prefix/bullseye/tmp/$name" "$prefix/trixie/tmp"
}

starts() {  # starts SUITE LIBRARY
    chroot "$prefix/$1" /usr/bin/env "LD_PRELOAD=/tmp/$2" /bin/true
}

run_in() {  # run_in FOLDER PROGRAM WORDS [VARIABLE…]: its output goes to FOLDER.said
    local folder=$1 program=$2 words=$3
    mkdir "$root/tmp/$folder"
    # shellcheck disable=SC2086  # one word or more
    timeout 60 chroot "$root" /usr/bin/env -C "/tmp/$folder" "${@:4}" "/tmp/$program" $words \
        > "$root/tmp/$folder.said" 2>&1
}

is_same() {  # is_same SUITE PROGRAM WORDS: plain and with a pool
    local root=$prefix/$1 daemon status=0
    rm -rf "$root/tmp/"{plain,pooled,daemon}
    mkdir -m 700 "$root/tmp/daemon"
    FOREBAY_POOL_QUIET=60000 FOREBAY_POOL_AGE=3600 chroot "$root" /tmp/forebayd \
        --socket /tmp/daemon/s --rescue /tmp/daemon > "$prefix/daemon.said" &
    daemon=$!
    until [[ -S $root/tmp/daemon/s ]]; do
        kill -0 "$daemon" || return 1
        sleep 0.05
    done
    run_in plain "$2" "$3" || status=1
    run_in pooled "$2" "$3" LD_PRELOAD=/tmp/libforebay_posix.so \
        FOREBAY_POOL_SOCKET=/tmp/daemon/s FOREBAY_POOL_PATHS=/tmp/pooled || status=1
    kill "$daemon"
    wait "$daemon" || status=1
    diff "$root"/tmp/{plain,pooled}.said && diff -r "$root"/tmp/{plain,pooled} && ((status == 0))
}

ranks() {  # ranks FOLDER [VARIABLE…]: two ranks of `write` in a folder of $root
    mkdir "$root/tmp/$1"
    timeout 120 chroot "$root" /usr/bin/env -C "/tmp/$1" "${@:2}" \
        mpiexec.hydra -launcher fork -n 2 /tmp/write
}

was_taken() {  # was_taken RECORD: all of its five collective writes
    python3 -c 'import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert [line["write"]["calls"] for line in lines if line["kind"] == "file"] == [5], lines' "$1"
}

writes_the_same() {  # writes_the_same SUITE: by MPI plain and through the core
    local root=$prefix/$1
    ranks mpi && ranks core LD_PRELOAD=/tmp/libforebay_mpi.so FOREBAY_RECORD=/tmp/core/record \
        && was_taken "$root/tmp/core/record" && cmp "$root"/tmp/{mpi,core}/matrix.bin
}

shows_a_layout() {  # shows_a_layout SUITE: the program that asks file systems for it starts
    chroot "$prefix/$1" /tmp/forebay-layout show /tmp/write || (($? == 1))
}

# It needs libc only, and no libdl. Debian 13's needs a hundred megabytes of libraries.
expect "the MPI of Debian 11" unpack bullseye "$prefix/mpi" mpich libmpich12 libslurm36
expect "a root of Debian 11" root_of bullseye libc6 libc6-dev linux-libc-dev coreutils dash
expect "a root of Debian 13" root_of trixie libc6 coreutils dash
for program in streams strange_streams stream_operations numbers; do
    expect "$program for Debian 11" compile "tests/posix/$program.c"
done
expect "an MPI program for Debian 11" compile examples/c-mpi-io/write.c \
    "-I$(mpicc.mpich -show | grep -o '/usr/include[^ ]*')" \
    "$prefix/bullseye/usr/lib/x86_64-linux-gnu/libmpich.so.12" \
    "-Wl,--allow-shlib-undefined"
for suite in bullseye trixie; do
    for library in libforebay_mpi.so libforebay_posix.so; do
        expect "a program of $suite with $library" starts "$suite" "$library"
    done
    expect "collective writes of $suite" writes_the_same "$suite"
    expect "forebay-layout of $suite" shows_a_layout "$suite"
    for words in written read both buffers positions modes descriptors reopened left threads; do
        expect "streams of $suite: $words" is_same "$suite" streams "$words"
    done
    for words in wide standard strangers changed wrong looked; do
        expect "streams of $suite: $words" is_same "$suite" strange_streams "$words"
    done
    expect "random operations on streams of $suite" is_same "$suite" stream_operations "1 3000"
    for words in stated moved opened changed forked mapped; do
        expect "calls by number of $suite: $words" is_same "$suite" numbers "$words"
    done
done
echo "$passed passed, 0 failed"
