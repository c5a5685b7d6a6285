#!/bin/bash
#SBATCH --job-name=model.py
#SBATCH --nodes=1
#SBATCH --ntasks=2
#SBATCH --ntasks-per-node=2
#SBATCH --time=00:05:00
#SBATCH --output=model.py-%j.out
# Made by `forebay job-script`, and yours to change. Hand it in by: sbatch FILE
#
# Exit status: the program's own. Where that is 0, it is 74 if not all that was written has arrived,
# and 75 if all has, but a journal could not be written all the time. Forebay's last lines say which
# files these are, and what to do.

# Modules are loaded here, as in: module load forebay

set -eu

exec forebay run \
    --pool . \
    -- srun ./model.py
