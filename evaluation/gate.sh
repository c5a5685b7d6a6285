#!/bin/bash
# Measures the gate on a real striped file system with slow targets: a CephFS whose three OSDs keep
# their data on loop devices with limited bandwidth. Collective writes with k requests in flight per
# target are compared with Forebay's default of 2, in pairs.
#
#   evaluation/gate.sh FOLDER [PAIRS]     needs root and the packages of purpose `cephfs`
#
#   FOREBAY_TARGET_BYTES   limit of each target per second (10 MiB; 0: none)
#   FOREBAY_STRIPE         stripe size (1m)
#   FOREBAY_CEPH_CLIENT    a line for the client's configuration; "client_oc = false": no cache
set -euo pipefail
cd "$(dirname "$0")/.."
source evaluation/loop_targets.sh
take_words 12 "$@"
limit=${FOREBAY_TARGET_BYTES:-10485760}
stripe=${FOREBAY_STRIPE:-1m}

finish() {
    set +e
    limit_all 0
    tests/cephfs.sh down "$folder/ceph"
    remove_targets "$folder"
    rm -rf "$folder"
}

# write_with K: sets `side` to the environment and the command of one side
write_with() {
    side=(LD_PRELOAD="$PWD/build/release/lib/libforebay_mpi.so" FOREBAY_REQUESTS_IN_FLIGHT="$1"
        FOREBAY_STRIPING_FACTOR=3 FOREBAY_STRIPING_UNIT="$stripe" FOREBAY_COLLECTIVE_WRITE=enable
        ior -a MPIIO -c -w -e -t 24m -b 48m -o "$mount/file")
}

trap finish EXIT
make_targets "$folder" 3G
export FOREBAY_OSD_BYTES=2147483648
export FOREBAY_OSD_FOLDERS="$folder/target.0/osd $folder/target.1/osd $folder/target.2/osd"
mount=$(tests/cephfs.sh up "$folder/ceph")
limit_all "$limit"
write_with 2
default=("${side[@]}")
for k in ${FOREBAY_KS:-1 4 4096}; do
    write_with "$k"
    echo "== k = $k against k = 2"
    PYTHONPATH=python FOREBAY_LIBDIR=$PWD/build/release/lib .venv/bin/python -m forebay \
        bench compare -np 2 --pairs "$pairs" "${default[@]}" -- "${side[@]}"
done
