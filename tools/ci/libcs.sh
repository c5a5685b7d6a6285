#!/bin/bash
# Runs what is preloaded with the libcs of Debian 11 and 13 (glibc 2.31 and 2.41), in roots of a few
# packages: programs start with it, and say and leave the same with their files in the pool as
# without (C streams, whose words libc lays out, and system calls by number). Needs root. In what
# `expect` runs, set -e does not count.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [[ ${1:-} != inside ]]; then
    exec unshare --mount "$0" inside  # what is mounted here ends with this
fi
libraries=$(realpath "${FOREBAY_BUILD:-build/release}/lib")
prefix=$(mktemp -d)
trap 'umount "$prefix"/*/proc 2>/dev/null; rm -rf --one-file-system "$prefix"' EXIT
source tools/ci/expect.sh

root_of() {  # root_of SUITE PACKAGE…: their files in $prefix/SUITE, and what programs need beside
    local root=$prefix/$1 apt=$prefix/apt-$1 folder package
    mkdir -p "$root"/{dev,proc,tmp} "$apt"/{lists/partial,cache/archives/partial}
    touch "$apt/status"
    echo "deb http://deb.debian.org/debian $1 main" > "$apt/sources.list"
    local asked=(apt-get -qq -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=-
        -o "Dir::State::lists=$apt/lists" -o "Dir::State::status=$apt/status"
        -o "Dir::Cache=$apt/cache" -o Acquire::Languages=none -o APT::Sandbox::User=root)
    "${asked[@]}" update && (cd "$apt" && "${asked[@]}" download "${@:2}") || return 1
    for package in "$apt"/*.deb; do dpkg-deb -x "$package" "$root" || return 1; done
    for folder in bin lib lib64; do  # since Debian 12 they are links, which base-files brings
        if [[ ! -e $root/$folder ]]; then ln -s "usr/$folder" "$root/$folder"; fi
    done
    mknod -m 666 "$root/dev/null" c 1 3 && mount -t proc proc "$root/proc" \
        && cp "$libraries"/libforebay_{mpi,posix}.so "$root/tmp"
}

compile() {  # compile PROGRAM: with Debian 11's headers and libc, so that it runs on both
    local of=$prefix/bullseye/usr/lib/x86_64-linux-gnu libc=$prefix/bullseye/lib/x86_64-linux-gnu
    local gcc
    gcc=$(dirname "$(gcc -print-libgcc-file-name)")
    gcc -std=gnu11 -O1 -nostdinc -isystem "$gcc/include" \
        -isystem "$prefix/bullseye/usr/include/x86_64-linux-gnu" \
        -isystem "$prefix/bullseye/usr/include" '-Dstrerrorname_np(x)=strerror(x)' \
        -DSYS_clone3=435 -DSYS_close_range=436 -DSYS_openat2=437 -nostdlib -no-pie \
        "$of"/crt{1,i}.o "$gcc/crtbegin.o" "tests/posix/$1.c" "$libc/libpthread.so.0" \
        "$libc/libc.so.6" "$of/libc_nonshared.a" "$libc/ld-linux-x86-64.so.2" \
        "$gcc/crtend.o" "$of/crtn.o" -o "$prefix/bullseye/tmp/$1" \
        && cp "$prefix/bullseye/tmp/$1" "$prefix/trixie/tmp"
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
    FOREBAY_POOL_QUIET=60000 FOREBAY_POOL_AGE=3600 "$libraries/forebayd" \
        --socket "$root/tmp/daemon/s" --rescue "$root/tmp/daemon" > "$prefix/daemon.said" &
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

expect "a root of Debian 11" root_of bullseye libc6 libc6-dev linux-libc-dev coreutils dash
expect "a root of Debian 13" root_of trixie libc6 coreutils dash
for program in streams strange_streams stream_operations numbers; do
    expect "$program for Debian 11" compile "$program"
done
for suite in bullseye trixie; do
    for library in libforebay_mpi.so libforebay_posix.so; do
        expect "a program of $suite with $library" starts "$suite" "$library"
    done
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
