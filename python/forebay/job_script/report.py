"""Writes a batch job as a script in bash that a batch system takes as it is."""

from collections.abc import Iterator, Sequence

from forebay.common.model.printable import shell_words
from forebay.job_script.model import TASK, BatchJob, BatchSystem, time_text

_SUBMIT = {
    BatchSystem.SLURM: "sbatch FILE",
    BatchSystem.PBS: "qsub FILE",
    BatchSystem.LSF: "bsub < FILE",
}
_TASK_VARIABLES = {
    BatchSystem.SLURM: "SLURM_ARRAY_TASK_ID",
    BatchSystem.PBS: "PBS_ARRAY_INDEX",
    BatchSystem.LSF: "LSB_JOBINDEX",
}
_BROKEN = " \\\n    "

_HEAD = """\
# Made by `forebay job-script`, and yours to change. Hand it in by: {submit}
#
# Exit status: the program's own. Where that is 0, it is 74 if not all that was written has arrived,
# and 75 if all has, but a journal could not be written all the time. Forebay's last lines say which
# files these are, and what to do.

# Modules are loaded here, as in: module load forebay

set -eu
"""

_STEPS = """
# Bash handles no signal while it waits for a program in the foreground. So steps run in the
# background, and get the signals that the batch system sends to this script.
@DAEMON@program=
was_signalled=
is_ending=
pass_on() {
    was_signalled=yes
@CLOSE_POOL@    if [[ $program ]]; then kill -s "$1" "$program" 2> /dev/null || true; fi
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
"""

_CLOSE_POOL = """\
    # As at such a signal to `forebay run`, the pool is drained, and takes nothing more.
    if [[ $daemon && $1 != USR2 ]]; then kill -s USR1 "$daemon" 2> /dev/null || true; fi
"""

_FINISH = """
# However this script ends, what is in the pool is written, and the daemon ends. Its socket is in a
# folder of this job, since other jobs on the node have pools of their own.
room=$(mktemp -d /tmp/forebay-job-XXXXXX)
finish() {
    local status=$? stopped=0
    set +e
    trap '' TERM INT USR1 USR2
    unset FOREBAY_POOL_SOCKET
    if [[ -e $room/socket || -e $room/socket.report ]]; then
        forebay pool stop --socket "$room/socket"@RECORD@ >&2
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
"""


_RECORD = ' --record "$FOREBAY_RECORD"'

# The first line is: # forebayd, process 4711: PATHS
_STARTED = """\
eval "$started"
daemon=${started#*, process }
daemon=${daemon%%:*}
"""


def script_text(job: BatchJob) -> str:
    """The script. Each word of the user is quoted, so that it reaches its program as it is."""
    sections = [
        "#!/bin/bash\n",
        "".join(f"{line}\n" for line in _directives(job)),
        _HEAD.format(submit=_SUBMIT[job.system]),
        "".join(f"{line}\n" for line in _beginning(job)),
    ]
    if len(job.steps) == 1:
        return "".join([*sections, f"\nexec {_run(job, job.steps[0])}\n"])
    if job.has_daemon_of_its_own:
        finish = _FINISH.replace("@RECORD@", "" if job.record is None else _RECORD)
        sections += [_steps("daemon=\n", _CLOSE_POOL), finish, _start(job)]
    else:
        sections.append(_steps("", ""))
    sections += ["\n", *(f"step {_step(job, words)}\n" for words in job.steps)]
    return "".join(sections)


def _steps(daemon: str, close_pool: str) -> str:
    return _STEPS.replace("@DAEMON@", daemon).replace("@CLOSE_POOL@", close_pool)


def _directives(job: BatchJob) -> Iterator[str]:
    if job.system is BatchSystem.SLURM:
        yield from (f"#SBATCH {text}" for text in _for_slurm(job))
    elif job.system is BatchSystem.PBS:
        yield from (f"#PBS {text}" for text in _for_pbs(job))
    elif job.system is BatchSystem.LSF:
        yield from (f"#BSUB {text}" for text in _for_lsf(job))


def _for_slurm(job: BatchJob) -> Iterator[str]:
    yield f"--job-name={job.name}"
    yield f"--nodes={job.nodes}"
    yield f"--ntasks={job.ranks}"
    yield f"--ntasks-per-node={job.tasks}"
    yield f"--time={time_text(job.seconds)}"
    if job.array:
        yield f"--array={job.array}"
    if job.signal:  # B: to the script alone, which passes it on
        yield f"--signal=B:{job.signal.name}@{job.signal.seconds}"
    yield f"--output={job.name}-{'%A_%a' if job.array else '%j'}.out"


def _for_pbs(job: BatchJob) -> Iterator[str]:
    yield "-S /bin/bash"
    yield f"-N {job.name}"
    yield f"-l select={job.nodes}:ncpus={job.tasks}:mpiprocs={job.tasks}"
    yield f"-l walltime={time_text(job.seconds)}"
    if job.array:
        yield f"-J {job.array}"
    yield "-j oe"


def _for_lsf(job: BatchJob) -> Iterator[str]:
    first, _, at_a_time = (job.array or "").partition("%")
    tasks = f"[{first}]{'%' * bool(at_a_time)}{at_a_time}" if job.array else ""
    yield f'-J "{job.name}{tasks}"'
    yield f"-n {job.ranks}"
    yield f'-R "span[ptile={job.tasks}]"'
    yield f"-W {_lsf_time(job.seconds)}"
    if job.signal:
        yield f"-wa {job.signal.name}"
        yield f"-wt {_lsf_time(job.signal.seconds)}"
    yield f"-o {job.name}.{'%J_%I' if job.array else '%J'}.out"


def _lsf_time(seconds: int) -> str:
    minutes = -(-seconds // 60)
    return f"{minutes // 60}:{minutes % 60:02}"


def _beginning(job: BatchJob) -> Iterator[str]:
    if job.system is BatchSystem.PBS:
        yield 'cd "${PBS_O_WORKDIR:?is not set: PBS runs this script, by qsub}"'
    if job.record is not None and job.has_daemon_of_its_own:
        yield "# Steps by MPI-IO append to the record, too; a step may change its folder."
        yield f"FOREBAY_RECORD=$(realpath -m -- {_quoted(job, [job.record])})"
        yield "export FOREBAY_RECORD"
    if job.pool and job.system is not BatchSystem.SLURM:
        yield f"job_end=$(($(date +%s) + {job.seconds})) # the pool is drained before"
    made = [path for path in job.pool if job.array and TASK in path]
    if made:
        yield f"mkdir -p -- {_quoted(job, made)}"


def _run(job: BatchJob, words: Sequence[str]) -> str:
    """`forebay run`, with an option on each line."""
    options = [f"--pool {_quoted(job, [path])}" for path in job.pool]
    if job.record is not None:
        options.append(f"--record {_quoted(job, [job.record])}")
    return _BROKEN.join(["forebay run", *options, *_sets(job), f"-- {_quoted(job, words)}"])


def _start(job: BatchJob) -> str:
    words = ['forebay pool start --socket "$room/socket"', *_sets(job)]
    start = _BROKEN.join([*words, f"-- {_quoted(job, job.pool)}"])
    return f"started=$({start})\n{_STARTED}"


def _step(job: BatchJob, words: Sequence[str]) -> str:
    return _quoted(job, words) if job.has_daemon_of_its_own else _run(job, words)


def _sets(job: BatchJob) -> Iterator[str]:
    if job.pool and job.system is not BatchSystem.SLURM:
        yield '--set "pool_job_end=$job_end"'
        yield f"--set pool_nodes={job.nodes}"
    yield from (f"--set {_quoted(job, [text])}" for text in job.settings)


def _quoted(job: BatchJob, words: Sequence[str]) -> str:
    return " ".join(_quoted_word(job, word) for word in words)


def _quoted_word(job: BatchJob, word: str) -> str:
    """The word for bash. In an array job, TASK in it becomes the variable with the task's
    number."""
    if job.array is None or TASK not in word:
        return shell_words([word])
    parts = [shell_words([part]) if part else "" for part in word.split(TASK)]
    return f'"${_TASK_VARIABLES[job.system]}"'.join(parts)
