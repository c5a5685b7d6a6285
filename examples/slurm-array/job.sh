#!/bin/bash
#SBATCH --job-name=model.py
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --ntasks-per-node=1
#SBATCH --time=00:05:00
#SBATCH --array=1-2
#SBATCH --output=model.py-%A_%a.out
# Made by `forebay job-script`, and yours to change. Hand it in by: sbatch FILE
#
# Exit status: the program's own. Where that is 0, it is 74 if not all that was written has arrived,
# and 75 if all has, but a journal could not be written all the time. Forebay's last lines say which
# files these are, and what to do.

# Modules are loaded here, as in: module load forebay

set -eu
mkdir -p -- task-"$SLURM_ARRAY_TASK_ID"

exec forebay run \
    --pool task-"$SLURM_ARRAY_TASK_ID" \
    -- ./model.py 'input '"$SLURM_ARRAY_TASK_ID"
