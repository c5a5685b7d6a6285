#!/bin/bash
# Measures the gate without a cache in front of slow targets: tests/mpi/striped_fs.c (FUSE) stripes
# files over three ext4 on loop devices with limited bandwidth. Collective writes with k requests in
# flight per target (1, 4, unlimited, found while running) are compared with the default of 2.
#
#   evaluation/gate_on_loops.sh FOLDER [PAIRS]     needs root and the packages of purpose `test`; in
#                                             /dev/shm no disk disturbs
#
# Three series: each write waits for its device (-s of striped_fs); the targets' page caches take
# the writes; and as the first, but one target has a tenth of the bandwidth. For each k, the bytes
# are read back without Forebay, and the largest number of simultaneous requests per target is
# printed.
#
#   FOREBAY_TARGET_BYTES   limit of each target per second (20 MiB)
set -euo pipefail
cd "$(dirname "$0")/.."
source evaluation/loop_targets.sh
take_words 8 "$@"
limit=${FOREBAY_TARGET_BYTES:-20971520}
library=$PWD/build/release/lib
mount=$folder/mount
sick=1
ranks=2
launcher="mpirun.openmpi --allow-run-as-root --oversubscribe -n $ranks"
server=
stamp=0

finish() {
    set +e
    limit_all 0
    if mountpoint -q "$mount"; then umount -l "$mount"; fi
    if [[ -n $server ]]; then wait "$server"; fi
    remove_targets "$folder"
    rm -rf "$folder"
}

forebay() { PYTHONPATH=python FOREBAY_LIBDIR=$library .venv/bin/python -m forebay "$@"; }

at_once() { python3 -c "import os; print(os.getxattr('$mount', 'striped_fs.at_once').decode())"; }

build_striped_fs() {
    local flags
    read -ra flags <<< "$(pkg-config --cflags --libs fuse3)"
    cc -std=gnu11 -O2 -D_FILE_OFFSET_BITS=64 tests/mpi/striped_fs.c -o "$folder/striped_fs" \
        "${flags[@]}"
}

serve() {  # serve [-s]: mounts the file system, after unmounting an earlier one
    if [[ -n $server ]]; then
        umount "$mount"
        wait "$server"
    fi
    "$folder/striped_fs" "$@" "$mount" "$folder/files" "$folder"/target.{0,1,2} &
    server=$!
    until mountpoint -q "$mount"; do
        kill -0 $server || { server=; echo "gate_on_loops.sh: no FUSE here." >&2; exit 1; }
        sleep 0.1
    done
}

# with K: sets `side` to one side's environment. A k found by a run is kept for the next, as usual.
with() {
    side=(LD_PRELOAD="$library/libforebay_mpi.so" FOREBAY_REQUESTS_IN_FLIGHT="$1"
        FOREBAY_COLLECTIVE_WRITE=enable FOREBAY_LIMITS_CACHE="$folder/limits.$1")
}

# Writes with k = K through `forebay run`, with the summary in $folder/summary, then reads back
# without Forebay.
check() {  # check K WORD…
    local ior=("$library/openmpi/forebay-ior" -a MPIIO -c -E -k -e "${@:2}" -G $((++stamp)))
    local start
    read -ra start <<< "$launcher"
    at_once > /dev/null
    forebay run --set requests_in_flight="$1" --set collective_write=enable --set limits_cache= \
        --summary "$folder/summary" -- "${start[@]}" "${ior[@]}" -w > /dev/null
    echo "k = $1: at most $(at_once) requests at once at the targets"
    "${start[@]}" "${ior[@]}" -r -R > /dev/null
    echo "k = $1: read back without Forebay, the bytes are right"
}

compare() {  # compare K WORD…: k = K with k = 2
    local ior=(ior -a MPIIO -c -w -E -k -e "${@:2}")
    with 2
    local default=("${side[@]}")
    with "$1"
    forebay bench compare --launcher "$launcher" --pairs "$pairs" "${default[@]}" "${ior[@]}" \
        -- "${side[@]}" "${ior[@]}"
}

series() {  # series TITLE WORD…
    local k
    echo "==== $1"
    shift
    for k in 1 4 4096 0; do
        echo "== k = $k against k = 2"
        check "$k" "$@"
        compare "$k" "$@"
    done
}

named() {  # named K WORD…
    check "$@"
    grep -i slow "$folder/summary" || echo "k = $1: forebay run names no slow target"
}

trap finish EXIT
mkdir -p "$mount" "$folder/files"
build_striped_fs
make_targets "$folder" 256M
serve -s
forebay layout set -c 3 -S 1m "$mount/file"
check 2 -t 24m -b 48m -o "$mount/file"
limit_all "$limit"
series "every write waits for its device" -t 24m -b 48m -o "$mount/file"
serve
series "page caches take the writes" -t 24m -b 48m -o "$mount/file"
serve -s
set_limit "${devices[$sick]}" $((limit / 10))
series "target $sick has a tenth of the bandwidth" -t 12m -b 12m -o "$mount/file"
echo "==== is the slow target named?"
for k in 0 2 4096; do named "$k" -t 24m -b 48m -o "$mount/file"; done
