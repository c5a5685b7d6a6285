"""`forebay job-script`: a batch script that runs a program through Forebay."""

SHORT_HELP = "Write a batch script for Slurm, PBS or LSF."
