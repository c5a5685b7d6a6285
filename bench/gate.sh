#!/bin/bash
# What the gate does on a real striped file system whose targets are slow: a CephFS whose three OSDs
# keep their data on loop-mounted file systems with a limit of bandwidth each. Pairs of collective
# writes with k requests in flight per target against Forebay's default of 2.
#
#   bench/gate.sh FOLDER [PAIRS]     needs root and the packages of purpose `cephfs`
#
#   FOREBAY_TARGET_BYTES   limit of each target per second (10 MiB; 0: none)
#   FOREBAY_STRIPE         stripe size (1m)
#   FOREBAY_CEPH_CLIENT    a line for the client's configuration; "client_oc = false": no cache
set -euo pipefail
cd "$(dirname "$0")/.."
(($# >= 1)) || { sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 2; }
folder=$(realpath -m "$1")
pairs=${2:-12}
limit=${FOREBAY_TARGET_BYTES:-10485760}
stripe=${FOREBAY_STRIPE:-1m}
throttle=/sys/fs/cgroup/blkio
devices=()

set_limit() {  # set_limit DEVICE BYTES
    local number
    number=$(lsblk -dno MAJ:MIN "$1" | tr -d ' ')
    echo "$number $2" > $throttle/blkio.throttle.write_bps_device
    echo "$number $2" > $throttle/blkio.throttle.read_bps_device
}

finish() {
    local device
    set +e
    for device in "${devices[@]}"; do set_limit "$device" 0; done
    tests/cephfs.sh down "$folder/ceph"
    for target in "$folder"/target.*; do mountpoint -q "$target" && umount "$target"; done
    for device in "${devices[@]}"; do losetup -d "$device"; done
    rm -rf "$folder"
}

make_targets() {
    local id device
    for id in 0 1 2; do
        mkdir -p "$folder/target.$id"
        truncate -s 3G "$folder/image.$id"
        device=$(losetup -f --show "$folder/image.$id")
        devices+=("$device")
        mkfs.ext4 -q -E nodiscard "$device"
        mount "$device" "$folder/target.$id"
    done
}

# write_with K: the words of one side
write_with() {
    side=(LD_PRELOAD="$PWD/build/release/lib/libforebay_mpi.so" FOREBAY_REQUESTS_IN_FLIGHT="$1"
        FOREBAY_STRIPING_FACTOR=3 FOREBAY_STRIPING_UNIT="$stripe" FOREBAY_COLLECTIVE_WRITE=enable
        ior -a MPIIO -c -w -e -t 24m -b 48m -o "$mount/file")
}

[[ -e $folder ]] && { echo "gate.sh: $folder is there already. Name a new folder." >&2; exit 1; }
trap finish EXIT
make_targets
export FOREBAY_OSD_BYTES=2147483648
export FOREBAY_OSD_FOLDERS="$folder/target.0/osd $folder/target.1/osd $folder/target.2/osd"
mount=$(tests/cephfs.sh up "$folder/ceph")
for device in "${devices[@]}"; do set_limit "$device" "$limit"; done
write_with 2
default=("${side[@]}")
for k in ${FOREBAY_KS:-1 4 4096}; do
    write_with "$k"
    echo "== k = $k against k = 2"
    PYTHONPATH=python FOREBAY_LIBDIR=$PWD/build/release/lib .venv/bin/python -m forebay \
        bench compare -np 2 --pairs "$pairs" "${default[@]}" -- "${side[@]}"
done
