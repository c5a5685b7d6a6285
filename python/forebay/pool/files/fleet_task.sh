#!/bin/sh
# One node's daemon of a job, under a task of the batch system or of an MPI's launcher. Other nodes
# need not have this file: its text is what they are given, without the lines of comment.
#
#   /bin/sh -c TEXT DAEMON SOCKET NODES [BOARD]

# Which of its tasks this is, says the batch system or the launcher.
node=${SLURM_PROCID:-${PMI_RANK:-${PMIX_RANK:-${OMPI_COMM_WORLD_RANK:-}}}}
daemon=$0
socket=$1
nodes=$2
board=$3
folder=${socket%/*}

# On the other nodes somebody may have made a folder of this name before: what the daemons are told
# goes through it.
make_own_folder() {
    mkdir -m 700 "$folder" 2> /dev/null
    case "$(LC_ALL=C stat -c '%a %u %F' "$folder")" in
    *700" $(id -u) directory") ;;
    *)
        echo "forebayd: cannot listen in $folder (it is none that you alone can enter)." >&2
        exit 1
        ;;
    esac
}

# The folder of the socket is removed where it is not ours, which has messages in it.
clean_up() {
    rm -f "$socket.lock" "$socket.report"
    rmdir "$folder" 2> /dev/null
}

# All tasks have our standard input. Signals go to the daemon, too, and the shell outlives it.
under_a_step() {
    "$daemon" --socket "$socket" --nodes "$nodes" --node "$node"
    status=$?
    clean_up
    exit "$status"
}

# By an MPI's launcher, which passes standard input to its first task (Open MPI 5 loses some of it
# where it passes it to all). What the daemons are told is in a folder that all nodes have: `peers`
# for their input, which ends with END; USR1 and TERM for signals, which launchers pass on each in
# their own way. When whoever started us is gone, so is the input of the first task, which removes
# the folder then: that ends all. What a daemon says goes into out-N there: Open MPI mixes lines of
# several tasks. Status 0: for another one, launchers end the other tasks.
under_a_launcher() {
    rm -f "$socket.in"
    mkfifo -m 600 "$socket.in" || exit
    exec 3<&0
    leader=
    if [ "$node" = 0 ]; then
        { while read -r _; do :; done; rm -rf "$board"; } <&3 3<&- > /dev/null 2>&1 &
        leader=$!
    fi
    "$daemon" --socket "$socket" --nodes "$nodes" --node "$node" < "$socket.in" \
        > "$board/out-$node" 3<&- &
    child=$!
    exec 4> "$socket.in"
    until [ -e "$board/peers" ] || [ ! -d "$board" ] || [ ! -e "/proc/$child/exe" ]; do
        sleep 0.1
    done
    cat "$board/peers" >&4
    told=
    while [ -e "/proc/$child/exe" ]; do
        if [ -e "$board/END" ] || [ ! -d "$board" ]; then exec 4>&-; fi
        for word in USR1 TERM; do
            case "$told" in *"$word"*) continue ;; esac
            if [ -e "$board/$word" ]; then
                kill -s "$word" "$child"
                told="$told $word"
            fi
        done
        sleep 0.2
    done
    wait "$child"
    if [ -n "$leader" ]; then kill "$leader" 2> /dev/null; fi
    rm -f "$socket.in"
    clean_up
    exit 0
}

trap : TERM INT HUP USR1
make_own_folder
if [ -n "$board" ]; then under_a_launcher; else under_a_step; fi
