#!/bin/bash
#BSUB -J "model.py"
#BSUB -n 2
#BSUB -R "span[ptile=2]"
#BSUB -W 0:05
#BSUB -o model.py.%J.out
# Made by `forebay job-script`, and yours to change. Hand it in by: bsub < FILE
#
# Exit status: the program's own. Where that is 0, it is 74 if not all that was written has arrived,
# and 75 if all has, but a journal could not be written all the time. Forebay's last lines say which
# files these are, and what to do.

# Modules are loaded here, as in: module load forebay

set -eu
job_end=$(($(date +%s) + 300)) # the pool is drained before

exec forebay run \
    --pool . \
    --set "pool_job_end=$job_end" \
    --set pool_nodes=1 \
    -- mpiexec -n 2 ./model.py
