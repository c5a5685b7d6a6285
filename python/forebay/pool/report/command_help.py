"""The help texts of `forebay pool` and its subcommands."""

HELP = """A pool for scripts with several steps: programs do not wait for their files.

A daemon of the node takes in memory what programs write below the pool's paths, and it goes to
the file system while they compute. For a single program, `forebay run --pool PATH` does all this.

\b
Example:
  eval "$(forebay pool start /scratch/me)"    a daemon, and the environment for the programs
  mpiexec -n 8 ./model
  forebay pool drain                          from here on, other nodes see it all
  ./postprocess
  eval "$(forebay pool stop --unset)"
"""

START_HELP = """Start a daemon, and print the shell's lines that have programs use it.

The daemon stays until `forebay pool stop`, or SIGTERM, which drains, too. It listens where only you
can connect: in $XDG_RUNTIME_DIR/forebay, else in /tmp/forebay-UID. A socket whose daemon has died
is replaced. Its messages go to a file beside the socket, SOCKET.log.

\b
Examples:
  eval "$(forebay pool start /scratch/me)"
  forebay pool start --set pool_cap=32GiB --set pool_window=4GiB /scratch/me > pool.sh
  forebay pool start --socket ~/pools/a/socket .

\b
Exit status:
  0    it listens
  1    one listens there already
  2    wrong option, setting or path
  125  Forebay is incomplete, or the daemon could not start: the message says what it said
"""

STATUS_HELP = """Show what the pool has, and how it goes.

\b
For each file:
  taken        bytes that programs gave, and of these
  to go        those that are not yet with the file system
  age          of the oldest of these
  waited       seconds that processes waited, added up: for room, for the file system, and for the
               pool's answers when they opened, synced or truncated it
  file system  seconds with at least one request at the file system; MiB/s are these requests'
  state        pooled; leaving or through: it goes past the pool; closed

\b
With --watch it is a screen on a terminal: memory as a bar, the rates of deposits and of the file
system over time, the files by what is still to go. s sorts by something else, q quits. Where
standard output is no terminal it is one line an interval, with --format json a document a line.

\b
The daemon is found by --socket, else by FOREBAY_POOL_SOCKET, else where `pool start` puts it. If
none is there, all daemons of yours on this machine are shown, also those of `forebay run --pool`.
With --all they are shown in any case. With --all-nodes they are asked for on all nodes of the job:
by srun in a Slurm job, else by the settings pool_nodes and pool_starter.

With --format openmetrics or prometheus it prints metrics of all your daemons on this machine, or
of the one of --socket. The textfile collector of Prometheus' node_exporter reads the latter.

\b
Examples:
  forebay pool status --watch
  forebay pool status --format openmetrics
  forebay pool status --format prometheus --output forebay.prom

\b
Exit status:
  0  shown; with metrics, --all and --all-nodes also where there is no daemon
  1  no daemon listens there, or not all nodes of the job can be asked
  2  wrong option, the file of --output cannot be written, or it is not known which nodes there are
"""

DRAIN_HELP = """Wait until everything that was given until now is on the file system.

\b
Exit status:
  0   it is
  1   no daemon listens there, or it has died
  74  not everything could be written: the message names file and reason; the pool keeps the bytes
"""

STOP_HELP = """Drain the pool and end its daemon.

Later writes of programs that still run go to the file system directly. What cannot be
written is kept in a rescue file; the message names the command that finishes the work.

A daemon that SIGTERM has ended is reported on, too, by the first `pool stop` behind that.

The shell that started the pool keeps its variables. With --unset, standard output is shell lines
that take them out, also where the daemon has ended before; all else goes to standard error.

With --record, `forebay report FILE` shows what went through the pool since it was started, also of
programs without MPI. Set FOREBAY_RECORD to the same file for what programs did by MPI-IO.

\b
Example:
  eval "$(forebay pool stop --unset)"
  forebay pool stop --record run.jsonl; forebay report run.jsonl

\b
Exit status:
  0   everything is with the file system
  1   no daemon listens there
  74  something did not arrive: the message names file, bytes and reason
  75  everything arrived, but the journal of pool_durability=node could not be written all the time
"""

RESCUE_HELP = """Write to their files the bytes that a pool could not write.

All checksums are looked at before anything is written. A file that was changed since, or is another
one, is left alone. What is written is removed from where it was kept; the rest stays.

\b
Examples:
  forebay pool rescue --dry-run forebay-rescue-4711-1
  forebay pool rescue forebay-rescue-4711-1/1-out.nc
  forebay pool rescue --into /other/disk/out.nc forebay-rescue-4711-1/1-out.nc

\b
Exit status:
  0   everything is written (with --dry-run: could be)
  1   there is no rescue file
  2   wrong option
  74  something was not written: the message says why; its rescue file is still there
"""
