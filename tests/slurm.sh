#!/bin/bash
# A real Slurm of two nodes on this machine. Namespaces stand for each node: it has a name,
# processes, a /tmp and a /dev/shm of its own. Needs root and Debian's packages slurmctld, slurmd,
# slurm-client and munge.
#
#   slurm.sh up FOLDER [TRACKING]   begins it and prints the path of its slurm.conf, for SLURM_CONF;
#                                   the folder lies outside of /tmp. TRACKING: how it finds a job's
#                                   processes, linuxproc (usual) or cgroup (version 1: a freezer for
#                                   each node); memory: as cgroup, and --mem of a job is its limit.
#                                   With the plugin of build/release, if it was built, and with the
#                                   burst buffer of packaging/slurm, if this Slurm has Lua; its fast
#                                   storage is FOLDER/bb
#   slurm.sh down FOLDER            ends it and removes FOLDER
set -euo pipefail
action=${1:?up or down}
folder=${2:?a folder}
tracking=${3:-linuxproc}
hierarchies=/sys/fs/cgroup
conf=$folder/slurm.conf
nodes=(fb1 fb2)
sources=$(cd "$(dirname "$0")/.." && pwd)
libraries=${FOREBAY_LIBDIR:-$sources/build/release/lib}
plugin=${FOREBAY_SPANK:-$sources/build/release/lib/slurm/spank_forebay.so}

port() {  # one that nobody listens at
    python3 -c "import socket; s = socket.socket(); s.bind(('', 0)); print(s.getsockname()[1])"
}

case $tracking in  # how, by which hierarchies, and what of a job is bounded
    linuxproc) track=linuxproc controllers=() task=none select=CR_Core ;;
    cgroup) track=cgroup controllers=(freezer) task=none select=CR_Core ;;
    memory) track=cgroup controllers=(freezer memory) task=cgroup select=CR_Core_Memory ;;
    *)
        echo "unknown tracking $tracking (known: linuxproc, cgroup, memory). Name one." >&2
        exit 2
        ;;
esac

own_groups() {  # what gives a node some; names are this folder's
    local controller path
    for controller in "${controllers[@]}"; do
        path=$hierarchies/$controller/forebay-$(stat -c %i "$folder")-$1
        echo "mkdir -p '$path' && mount --bind '$path' '$folder/cgroup/$controller' &&"
    done
}

# The command that the plugin starts, for every user: root's Python may be where others do not get.
plugin_files() {
    local packages
    packages=$("$sources/.venv/bin/python" -c \
        'import sysconfig; print(sysconfig.get_path("purelib"))')
    cat > "$folder/forebay" << END
#!/bin/sh
for python in '$sources/.venv/bin/python' /usr/bin/python3; do
    if [ -x "\$python" ]; then break; fi
done
FOREBAY_LIBDIR='$libraries' PYTHONPATH='$sources/python:$packages' PYTHONDONTWRITEBYTECODE=1 \\
    exec "\$python" '$sources/python/forebay' "\$@"
END
    chmod 755 "$folder/forebay"
    if [[ -e $plugin ]]; then
        echo "required $plugin forebay=$folder/forebay" > "$folder/plugstack.conf"
    else
        : > "$folder/plugstack.conf"
    fi
}

# Settings of slurmctld; whether it calls Lua is known by a library that it loads.
burst_buffer() {
    if ! compgen -G '/usr/lib/*/slurm*/burst_buffer_lua.so' > /dev/null; then return; fi
    mkdir -m 1777 "$folder/bb"
    sed -e "s|^local fast_storage = .*|local fast_storage = \"$folder/bb\"|" \
        -e "s|^local forebay = .*|local forebay = \"$folder/forebay\"|" \
        -e 's|^local wait_seconds = .*|local wait_seconds = 30|' \
        "$sources/packaging/slurm/burst_buffer.lua" > "$folder/burst_buffer.lua"
    echo 'StageInTimeout=600' > "$folder/burst_buffer.conf"
    echo 'BurstBufferType=burst_buffer/lua'
}

down() {
    export SLURM_CONF=$conf
    # Where a killed run has left no controller, each question to it would wait for seconds.
    if [[ -s $folder/slurmctld.pid ]] && kill -0 "$(< "$folder/slurmctld.pid")" 2> /dev/null; then
        scancel --quiet --state=RUNNING 2> /dev/null || true
        for _ in {1..100}; do
            if [[ -z $(squeue -h 2> /dev/null) ]]; then break; fi
            sleep 0.1
        done
    fi
    for pid in "$folder"/*.pid; do
        if [[ -s $pid ]]; then kill -KILL "$(< "$pid")" 2> /dev/null || true; fi
    done
    if [[ -d $folder ]]; then
        for path in "$hierarchies"/*/"forebay-$(stat -c %i "$folder")"-*; do
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
    plugin_files
    chmod 755 "$folder"
    cat > "$conf" << END
$(burst_buffer)
ClusterName=forebay
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(port)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CryptoType=crypto/munge
ProctrackType=proctrack/$track
TaskPlugin=task/$task
SelectType=select/cons_tres
SelectTypeParameters=$select
MpiDefault=none
ReturnToService=2
KillWait=5
PlugStackConfig=$folder/plugstack.conf
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
ConstrainRAMSpace=yes
END
    mkdir -p "$folder"/cgroup/{freezer,memory}
    export SLURM_CONF=$conf
    slurmctld -f "$conf"
    { cat /etc/hosts && printf '127.0.0.1 %s\n' "${nodes[@]}"; } > "$folder/hosts"
    for node in "${nodes[@]}"; do
        unshare --mount --uts --ipc --pid --fork --kill-child --mount-proc bash -c "
            hostname $node && mount --make-rprivate / && mount --bind '$folder/hosts' /etc/hosts &&
            mount -t tmpfs none /tmp && mount -t tmpfs none /dev/shm &&
            $(own_groups "$node")
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
