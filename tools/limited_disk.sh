#!/bin/bash
# A disk that behaves as a parallel file system does to one of its clients: so many bytes a second,
# and only so many dirty bytes before a writer has to wait (Lustre's max_dirty_mb). A loop device
# with ext4, a limit of bandwidth (blkio of the root cgroup, so that the kernel's own flushing
# counts, too) and a strict limit of dirty pages (bdi). For tests, benchmarks and the demo.
#
#   tools/limited_disk.sh up FOLDER [options]    makes the disk and mounts it at FOLDER/disk
#   tools/limited_disk.sh down FOLDER            takes it away, also what is left of a failed `up`
#   tools/limited_disk.sh drop                   drops clean page caches, so that reads reach disks
#
# Options: --rate BYTES     each second, writing and reading (52428800); at least 50 MB/s are
#                           measured well, since the kernel counts in slices of 100 ms
#          --dirty BYTES    dirty bytes before a writer waits (33554432)
#          --size BYTES     of the disk (4294967296; sparse)
# Exit status: 0; 1 something failed (said on standard error); 2 wrong words; 77 not possible here.
set -euo pipefail

say() { echo "limited_disk.sh: $1" >&2; }
usage() { sed -n '2,15s/^# \{0,1\}//p' "$0" >&2; exit 2; }

throttle() {  # device bytes
    local way
    for way in write read; do echo "$1 $2" > "$blkio/blkio.throttle.${way}_bps_device"; done
}

up() {
    [[ $EUID -eq 0 ]] || { say "cannot make a loop device (not root). Run it as root."; exit 77; }
    [[ -w $blkio/blkio.throttle.write_bps_device ]] \
        || { say "cannot limit a disk (no $blkio). A kernel with blkio throttling can."; exit 77; }
    mkdir -p "$folder/disk"
    truncate -s "$size" "$folder/image"
    local loop device
    loop=$(losetup -f --show --direct-io=on "$folder/image" 2>/dev/null \
        || losetup -f --show "$folder/image") \
        || { say "cannot make a loop device. See losetup -f."; exit 77; }
    echo "$loop" > "$folder/loop"
    mkfs.ext4 -q -E lazy_itable_init=1,lazy_journal_init=1 "$loop"
    mount "$loop" "$folder/disk"
    chmod 1777 "$folder/disk"
    device=$(< "/sys/block/${loop#/dev/}/dev")
    throttle "$device" "$rate"
    if [[ -w /sys/class/bdi/$device/strict_limit ]]; then
        echo 1 > "/sys/class/bdi/$device/strict_limit"
        echo "$dirty" > "/sys/class/bdi/$device/max_bytes"
    else
        say "dirty pages are not limited (no strict_limit in /sys/class/bdi/$device)."
    fi
}

down() {
    local loop=
    if [[ -f $folder/loop ]]; then
        loop=$(< "$folder/loop")
        throttle "$(< "/sys/block/${loop#/dev/}/dev")" 0 || true
    fi
    if mountpoint -q "$folder/disk"; then umount "$folder/disk" || umount -l "$folder/disk"; fi
    if [[ -n $loop ]]; then losetup -d "$loop" || true; fi
    rm -rf "$folder/image" "$folder/loop" "$folder/disk"
}

blkio=/sys/fs/cgroup/blkio
rate=52428800
dirty=33554432
size=4294967296
[[ $# -ge 1 ]] || usage
what=$1
shift
if [[ $what == drop ]]; then
    sync
    echo 3 > /proc/sys/vm/drop_caches
    exit 0
fi
[[ ($what == up || $what == down) && $# -ge 1 ]] || usage
folder=$(realpath -m "$1")
shift
while [[ $# -gt 0 ]]; do
    case $1 in
    --rate) rate=$2 ;;
    --dirty) dirty=$2 ;;
    --size) size=$2 ;;
    *) usage ;;
    esac
    shift 2
done
"$what"
