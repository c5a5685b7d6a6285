#!/bin/bash
#PBS -S /bin/bash
#PBS -N model.py
#PBS -l select=1:ncpus=2:mpiprocs=2
#PBS -l walltime=01:00:00
#PBS -j oe
# Made by `forebay job-script`, and yours to change. Hand it in by: qsub FILE
#
# Exit status: the program's own. Where that is 0, it is 74 if not all that was written has arrived,
# and 75 if all has, but a journal could not be written all the time. Forebay's last lines say which
# files these are, and what to do.

# Modules are loaded here, as in: module load forebay

set -eu
cd "${PBS_O_WORKDIR:?is not set: PBS runs this script, by qsub}"
job_end=$(($(date +%s) + 3600)) # the pool is drained before

# Bash handles no signal while it waits for a program in the foreground. So steps run in the
# background, and get the signals that the batch system sends to this script.
daemon=
program=
was_signalled=
is_ending=
pass_on() {
    was_signalled=yes
    # As at such a signal to `forebay run`, the pool is drained, and takes nothing more.
    if [[ $daemon && $1 != USR2 ]]; then kill -s USR1 "$daemon" 2> /dev/null || true; fi
    if [[ $program ]]; then kill -s "$1" "$program" 2> /dev/null || true; fi
}
end_job() {
    is_ending=yes
    if [[ ! $program ]]; then exit 143; fi
    pass_on TERM
}
trap end_job TERM INT
trap 'pass_on USR1' USR1
trap 'pass_on USR2' USR2

# Runs a step and returns its status, by which the script ends if it is not 0.
step() {
    local status
    if [[ $is_ending ]]; then return 143; fi
    "$@" &
    program=$!
    while
        was_signalled=
        status=0
        wait "$program" || status=$?
        [[ $was_signalled ]] # then it may be the status of a wait that was interrupted
    do :; done
    program=
    return "$status"
}

# However this script ends, what is in the pool is written, and the daemon ends. Its socket is in a
# folder of this job, since other jobs on the node have pools of their own.
room=$(mktemp -d /tmp/forebay-job-XXXXXX)
finish() {
    local status=$? stopped=0
    set +e
    trap '' TERM INT USR1 USR2
    unset FOREBAY_POOL_SOCKET
    if [[ -e $room/socket || -e $room/socket.report ]]; then
        forebay pool stop --socket "$room/socket" >&2
        stopped=$?
    fi
    if ((stopped != 0 && stopped != 74 && stopped != 75)); then
        echo "The pool's daemon has died, and took along what it had not written. It said:" >&2
        cat "$room/socket.log" >&2
        stopped=74
    fi
    rm -rf "$room"
    if ((stopped == 74)); then echo "Not all that was written has arrived: see above." >&2; fi
    if ((stopped == 75)); then echo "All has arrived, but the journal failed: see above." >&2; fi
    if ((status == 0)); then status=$stopped; fi
    exit "$status"
}
trap finish EXIT
started=$(forebay pool start --socket "$room/socket" \
    --set "pool_job_end=$job_end" \
    --set pool_nodes=1 \
    -- .)
eval "$started"
daemon=${started#*, process }
daemon=${daemon%%:*}

step mpiexec -n 2 ./model.py
step ./model.py
