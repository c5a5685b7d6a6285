"""`forebay job-script`: parses the command line, plans the job, prints its script."""

import sys
from pathlib import Path
from typing import Annotated, Optional

import typer

from forebay.common.model.named_path import named_path
from forebay.common.model.printable import printable
from forebay.common.options import option
from forebay.job_script import SHORT_HELP
from forebay.job_script.model import BatchSystem
from forebay.job_script.report import script_text
from forebay.job_script.use_case import ScriptRequest, plan_job
from forebay.settings.model.given import overrides_of
from forebay.world import real_world

HELP = """Write a batch script that runs a program through Forebay.

The script goes to standard output, and is yours to change. Words of COMMAND and of --step reach
their programs as they are, blanks and quotes included: nothing in them is replaced when the job
runs, but {task} in an array job. Where COMMAND has no launcher and there are several ranks, srun is
put in front of it (PBS, LSF: mpiexec -n N).

\b
Examples:
  forebay job-script --slurm --pool /scratch/me --tasks 8 -- ./model in.nml
  forebay job-script --slurm --pool /scratch/me --nodes 2 --tasks 4 --time 02:00:00 -- ./model
  forebay job-script --slurm --pool /scratch/me --step './post out.nc' -- ./model
  forebay job-script --slurm --pool /scratch/me --signal USR1@180 -- ./model
  forebay job-script --slurm --pool /scratch/me --journal /local/me --name long -- ./model
  forebay job-script --slurm --pool '/scratch/me/{task}' --array 1-10 -- ./model 'in-{task}.nml'
  forebay job-script --pbs --pool /scratch/me --set pool_window=1GiB -- ./model
  forebay job-script --lsf --pool /scratch/me -- ./model

\b
The script
  - keeps the program's exit status; 74 and 75 are those of `forebay run`, and its head says so
  - with several steps on one node, has one daemon for all of them, and ends it however the script
    ends; on several nodes, each step has its own daemons, and is in the files when it ends
  - passes on the signals that the batch system sends to it; --signal asks for one before the job's
    end. The pool needs none: it knows when the job ends, and is drained a minute before
    (pool_deadline).

\b
Exit status:
  0  written
  2  wrong option, or no such setting
"""

CONTEXT = {"ignore_unknown_options": False, "allow_interspersed_args": False}

JournalFolder = Annotated[
    Optional[Path],
    option(
        "--journal",
        "DIR",
        "Have a journal in this folder on a local disk: writes survive a crash of the node.",
        parser=named_path,
    ),
]
RecordFile = Annotated[
    Optional[Path],
    option(
        "--record",
        "FILE",
        "Append the record of the steps here, for `forebay report`.",
        parser=named_path,
    ),
]


def job_script(
    command: Annotated[
        Optional[list[str]], typer.Argument(metavar="[COMMAND]...", help="The first step.")
    ] = None,
    slurm: Annotated[bool, option("--slurm", None, "For Slurm (sbatch).")] = False,
    pbs: Annotated[bool, option("--pbs", None, "For PBS (qsub).")] = False,
    lsf: Annotated[bool, option("--lsf", None, "For LSF (bsub).")] = False,
    pool: Annotated[
        Optional[list[Path]],
        option(
            "--pool",
            "PATH",
            "A folder whose files go through the pool, as with `forebay run`.",
            parser=named_path,
        ),
    ] = None,
    steps: Annotated[
        Optional[list[str]],
        option(
            "--step", "WORDS", "One more program, run after COMMAND; may be given several times."
        ),
    ] = None,
    nodes: Annotated[int, option("--nodes", "N", "Nodes.", min=1)] = 1,
    tasks: Annotated[int, option("--tasks", "N", "Ranks on each node.", min=1)] = 1,
    time: Annotated[str, option("--time", "H:M:S", "The time limit.")] = "01:00:00",
    name: Annotated[
        Optional[str], option("--name", "NAME", "The job's name instead of the program's.")
    ] = None,
    array: Annotated[
        Optional[str], option("--array", "FIRST-LAST", "An array job; {task} is a task's number.")
    ] = None,
    signal: Annotated[
        Optional[str],
        option("--signal", "NAME@SECONDS", "A signal to the program before the job's end."),
    ] = None,
    journal: JournalFolder = None,
    record: RecordFile = None,
    assignments: Annotated[
        Optional[list[str]], option("--set", "KEY=VALUE", "One setting of Forebay's.")
    ] = None,
) -> None:
    """Prints the script."""
    told = {BatchSystem.SLURM: slurm, BatchSystem.PBS: pbs, BatchSystem.LSF: lsf}
    request = ScriptRequest(
        systems=tuple(system for system, is_told in told.items() if is_told),
        command=tuple(command or ()),
        steps=tuple(steps or ()),
        nodes=nodes,
        tasks=tasks,
        time=time,
        name=name,
        pool=tuple(pool or ()),
        journal=journal,
        overrides=overrides_of(assignments),
        signal=signal,
        array=array,
        record=record,
    )
    planned = plan_job(request, real_world())
    for warning in planned.warnings:
        print(f"forebay: warning: {printable(warning)}", file=sys.stderr)
    print(script_text(planned.job), end="")


def attach(app: typer.Typer) -> None:
    """Adds the subcommand `job-script` to `app`."""
    app.command("job-script", help=HELP, short_help=SHORT_HELP, context_settings=CONTEXT)(
        job_script
    )
