"""The facts known of each kind of MPI launcher: its options that take values, those that name
nodes, how it starts one task on a node, and the variables that number its ranks. docs/mpis.md names
the source of each fact; what no source says is left out. Pure: data only."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from forebay.common.model.frozen import frozen


class Flavour(Enum):
    """Kinds of launchers that differ in their options, or in how they pass on the environment."""

    OPEN_MPI = "openmpi"
    HYDRA = "hydra"
    SLURM = "slurm"
    PALS = "pals"
    PRUN = "prun"
    FLUX = "flux"
    JSRUN = "jsrun"
    APRUN = "aprun"
    IBRUN = "ibrun"
    OTHER = "other"


@frozen
class KnownLauncher:
    """One kind. Options are written without the dashes before them, but in `ranks`."""

    values: Mapping[str, int]
    """How many words after an option are its values; options that take none are left out."""
    names: frozenset[str] = frozenset()
    """Names of the executable by which it is known without being started."""
    subcommands: tuple[str, ...] = ()
    """Words, one of which comes after the name and makes it a launcher; empty if none does."""
    detached: frozenset[str] = frozenset()
    """Subcommands that return before the program ends, or start it in an allocation of its own."""
    ranks: frozenset[str] = frozenset({"-n", "-np", "--np", "--ntasks"})
    """Options whose value is the number of ranks."""
    has_contexts: bool = True
    """Whether ":" separates application contexts (MPMD)."""
    helpers: frozenset[str] = frozenset()
    """Words in front of the program that are neither options nor the program."""
    assignments: frozenset[str] = frozenset()
    """Options whose value is NAME=VALUE, a variable of the ranks; all others are inherited."""
    brings_mpi: bool = False
    """Whether it comes with an MPI library, beside whose `lib` its `bin` is."""
    job_variable: str = ""
    """The variable without which there is no job that it could start a process in; empty if it
    starts one on any machine."""
    host_lists: frozenset[str] = frozenset()
    host_files: frozenset[str] = frozenset()
    hosts_variables: tuple[str, ...] = ()
    """Variables that name the file of hosts if no option does, the first one that is set."""
    kept: frozenset[str] = frozenset()
    """Options that the launch of the daemons keeps: which nodes there are, how to reach them."""
    start: tuple[str, ...] = ()
    """The words that start one task on each of {nodes} nodes; empty if they are not known."""
    exports: str = ""
    """The option that passes a variable on to these tasks; empty if they have all variables."""
    passes_input: bool = False
    """Whether the first task is known to get the launcher's standard input."""
    takes_cores: bool = False
    """Whether these tasks may leave a program that wants all cores or slots waiting: they are
    started only where the user says on how many nodes."""
    has_ranks_elsewhere: bool = False
    """Whether it may be called on a node of another kind than those that have the ranks."""


def _one(words: str) -> dict[str, int]:
    return dict.fromkeys(words.split(), 1)


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_OPEN_MPI_VALUES = {
    "mca": 2,
    "gmca": 2,
    "prtemca": 2,
    "pmixmca": 2,
    "omca": 2,
    "tune": 1,
    **_one(
        "n np c N x H host hostfile machinefile default-hostfile wdir wd path map-by bind-to "
        "rank-by npernode npersocket cpus-per-proc rf rankfile timeout output output-filename "
        "stdin am app prefix personality runtime-options s preload-files max-restarts"
    ),
}
_OPEN_MPI = KnownLauncher(
    values=_OPEN_MPI_VALUES,
    names=_set("orterun prterun prte ompirun_wrapper"),
    ranks=_set("-n -np --np -c --ntasks"),
    brings_mpi=True,
    host_lists=_set("H host"),
    host_files=_set("hostfile machinefile"),
    kept=_set(
        "H host hostfile machinefile default-hostfile mca gmca prtemca pmixmca omca prefix "
        "personality allow-run-as-root"
    ),
    start=("-n", "{nodes}", "--map-by", "ppr:1:node", "--bind-to", "none"),
    exports="-x",
    passes_input=True,
)
_PRUN = KnownLauncher(
    # `s` stands for --preload-binary here, and takes no value.
    values={
        **{name: count for name, count in _OPEN_MPI_VALUES.items() if name != "s"},
        "gpmixmca": 2,
        **_one(
            "display spawn-timeout xterm pset dvm-uri namespace pid tmpdir wait-to-connect "
            "num-connect-retries forward-signals"
        ),
    },
    ranks=_set("-n --n -c --np"),
    host_lists=_set("H host"),
    host_files=_set("hostfile machinefile"),
    kept=_set(
        "H host hostfile machinefile pmixmca gpmixmca personality allow-run-as-root dvm-uri "
        "namespace pid system-server-first system-server-only tmpdir wait-to-connect "
        "num-connect-retries"
    ),
    start=_OPEN_MPI.start,
    exports="-x",
    passes_input=True,
    takes_cores=True,
)
_HYDRA = KnownLauncher(
    values={
        "genv": 2,
        "env": 2,
        **_one(
            "n np f hosts host hostfile machinefile wdir configfile genvlist envlist launcher "
            "launcher-exec bootstrap bootstrap-exec rmk topolib bind-to map-by membind demux "
            "iface ppn prepend-pattern outfile-pattern errfile-pattern nameserver order-nodes "
            "localhost usize pmi-port gpus-per-proc perhost"
        ),
    },
    names=_set("mpiexec.hydra mpiexec.mpich mpirun.mpich"),
    brings_mpi=True,
    host_lists=_set("hosts host"),
    host_files=_set("f hostfile machinefile"),
    kept=_set(
        "f hosts host hostfile machinefile launcher launcher-exec bootstrap bootstrap-exec rmk "
        "iface localhost"
    ),
    start=("-n", "{nodes}", "-ppn", "1"),  # all variables are passed on, and nothing is bound
    passes_input=True,
)
_PALS = KnownLauncher(
    values={
        "genv": 2,
        "env": 2,
        **_one(
            "n np ppn soft host hosts hostlist f hostfile arch wdir path file umask envlist "
            "genvlist cpu-bind mem-bind d depth include-tasks exclude-tasks procinfo-file pmi "
            "rlimits"
        ),
    },
    job_variable="PBS_JOBID",
    host_lists=_set("host hosts hostlist"),
    host_files=_set("f hostfile"),
    hosts_variables=("PALS_HOSTFILE", "PBS_NODEFILE"),
    kept=_set("host hosts hostlist f hostfile"),
    start=("-n", "{nodes}", "--ppn", "1", "--cpu-bind", "none"),
)
_FLUX = KnownLauncher(
    values=_one(
        "N nodes n ntasks c cores-per-task g gpus-per-task cores tasks-per-node tasks-per-core "
        "gpus-per-node t time-limit q queue urgency job-name o setopt setattr add-file dependency "
        "requires begin-time env env-remove env-file rlimit input output error cwd flags signal "
        "taskmap cc bcc wait-event log log-stderr"
    ),
    names=_set("flux"),
    job_variable="FLUX_URI",
    subcommands=("run", "submit", "bulksubmit", "alloc", "batch"),
    detached=_set("submit bulksubmit alloc batch"),
    ranks=_set("-n --ntasks"),
    has_contexts=False,
    # Not `flux run`: the scheduler would give the daemons cores that the program then lacks.
    # Variables of Flux's are not in the environment of a script, but those of others may be.
    start=(
        "exec", "--rank=0-{last}", "sh", "-c", 'FLUX_TASK_RANK=$(flux getattr rank) exec "$@"',
        "sh",
    ),
    passes_input=True,
)  # fmt: skip
_JSRUN = KnownLauncher(
    values=_one(
        "a tasks_per_rs p np c cpu_per_rs d launch_distribution g gpu_per_rs K rs_per_socket "
        "l latency_priority m memory_per_rs n nrs r rs_per_host e stdio_mode f appfile "
        "I stdin_rank k stdio_stderr o stdio_stdout t stdio_input h chdir erf_input erf_output "
        "H launch_node_task J use_reservation L use_spindle M smpiargs P pre_post_exec "
        "S save_resources U use_resource use_resources u debug x exclude_hosts X exit_on_error "
        "b bind D env_no_propagate E env F env_eval"
    ),
    names=_set("jsrun"),
    job_variable="LSB_JOBID",
    ranks=_set("-p --np"),
    has_contexts=False,
    assignments=_set("E env"),
    kept=_set("x exclude_hosts"),
    start=("-n", "{nodes}", "-r", "1", "-a", "1", "-c", "1", "--bind=none"),
    takes_cores=True,
    has_ranks_elsewhere=True,
)
_APRUN = KnownLauncher(
    values=_one(
        "a architecture cc cpu-binding cp cpu-binding-file d cpus-per-pe D debug e "
        "environment-override E exclude-node-list exclude-node-list-file F access-mode "
        "j cpus-per-cu L node-list l node-list-file m memory-per-pe mpmd-env n pes "
        "N pes-per-node p protection-domain p-governor p-state r specialized-cpus R relaunch "
        "S pes-per-numa-node sl sn t wdir Z zone-sort-secs procinfo-file pmi"
    ),
    names=_set("aprun"),
    job_variable="PBS_JOBID",
    ranks=_set("-n --pes"),
    assignments=_set("e environment-override"),
    has_ranks_elsewhere=True,
)
_IBRUN = KnownLauncher(
    values=_one("n np o m 2"),
    names=_set("ibrun"),
    job_variable="SLURM_JOB_ID",
    ranks=_set("-n -np"),
    has_contexts=False,
    helpers=_set("task_affinity tacc_affinity"),
)
_SLURM = KnownLauncher(
    values=_one(
        "n N c p t w x A C G J L W o e i D m q r ntasks nodes cpus-per-task partition time "
        "nodelist exclude account job-name output error input chdir distribution qos mpi export "
        "mem mem-per-cpu mem-per-gpu constraint ntasks-per-node ntasks-per-core cpu-bind mem-bind "
        "gres gpus gpus-per-node gpus-per-task gpu-bind hint het-group licenses relative "
        "reservation threads-per-core wait"
    ),
    names=_set("srun"),
    job_variable="SLURM_JOB_ID",
)
_OTHER = KnownLauncher(values=_one("n np N c p H host hostfile f"), brings_mpi=True)

KNOWN: Mapping[Flavour, KnownLauncher] = {
    Flavour.OPEN_MPI: _OPEN_MPI,
    Flavour.HYDRA: _HYDRA,
    Flavour.SLURM: _SLURM,
    Flavour.PALS: _PALS,
    Flavour.PRUN: _PRUN,
    Flavour.FLUX: _FLUX,
    Flavour.JSRUN: _JSRUN,
    Flavour.APRUN: _APRUN,
    Flavour.IBRUN: _IBRUN,
    Flavour.OTHER: _OTHER,
}

SIZES_AND_RANKS = (
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("FLUX_JOB_SIZE", "FLUX_TASK_RANK"),
    ("JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
)
"""Variables that Open MPI, MPICH, Flux, JSM and Slurm set in each rank: the number of ranks, and
the rank."""

LONE_RANKS = ("PALS_RANKID", "ALPS_APP_PE")
"""Variables that PALS and ALPS set in each rank: the rank. How many there are, none says."""

TASK_NUMBERS = (
    "FLUX_TASK_RANK",
    "SLURM_PROCID",
    "PMI_RANK",
    "PMIX_RANK",
    "OMPI_COMM_WORLD_RANK",
    "JSM_NAMESPACE_RANK",
    *LONE_RANKS,
)
"""Variables that number the tasks of a launcher, in the order in which the daemons look for one."""
