#!/bin/bash
# A real CephFS on this machine: one monitor, manager and metadata server, three OSDs on sparse
# files, and ceph-fuse, all on loopback and below one folder.
#
#   tests/cephfs.sh up FOLDER      brings it up (some 20 s, 0.5 GB); prints its mount point
#   tests/cephfs.sh down FOLDER    ends all of it and removes the folder
#
# Needs root (for mounting) and the Debian packages of purpose `cephfs` in apt-packages.txt.
#   FOREBAY_OSD_FOLDERS   three folders for the OSDs' data (FOLDER/osd.0 …)
#   FOREBAY_OSD_BYTES     how large that may grow, each (4 GiB, sparse)
#   FOREBAY_CEPH_CLIENT   a line for the client's configuration, as "client_oc = false" (no cache)
set -euo pipefail

fail() { echo "cephfs.sh: $*" >&2; exit 1; }

usage() { sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 2; }

# Everything that is wanted of the daemons is in one file, so that nothing of /etc/ceph counts.
write_configuration() {
    local fsid=$1
    cat > "$folder/ceph.conf" <<CONF
[global]
fsid = $fsid
mon_host = [v2:127.0.0.1:$mon_port,v1:127.0.0.1:$((mon_port + 1))]
public_addr = 127.0.0.1
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
run_dir = $folder/run
admin_socket = $folder/run/\$cluster-\$name.asok
log_file = $folder/log/\$name.log
pid_file = $folder/run/\$name.pid
keyring = $folder/keyring
crash_dir = $folder/crash
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 8
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
mon_allow_pool_size_one = true
mon_warn_on_pool_no_redundancy = false
mon_data_avail_warn = 1
mon_data_avail_crit = 0
mon_osd_full_ratio = 0.98
mon_osd_backfillfull_ratio = 0.97
mon_osd_nearfull_ratio = 0.96
ms_bind_ipv6 = false
[mon]
mon_data = $folder/mon.\$id
mon_initial_members = a
[mgr]
mgr_data = $folder/mgr.\$id
mgr_initial_modules =
[mds]
mds_data = $folder/mds.\$id
mds_cache_memory_limit = 67108864
[osd]
osd_objectstore = bluestore
osd_memory_target = 939524096
bluestore_block_size = ${FOREBAY_OSD_BYTES:-4294967296}
bluestore_cache_size = 67108864
bluestore_cache_autotune = false
osd_class_load_list = *
osd_class_default_list = *
osd_max_object_name_len = 256
osd_max_object_namespace_len = 64
osd_scrub_load_threshold = 0.01
[client]
client_cache_size = 4096
${FOREBAY_CEPH_CLIENT:-}
CONF
}

osd_folder() {
    local -a given
    read -ra given <<< "${FOREBAY_OSD_FOLDERS:-}"
    echo "${given[$1]:-$folder/osd.$1}"
}

start_monitor() {
    local fsid=$1
    ceph-authtool --create-keyring "$folder/keyring" --gen-key -n mon. --cap mon 'allow *' \
        > /dev/null
    ceph-authtool "$folder/keyring" --gen-key -n client.admin --cap mon 'allow *' \
        --cap osd 'allow *' --cap mds 'allow *' --cap mgr 'allow *' > /dev/null
    monmaptool --create --fsid "$fsid" \
        --addv a "[v2:127.0.0.1:$mon_port,v1:127.0.0.1:$((mon_port + 1))]" "$folder/monmap" \
        > /dev/null
    ceph-mon -c "$folder/ceph.conf" --mkfs -i a --monmap "$folder/monmap" \
        --keyring "$folder/keyring"
    ceph-mon -c "$folder/ceph.conf" -i a
}

start_osd() {
    local id=$1 uuid data
    data=$(osd_folder "$id")
    uuid=$(cat /proc/sys/kernel/random/uuid)
    mkdir -p "$data"
    ceph osd new "$uuid" "$id"
    ceph-osd -c "$folder/ceph.conf" -i "$id" --mkfs --osd-uuid "$uuid" --osd-data "$data"
    ceph osd crush add "osd.$id" 1 host=loopback root=default
    ceph-osd -c "$folder/ceph.conf" -i "$id" --osd-data "$data"
}

start_osds() {
    local id
    local -a starts=()
    ceph osd setmaxosd 3 > /dev/null 2>&1
    for id in 0 1 2; do
        start_osd "$id" > "$folder/log/osd.$id.start" 2>&1 &
        starts+=($!)
    done
    for id in 0 1 2; do
        wait "${starts[$id]}" || { cat "$folder/log/osd.$id.start" >&2; return 1; }
    done
}

wait_for() {  # wait_for SECONDS WHAT COMMAND…
    local seconds=$1 what=$2
    shift 2
    local end=$((SECONDS + seconds))
    until "$@" > /dev/null 2>&1; do
        if ((SECONDS > end)); then fail "no $what in $seconds s. See $folder/log."; fi
        sleep 0.3
    done
}

mds_is_active() { ceph mds stat | grep -q 'up:active'; }

osds_are_up() { ceph osd stat | grep -q '3 osds: 3 up'; }

mount_it() {
    mkdir -p "$folder/mnt"
    ceph-fuse -c "$folder/ceph.conf" --id admin --client_mountpoint=/ "$folder/mnt" \
        > "$folder/log/ceph-fuse.start" 2>&1 || { cat "$folder/log/ceph-fuse.start" >&2; return 1; }
}

up() {
    [[ -e $folder ]] && fail "$folder is there already. Bring it down first: $0 down $folder"
    command -v ceph-mon ceph-mgr ceph-mds ceph-osd ceph-fuse ceph > /dev/null \
        || fail "Ceph's programs are missing. Run tools/ci/packages.sh cephfs."
    mkdir -p "$folder"/{run,log,crash,mon.a,mgr.x,mds.a}
    local fsid
    fsid=$(cat /proc/sys/kernel/random/uuid)
    write_configuration "$fsid"
    start_monitor "$fsid"
    wait_for 30 "monitor" ceph -s
    ceph config set mon auth_allow_insecure_global_id_reclaim false > /dev/null
    ceph-mgr -c "$folder/ceph.conf" -i x
    start_osds
    wait_for 60 "OSD" osds_are_up
    ceph osd pool create meta 4 > /dev/null 2>&1
    ceph osd pool create data 16 > /dev/null 2>&1
    ceph fs new forebay meta data > /dev/null 2>&1
    ceph-mds -c "$folder/ceph.conf" -i a > /dev/null
    wait_for 60 "metadata server" mds_is_active
    mount_it
    wait_for 20 "mount" mountpoint -q "$folder/mnt"
    echo "$folder/mnt"
}

# Only processes that this script has started: by the numbers that they left.
down() {
    [[ -d $folder ]] || return 0
    if mountpoint -q "$folder/mnt"; then umount -l "$folder/mnt"; fi
    local file number
    for file in "$folder"/run/*.pid; do
        [[ -e $file ]] || continue
        number=$(<"$file")
        if [[ -n $number ]] && grep -qsF "$folder" "/proc/$number/cmdline"; then
            kill -KILL "$number" 2>/dev/null || true
            while [[ -e /proc/$number/exe ]]; do sleep 0.05; done  # it has files open
        fi
    done
    rm -rf "$folder"
}

(($# == 2)) || usage
folder=$(realpath -m "$2")
mon_port=${FOREBAY_MON_PORT:-40050}
export CEPH_CONF=$folder/ceph.conf CEPH_ARGS=
case $1 in
    up) up ;;
    down) down ;;
    *) usage ;;
esac
