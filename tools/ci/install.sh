#!/bin/bash
# `cmake --install` makes a relocatable tree: it is moved, and has to work there. More is tested by
# tests/trial.sh; wheel.sh tests an installation by pip.
set -euo pipefail
cd "$(dirname "$0")/../.."
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "${FOREBAY_BUILD:-build/release}" --prefix "$prefix/first" > "$prefix/log" \
    || { cat "$prefix/log"; exit 1; }
mv "$prefix/first" "$prefix/moved"
source tools/ci/expect.sh

libraries_of() {  # the preloaded library and at least one core
    ls "$1"/libforebay_mpi.so && ls "$1"/libforebay_core_*.so
}

need_libc_only() {  # FOLDER: the preloaded libraries below it need libc only
    PYTHONPATH=tools python3 -m checks.needed --build "$1"
}

expect "the installed libraries" libraries_of "$prefix/moved/lib/forebay"
expect "preloaded libraries that need libc only" need_libc_only "$prefix/moved/lib/forebay"
expect "the installed command" \
    env PATH=/usr/local/bin:/usr/bin:/bin "$prefix/moved/bin/forebay" --version
expect "the installed doctor" \
    env PATH=/usr/local/bin:/usr/bin:/bin "$prefix/moved/bin/forebay" doctor "$prefix"
lost_seconds_told() {  # PyDarshan and numpy are in the tree; the empty environment hides others
    env -i PATH=/usr/bin:/bin "$prefix/moved/bin/forebay" report \
        python/tests/darshan_logs/collective-4x20000x64.darshan > "$prefix/report" \
        && grep -q '^   proof: MPIIO_F_WRITE_TIME' "$prefix/report"
}
expect "the installed report of a Darshan log" lost_seconds_told
nothing_names() {  # TEXT FOLDER: no text file in the folder contains TEXT
    ! grep -rIlF "$1" "$2"
}
expect "a tree without this checkout in it" nothing_names "$PWD" "$prefix/moved"
expect "a tree without the place in it that it was made for" \
    nothing_names "$prefix/first" "$prefix/moved"
if ((EUID == 0)); then
    chmod 755 "$prefix"
    expect "the command for a user without root" runuser -u nobody -- \
        env -i PATH=/usr/bin:/bin "$prefix/moved/bin/forebay" --version
fi
for tool in ior hpio meta; do
    expect "the installed forebay-$tool" "$prefix/moved/bin/forebay-$tool" -h
done
# Users' builds are usually unity builds (a layer is one source), which the other steps do not test.
united() {
    cmake --preset release -B "$prefix/united" -Wno-dev -DFOREBAY_UNITY=ON -DFOREBAY_MPI=OFF \
        && cmake --build "$prefix/united" -t forebay_posix forebay_mpi
}
expect "the preloaded libraries where a layer is one source" united
expect "them to need libc only, too" need_libc_only "$prefix/united"
echo "$passed passed, 0 failed"
