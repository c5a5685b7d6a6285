#!/bin/bash
#PBS -S /bin/bash
#PBS -N model.py
#PBS -l select=1:ncpus=2:mpiprocs=2
#PBS -l walltime=00:05:00
#PBS -j oe
# Made by `forebay job-script`, and yours to change. Hand it in by: qsub FILE
#
# Exit status: the program's own. Where that is 0, it is 74 if not all that was written has arrived,
# and 75 if all has, but a journal could not be written all the time. Forebay's last lines say which
# files these are, and what to do.

# Modules are loaded here, as in: module load forebay

set -eu
cd "${PBS_O_WORKDIR:?is not set: PBS runs this script, by qsub}"
job_end=$(($(date +%s) + 300)) # the pool is drained before

exec forebay run \
    --pool . \
    --set "pool_job_end=$job_end" \
    --set pool_nodes=1 \
    -- mpiexec -n 2 ./model.py
