# For gate.sh and gate_on_loops.sh to source: three slow storage targets, each an ext4 on a loop
# device with limited bandwidth. The limits are set in the root cgroup, the only one that also
# covers write-back by the kernel. Needs root.
throttle=/sys/fs/cgroup/blkio
devices=()

# take_words PAIRS WORD…: sets `folder`, which must not exist, and `pairs` (default PAIRS) from the
# script's arguments. Without arguments, prints the comment at the script's head.
take_words() {
    (($# >= 2)) || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 2; }
    folder=$(realpath -m "$2")
    pairs=${3:-$1}
    [[ ! -e $folder ]] \
        || { echo "${0##*/}: $folder is there already. Name a new folder." >&2; exit 1; }
}

set_limit() {  # set_limit DEVICE BYTES_PER_SECOND; 0 removes the limit
    local number
    number=$(lsblk -dno MAJ:MIN "$1" | tr -d ' ')
    echo "$number $2" > $throttle/blkio.throttle.write_bps_device
    echo "$number $2" > $throttle/blkio.throttle.read_bps_device
}

make_targets() {  # make_targets FOLDER BYTES: FOLDER/target.0 … 2, each BYTES large
    local id device
    for id in 0 1 2; do
        mkdir -p "$1/target.$id"
        truncate -s "$2" "$1/image.$id"
        device=$(losetup -f --show "$1/image.$id")
        devices+=("$device")
        mkfs.ext4 -q -E nodiscard "$device"
        mount "$device" "$1/target.$id"
    done
}

limit_all() {  # limit_all BYTES_PER_SECOND
    local device
    for device in "${devices[@]}"; do set_limit "$device" "$1"; done
}

remove_targets() {  # remove_targets FOLDER: removes those targets that exist
    local device target
    limit_all 0
    for target in "$1"/target.*; do ! mountpoint -q "$target" || umount "$target"; done
    for device in "${devices[@]}"; do losetup -d "$device"; done
    devices=()
}
