#!/bin/bash
# A real Slurm of two nodes on this machine. Namespaces stand for each node: it has a name,
# processes, a /tmp and a /dev/shm of its own. Needs root and Debian's packages slurmctld, slurmd,
# slurm-client and munge.
#
#   slurm.sh up FOLDER [TRACKING]   begins it and prints the path of its slurm.conf, for SLURM_CONF;
#                                   the folder lies outside of /tmp. TRACKING: how it finds a job's
#                                   processes, linuxproc (usual) or cgroup (version 1: a freezer for
#                                   each node)
#   slurm.sh down FOLDER            ends it and removes FOLDER
set -euo pipefail
action=${1:?up or down}
folder=${2:?a folder}
tracking=${3:-linuxproc}
freezers=/sys/fs/cgroup/freezer
conf=$folder/slurm.conf
nodes=(fb1 fb2)

port() {  # one that nobody listens at
    python3 -c "import socket; s = socket.socket(); s.bind(('', 0)); print(s.getsockname()[1])"
}

own_freezer() {  # what gives a node one; names are this folder's
    local path=$freezers/forebay-$(stat -c %i "$folder")-$1
    echo "mkdir -p '$path' && mount --bind '$path' '$folder/cgroup/freezer' &&"
}

down() {
    export SLURM_CONF=$conf
    scancel --quiet --state=RUNNING 2> /dev/null || true
    for _ in {1..100}; do
        if [[ -z $(squeue -h 2> /dev/null) ]]; then break; fi
        sleep 0.1
    done
    for pid in "$folder"/*.pid; do
        if [[ -s $pid ]]; then kill -KILL "$(< "$pid")" 2> /dev/null || true; fi
    done
    if [[ -d $folder ]]; then
        for path in "$freezers/forebay-$(stat -c %i "$folder")"-*; do
            if [[ -d $path ]]; then find "$path" -depth -type d -exec rmdir {} + || true; fi
        done
    fi
    rm -rf "$folder"
}

up() {
    mkdir -p "$folder/state"
    local host number=0
    host=$(hostname)
    # Keys and sockets of its own, whatever munge this machine has.
    dd if=/dev/urandom of="$folder/munge.key" bs=128 count=1 status=none
    chmod 400 "$folder/munge.key"
    munged --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" \
        --pid-file="$folder/munged.pid" --log-file="$folder/munged.log" \
        --seed-file="$folder/munge.seed"
    cat > "$conf" << END
ClusterName=forebay
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(port)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CryptoType=crypto/munge
ProctrackType=proctrack/$tracking
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
KillWait=5
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool.%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/spool.%n/pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.%n.log
PartitionName=all Nodes=ALL Default=YES MaxTime=60 State=UP OverSubscribe=FORCE:4
END
    for node in "${nodes[@]}"; do
        echo "NodeName=$node NodeHostname=$host NodeAddr=127.0.0.1 Port=$(port) CPUs=2" \
            "RealMemory=1000" >> "$conf"
        mkdir -p "$folder/spool.$node"
    done
    cat > "$folder/cgroup.conf" << END
CgroupPlugin=cgroup/v1
CgroupAutomount=no
CgroupMountpoint=$folder/cgroup
END
    mkdir -p "$folder/cgroup/freezer"
    export SLURM_CONF=$conf
    slurmctld -f "$conf"
    { cat /etc/hosts && printf '127.0.0.1 %s\n' "${nodes[@]}"; } > "$folder/hosts"
    for node in "${nodes[@]}"; do
        unshare --mount --uts --ipc --pid --fork --kill-child --mount-proc bash -c "
            hostname $node && mount --make-rprivate / && mount --bind '$folder/hosts' /etc/hosts &&
            mount -t tmpfs none /tmp && mount -t tmpfs none /dev/shm &&
            $(if [[ $tracking == cgroup ]]; then own_freezer "$node"; fi)
            exec slurmd -D -N $node -f '$conf'" > "$folder/slurmd.$node.out" 2>&1 < /dev/null &
        echo $! > "$folder/$node.pid"
    done
    until (($(sinfo -h -N -t idle 2> /dev/null | wc -l) == ${#nodes[@]})); do
        if ((++number > 300)); then
            echo "Slurm does not come up. See $folder/slurmctld.log." >&2
            exit 1
        fi
        sleep 0.1
    done
    echo "$conf"
}

"$action"
