"""`forebay run` as typer has it: its help, and what is wrong with its options. A line without
mistakes does not come here (`forebay.run.command_line`)."""

from pathlib import Path
from typing import Annotated, Optional

import typer

from forebay.common.model.named_path import named_path
from forebay.common.model.output_format import Format
from forebay.common.options import FormatOption, option
from forebay.run import SHORT_HELP
from forebay.run.command_line import RunOptions, comparison_of, perform, tiers_of
from forebay.run.use_case.io_ranks import io_ranks_of
from forebay.run.use_case.run_plan import RunRequest
from forebay.settings.model.given import overrides_of

HELP = """Run a program through Forebay, then say what happened to each file.

The program and its command line stay as they are: put `forebay run --` in front. Of an MPI program
the collective reads and writes are made faster; which MPI it uses is found out in its processes
(MPICH and Open MPI; known are their launchers, srun, flux run, jsrun, aprun, ibrun, prun, and PALS'
mpiexec: docs/mpis.md). With --pool, any program that is linked dynamically is served, with MPI or
without: it does not wait for what it writes.

\b
Examples:
  forebay run --compare --pool . -- ./serial    try it: without and with, the same files?
  forebay run -- mpiexec -n 8 ./program input.nml
  forebay run --set cb_nodes=2 --set cb_buffer_size=16MiB -- mpiexec -n 8 ./program
  forebay run --settings site.toml --record run.jsonl -- srun -n 512 ./program
  forebay run -- ./job.sh                     a script that calls mpiexec itself
  forebay run --format json --summary run.json -- mpiexec -n 8 python model.py
  forebay run --pool /scratch/me -- mpiexec -n 8 ./program
  forebay run --pool /scratch/me -- flux run -N 2 -n 8 ./program
  forebay run --pool . --set pool_window=1GiB -- ./serial
  forebay run --tier /scratch/me=/local/nvme/me -- mpiexec -n 8 ./program
  forebay run --io-ranks 2 -- mpiexec -n 10 ./program      the program sees 8 ranks
  forebay run --io-ranks auto --record run.jsonl -- mpiexec -n 10 ./program

With --pool, what the program writes below PATH is taken by a daemon of the node, in memory, and
goes to the file system while the program computes. `forebay run` returns when everything is there.
PATH has to be there before. Served are the calls of C (open, write, fopen, fprintf), C++ streams,
Fortran and Python, and MPI-IO. Appending, mmap, and a shell's > and >> are right, but not faster:
they go past the pool, and the summary says so. `forebay settings` lists pool_window, pool_cap and
other bounds.

With --private, the kernel brings the calls of every program in COMMAND to the pool, as with the
setting pool_mount, on machines without fusermount3, too: the mount is in a user namespace. Nobody
else sees it; files of others seem to be nobody's there, and sudo and ssh do not work in it.

With --tier, new files below DIR lie in FAST, fast storage of the node, while the program runs,
under their own names; they are moved when they are closed, and the rest at the end. Every kind of
program is served, by a mount. `forebay tier --help` has more. With --pool for the same folder, too,
the pool's memory comes first: what is drained from it goes to FAST, and is moved from there.

With --io-ranks N, the program sees N ranks less than are started: start N more. The cores of these
N, the I/O ranks, are free for the pool (of --pool, else of the folder that you are in) while the
program computes. They are the last ranks; with --spread GROUPS, the last ones of each of so many
groups of consecutive ranks, which puts them on several nodes. A program that cannot have them is
refused, or runs with all ranks and is told why. docs/io-ranks.md has more.

With --io-ranks auto, N is found in the record of an earlier run, the FILE of --record, to which
this run is appended: the bytes of an output step ÷ (bytes per second of one writer × seconds
between steps × 0.7), or more, so that the program sees a number of ranks that is a product of two
similar factors (of 6146 ranks it sees 6144 = 64 × 96), that of the earlier run if that can be.
Steps, seconds and rates are those of the record's last run through a pool; without one, those of
its collective writes by MPI-IO. On several nodes there is at least one I/O rank on each.

With --compare, the program runs without Forebay and then with it. What it wrote is compared byte by
byte, and one sentence says what came of it. It runs in copies of the folder that you are in, so
nothing there is changed; a program that writes elsewhere, by a full name, needs --output-dir DIR:
the program then runs where you are, finds a copy of what is in DIR, and at the end DIR is as it was
(also after Ctrl-C; of a comparison that was killed, the next one says where everything lies). With
--pairs N the runs are repeated in random order; from 6 pairs on there is a 95 % interval. A
program that writes times or random numbers differs by itself: runs without Forebay are compared
with each other as well. If it takes at most a minute, that is done without being asked.

The program's standard output stays clean: the summary goes to standard error after the program has
ended, or to the file of --summary. With --format json it is a single line, the last one there.

\b
In the summary, for each file and direction:
  calls      collective calls that Forebay carried out
  bytes      moved, summed over ranks
  MiB/s      bytes over seconds
  seconds    spent in these calls by the slowest rank; of these (they overlap):
  exchange   copying between program and staging, and messages between nodes
  storage    with at least one request at the file system
  wait       blocked on other ranks or on storage
and what was passed through to the MPI untouched, with the reason, and errors.

With --pool, the summary begins with how long the program waited for its files, and about how long
it would have waited without the pool, where that is known; or it says that the pool did not pay,
and what to do.

\b
For each file that went through the pool, those that were waited for longest first (-v explains the
columns in the summary, too):
  taken        bytes that the program gave to the pool
  most held    the most of these that were in the pool at a time
  waited       seconds that processes waited, added up: for room, for the file system, and for the
               pool's answers when they opened, synced or truncated the file. With little data it
               may be more than the file system took.
  file system  seconds with at least one request of the file at the file system
  hidden       the part of these seconds that nobody waited for (file system - waited)
  MiB/s        of these requests, while the file system had any
and what went past the pool to the file system, with the reason. Memory is reserved in whole blocks,
and before it is written to: that is more than what is held.

\b
Exit status:
  the program's own; 128+n if signal n ended it
  74   the program ended with 0, but not all that went through the pool or a tier arrived: what is
       printed names file and reason, and the command that finishes the work
  75   the program ended with 0, and all arrived, but the journal of pool_durability=node could not
       be written all the time: since then a crash of the node might have lost what was not synced
  76   with --compare: the program ended with 0 each time, but files differ that do not differ
       between two runs without Forebay, as far as that is known
  2    wrong option, a setting that is unknown or has no such value, a PATH of --pool that is not
       there or is a folder of the system (/, /proc, /etc), or a record or summary that cannot be
       written (nothing was started)
  125  Forebay is incomplete (its native libraries are missing), or the pool cannot be started
  126  the program cannot be executed
  127  the program was not found
SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 go on to the program. At SIGTERM and SIGUSR1,
and a minute before Slurm ends the job (settings pool_deadline, pool_job_end), the pool is drained,
and writes go to the file system from then on. The pool is drained at the end all the same; two
more signals during that have the rest put into a rescue file.
"""

PairsOption = Annotated[
    Optional[str], option("--pairs", "N", "With --compare: number of pairs of runs (1).")
]
IoRanksOption = Annotated[
    Optional[str],
    option("--io-ranks", "N", "Number of I/O ranks, or auto: ranks that the program does not see."),
]
SpreadOption = Annotated[
    Optional[str],
    option("--spread", "GROUPS", "With --io-ranks: at the ends of so many groups of ranks (1)."),
]
PrivateOption = Annotated[
    bool,
    typer.Option(
        "--private",
        help="Mount over the paths of --pool where only this program sees it (pool_mount).",
    ),
]
TierPlaces = Annotated[
    Optional[list[str]],
    option(
        "--tier",
        "DIR=FAST",
        "A folder, and one in fast storage for its files; may be given several times.",
    ),
]
PooledPaths = Annotated[
    Optional[list[Path]],
    option(
        "--pool",
        "PATH",
        "A folder (or file) whose files go through the pool; may be given several times.",
        parser=named_path,
    ),
]

CONTEXT = {"ignore_unknown_options": False, "allow_interspersed_args": False}


def run(
    command: Annotated[
        list[str],
        typer.Argument(metavar="COMMAND...", help="The program as ever, with its launcher if any."),
    ],
    settings: Annotated[
        Optional[Path],
        option("--settings", "FILE", "TOML file of settings; see `forebay settings`."),
    ] = None,
    assignments: Annotated[
        Optional[list[str]],
        option("--set", "KEY=VALUE", "One setting; wins over file and environment."),
    ] = None,
    record: Annotated[
        Optional[Path],
        option("--record", "FILE", "Append the record (JSON Lines) here and keep it."),
    ] = None,
    summary: Annotated[
        Optional[Path],
        option("--summary", "FILE", "Where the summary goes instead of standard error."),
    ] = None,
    pool: PooledPaths = None,
    tier: TierPlaces = None,
    io_ranks: IoRanksOption = None,
    spread: SpreadOption = None,
    private: PrivateOption = False,
    compare: Annotated[
        bool,
        typer.Option("--compare", help="Run it without and with Forebay; compare files and times."),
    ] = False,
    pairs: PairsOption = None,
    output: Annotated[
        Optional[Path],
        option(
            "--output-dir",
            "DIR",
            "With --compare: where the program writes; moved aside and put back.",
            parser=named_path,
        ),
    ] = None,
    form: FormatOption = Format.TEXT,
    verbose: Annotated[
        bool, option("--verbose -v", None, "Explain the columns of the summary, too.")
    ] = False,
) -> None:
    """Runs the command and exits with its status."""
    tiers = tiers_of(tier or (), compares=compare)
    request = RunRequest(
        command=tuple(command),
        settings_file=settings,
        overrides=overrides_of(assignments),
        record=record,
        summary=summary,
        pool=tuple(pool or ()),
        io_ranks=io_ranks_of(io_ranks, spread, has_tiers=bool(tier), compares=compare),
        is_private=private,
        tiers=tuple(folder for folder, _ in tiers),
    )
    comparison = comparison_of(compare=compare, pairs=pairs, output=output)
    options = RunOptions(
        request=request,
        form=form,
        verbose=verbose,
        comparison=comparison,
        tiers=tiers,
    )
    raise typer.Exit(perform(options))


def attach(app: typer.Typer) -> None:
    """Adds the subcommand `run` to `app`."""
    app.command(
        "run",
        help=HELP,
        short_help=SHORT_HELP,
        context_settings=CONTEXT,
    )(run)
