#!/bin/sh
# Runs the pool's daemon of one node, in a task of the batch system (a job step) or of an MPI's
# launcher. Other nodes need not have this file: they are given its text, without comment lines.
#
#   /bin/sh -c TEXT DAEMON SOCKET NODES SAMPLES [MAILBOX [INPUT]]
#
# SAMPLES is how many samples of its counts the daemon keeps for its report.
# MAILBOX is a folder that all nodes see; it is given under a launcher only.
# INPUT is "none" if the first task may lack the launcher's standard input.

# The number of this task, which is its node's too (TASK_NUMBERS in known_launchers.py).
node=
for variable in FLUX_TASK_RANK SLURM_PROCID PMI_RANK PMIX_RANK OMPI_COMM_WORLD_RANK \
    JSM_NAMESPACE_RANK PALS_RANKID ALPS_APP_PE; do
    if [ -z "$node" ]; then eval "node=\${$variable:-}"; fi
done
daemon=$0
socket=$1
nodes=$2
samples=$3
mailbox=$4
input=$5
folder=${socket%/*}

# Refuses an existing folder that others can enter: on another node somebody may have made it
# before, and the daemon's input goes through it.
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

# Removes the socket's folder if it is empty. On the node of `forebay run` it holds messages, and is
# kept.
clean_up() {
    rm -f "$socket.lock" "$socket.report"
    rmdir "$folder" 2> /dev/null
}

# In a job step, every task has the standard input of `forebay run`. Signals reach the daemon as
# well as this shell, which ignores them (`trap` below) and outlives the daemon.
under_a_step() {
    "$daemon" --socket "$socket" --nodes "$nodes" --node "$node" --samples "$samples"
    status=$?
    clean_up
    exit "$status"
}

# A launcher passes standard input to its first task only (Open MPI 5 loses some if it passes it to
# all), and each launcher passes signals on in its own way. So both go through files in $mailbox:
#   peers      the daemon's input; the input is closed when END exists
#   USR1 TERM  send this signal to the daemon
#   out-N      output of the daemon of node N (Open MPI mixes lines of several tasks)
# If the starting process dies, standard input of the first task ends. That task then removes
# $mailbox, which ends all daemons. (Where it may lack that input, a process beside the launcher
# does so: start_fleet in fleet.py.) The status is always 0: after another, launchers kill the tasks
# that still run.
under_a_launcher() {
    rm -f "$socket.in"
    mkfifo -m 600 "$socket.in" || exit
    exec 3<&0
    leader=
    if [ "$node" = 0 ] && [ "$input" != none ]; then
        { while read -r _; do :; done; rm -rf "$mailbox"; } <&3 3<&- > /dev/null 2>&1 &
        leader=$!
    fi
    "$daemon" --socket "$socket" --nodes "$nodes" --node "$node" --samples "$samples" \
        < "$socket.in" > "$mailbox/out-$node" 3<&- &
    child=$!
    exec 4> "$socket.in"
    until [ -e "$mailbox/peers" ] || [ ! -d "$mailbox" ] || [ ! -e "/proc/$child/exe" ]; do
        sleep 0.1
    done
    cat "$mailbox/peers" >&4
    told=
    while [ -e "/proc/$child/exe" ]; do
        if [ -e "$mailbox/END" ] || [ ! -d "$mailbox" ]; then exec 4>&-; fi
        for word in USR1 TERM; do
            case "$told" in *"$word"*) continue ;; esac
            if [ -e "$mailbox/$word" ]; then
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
if [ -n "$mailbox" ]; then under_a_launcher; else under_a_step; fi
