"""Command lines of MPI launchers: how to start ranks, where in a command line the launcher and the
program are, and which options pass our environment variables to ranks on other nodes. No other
module knows a launcher's options. Pure: words in, words out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from pathlib import PurePath

from forebay.common.model.frozen import frozen

PRELOAD_VARIABLE = "LD_PRELOAD"

_LAUNCHER = re.compile(r"(mpirun|mpiexec|orterun|prterun|oshrun|srun)([._-][\w.-]+)?")
_WRAPPERS = frozenset(
    "env timeout nice ionice nohup time setsid stdbuf taskset numactl chrt strace ltrace".split()
)
_SHELLS = frozenset("sh bash dash zsh ksh csh tcsh fish busybox make".split())


class Flavour(Enum):
    """Families of launchers that pass on the environment in different ways."""

    OPEN_MPI = "openmpi"
    HYDRA = "hydra"
    SLURM = "slurm"
    OTHER = "other"


def start(
    launcher: str,
    *,
    flavour: Flavour,
    ranks: int,
    root: bool,
    variables: Mapping[str, str] | None = None,
    parameters: Iterable[tuple[str, str]] = (),
) -> tuple[str, ...]:
    """The launcher's words to start `ranks` ranks on this machine. `variables` are passed to them;
    `parameters` are Open MPI's (MCA). `root` says that the user is root."""
    words = [launcher, "-n", str(ranks)]
    if flavour is Flavour.OPEN_MPI:
        # Without these options, Open MPI refuses to oversubscribe cores and to run as root.
        words += ["--oversubscribe", *(["--allow-run-as-root"] if root else [])]
        for parameter in parameters:
            words += ["--mca", *parameter]
    for name, value in (variables or {}).items():
        if flavour is Flavour.OPEN_MPI:
            words += ["-x", f"{name}={value}"]
        elif flavour is Flavour.HYDRA:
            words += ["-genv", name, value]
        else:
            raise ValueError(f"nobody needs {name} passed on by {launcher} yet")
    return tuple(words)


_RANKS_OPTIONS = {"-n", "-np", "--np", "-c", "--ntasks"}


def with_ranks(
    words: Sequence[str], *, flavour: Flavour, ranks: int, per_node: int | None
) -> tuple[str, ...]:
    """The launcher's words, changed to start `ranks` ranks, at most `per_node` on each node (None
    if there is only one node). The words must contain no program."""
    options = _RANKS_OPTIONS - (set() if flavour is Flavour.OPEN_MPI else {"-c"})
    out: list[str] = []
    found, waiting = False, list(words)
    while waiting:
        word = waiting.pop(0)
        name, equals, _ = word.partition("=")
        if name in options and not found:
            found = True
            if not equals and waiting:
                waiting.pop(0)
            out += [f"{name}={ranks}"] if equals else [name, str(ranks)]
        else:
            out.append(word)
    if not found:
        at = (find_launcher(out) or 0) + 1
        out[at:at] = ["-n", str(ranks)]
    if per_node is None:
        return tuple(out)
    if flavour is Flavour.SLURM:
        out.append(f"--ntasks-per-node={per_node}")
    elif flavour is Flavour.HYDRA:
        out += ["-ppn", str(per_node)]
    elif flavour is Flavour.OPEN_MPI:
        out += ["--map-by", f"ppr:{per_node}:node"]
    return tuple(out)


@frozen
class Forwarding:
    """The variables that ranks must have: LD_PRELOAD with our libraries, separated by colons, and
    FOREBAY_*."""

    library: str
    preload: str
    variables: Mapping[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all variables to pass on."""
        return (PRELOAD_VARIABLE, *self.variables)

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """All variables to pass on, with their values."""
        return ((PRELOAD_VARIABLE, self.preload), *self.variables.items())


def compose_preload(library: str, existing: str | None) -> str:
    """LD_PRELOAD with our `library` (or several, separated by colons) before `existing`. Darshan
    stays first, so that it sees the program's own calls, and we those that it passes on."""
    own = library.split(":")
    words = [word for word in re.split(r"[ :]+", existing or "") if word and word not in own]
    first = [word for word in words if "libdarshan" in PurePath(word).name]
    rest = [word for word in words if word not in first]
    return ":".join([*first, library, *rest])


def preload_without(existing: str | None, prefix: str) -> str:
    """LD_PRELOAD without the libraries whose names start with `prefix`."""
    words = re.split(r"[ :]+", existing or "")
    return ":".join(word for word in words if word and not PurePath(word).name.startswith(prefix))


def find_launcher(words: Sequence[str]) -> int | None:
    """The index of the launcher: the first word, or one that follows wrappers such as `env`."""
    for index, word in enumerate(words):
        name = PurePath(word).name
        if _LAUNCHER.fullmatch(name):
            return index
        if index == 0 and name not in _WRAPPERS:
            return None
    return None


def starts_others(words: Sequence[str]) -> bool:
    """Whether the command is a wrapper or a shell, which starts another program."""
    return PurePath(words[0]).name in _WRAPPERS | _SHELLS


def flavour_of_name(name: str) -> Flavour | None:
    """The flavour by the name of the executable (with links resolved), or None."""
    if name in {"orterun", "prterun", "prte", "ompirun_wrapper"} or name.endswith(".openmpi"):
        return Flavour.OPEN_MPI
    if name in {"mpiexec.hydra", "mpiexec.mpich", "mpirun.mpich"}:
        return Flavour.HYDRA
    return Flavour.SLURM if name == "srun" else None


def flavour_of_version(text: str) -> Flavour | None:
    """The flavour by the output of `--version`, or None."""
    if re.search(r"Open ?MPI|OpenRTE|PRRTE|open-mpi\.org", text):
        return Flavour.OPEN_MPI
    if re.search(r"HYDRA|Intel\(R\) MPI|MPICH", text):
        return Flavour.HYDRA
    return Flavour.SLURM if re.match(r"slurm", text) else None


def version_of(text: str) -> str | None:
    """The version number in what `--version` printed."""
    found = re.search(r"\b(\d+\.\d+(?:\.\d+)?(?:[a-z]+\d*)?)\b", text)
    return found[1] if found else None


@frozen
class _Context:
    """One application context (MPMD) of a command line: the launcher's options, then the program
    with its arguments."""

    options: tuple[str, ...]
    program: tuple[str, ...]


def forward(
    words: Sequence[str],
    *,
    launcher: int,
    flavour: Flavour,
    forwarding: Forwarding,
    is_program: Callable[[str], bool],
) -> tuple[str, ...]:
    """`words` with the options by which this launcher passes our variables to every rank."""
    before, own = tuple(words[: launcher + 1]), words[launcher + 1 :]
    contexts = [_context(segment, flavour, is_program) for segment in _segments(own)]
    if flavour is Flavour.OPEN_MPI:
        return before + _joined([_for_open_mpi(one, forwarding) for one in contexts])
    if flavour is Flavour.HYDRA:
        return before + _for_hydra(contexts, forwarding)
    if flavour is Flavour.SLURM:
        return before + _joined([_for_slurm(one, forwarding) for one in contexts])
    return before + tuple(own)


def _context(
    segment: Sequence[str], flavour: Flavour, is_program: Callable[[str], bool]
) -> _Context:
    """Splits a context into options and program. If no word is a program on this node, the program
    is the first word that is neither an option nor an option's value."""
    at = _program_in(segment, flavour, is_program)
    if at is None:
        at = _program_in(segment, flavour, lambda _: True)
    end = len(segment) if at is None else at
    return _Context(options=tuple(segment[:end]), program=tuple(segment[end:]))


def _joined(contexts: Iterable[_Context]) -> tuple[str, ...]:
    out: list[str] = []
    for number, one in enumerate(contexts):
        out += [*([":"] if number else []), *one.options, *one.program]
    return tuple(out)


def slurm_export(value: str, forwarding: Forwarding) -> str:
    """The value of --export (or SLURM_EXPORT_ENV) with our variables added."""
    words = [word for word in value.split(",") if word]
    everything = any(word.upper() == "ALL" for word in words)
    kept = [
        _merged_preload(word, forwarding) for word in words if word.upper() not in {"NONE", "NIL"}
    ]
    given = {word.partition("=")[0] for word in kept}
    missing = [] if everything else [name for name in forwarding.names if name not in given]
    return ",".join([*kept, *missing])


def _merged_preload(assignment: str, forwarding: Forwarding) -> str:
    name, equals, value = assignment.partition("=")
    if name != PRELOAD_VARIABLE or not equals:
        return assignment
    return f"{name}={compose_preload(forwarding.library, value)}"


def _segments(words: Sequence[str]) -> Iterator[Sequence[str]]:
    start = 0
    for index, word in enumerate(words):
        if word == ":":
            yield words[start:index]
            start = index + 1
    yield words[start:]


def _for_open_mpi(context: _Context, forwarding: Forwarding) -> _Context:
    """Adds -x to every application context, since Open MPI 4 does not share it between them."""
    own = list(context.options)
    given = set()
    for index in range(len(own) - 1):
        if own[index] in {"-x", "--x"}:
            own[index + 1] = _merged_preload(own[index + 1], forwarding)
            given.add(own[index + 1].partition("=")[0])
    flags = [w for name in forwarding.names if name not in given for w in ("-x", name)]
    return replace(context, options=(*flags, *own))


def _for_hydra(contexts: Sequence[_Context], forwarding: Forwarding) -> tuple[str, ...]:
    """Hydra passes all variables on, unless an option forbids it: then -genv names ours."""
    told = [replace(one, options=_hydra_options(one.options, forwarding)) for one in contexts]
    withheld = {"-genvnone", "--genvnone", "-envnone", "--envnone"}
    if all(withheld.isdisjoint(one.options) for one in contexts):
        return _joined(told)
    return (*(word for pair in forwarding.pairs for word in ("-genv", *pair)), *_joined(told))


def _hydra_options(words: Sequence[str], forwarding: Forwarding) -> tuple[str, ...]:
    out = list(words)
    for index in range(len(out) - 1):
        option = out[index].lstrip("-") if out[index].startswith("-") else ""
        following = out[index + 1]
        if option in {"genvlist", "envlist"}:
            missing = [n for n in forwarding.names if n not in following.split(",")]
            out[index + 1] = ",".join([following, *missing])
        elif option in {"genv", "env"} and following == PRELOAD_VARIABLE and index + 2 < len(out):
            out[index + 2] = compose_preload(forwarding.library, out[index + 2])
        elif option in {"genv", "env"}:
            out[index + 1] = _merged_preload(following, forwarding)
    return tuple(out)


def _for_slurm(context: _Context, forwarding: Forwarding) -> _Context:
    """srun passes all variables on unless --export lists them: then ours are added."""
    out = list(context.options)
    for index, word in enumerate(out):
        if word.startswith("--export="):
            out[index] = "--export=" + slurm_export(word.removeprefix("--export="), forwarding)
        elif word == "--export" and index + 1 < len(out):
            out[index + 1] = slurm_export(out[index + 1], forwarding)
    return replace(context, options=tuple(out))


_VALUES: Mapping[Flavour, Mapping[str, int]] = {
    Flavour.OPEN_MPI: {
        "mca": 2,
        "gmca": 2,
        "prtemca": 2,
        "pmixmca": 2,
        "omca": 2,
        "tune": 1,
        **dict.fromkeys(
            "n np c N x H host hostfile machinefile default-hostfile wdir wd path map-by bind-to "
            "rank-by npernode npersocket cpus-per-proc rf rankfile timeout output output-filename "
            "stdin am app prefix personality runtime-options s preload-files max-restarts".split(),
            1,
        ),
    },
    Flavour.HYDRA: {
        "genv": 2,
        "env": 2,
        **dict.fromkeys(
            "n np f hosts host hostfile machinefile wdir configfile genvlist envlist launcher "
            "launcher-exec bootstrap bootstrap-exec rmk topolib bind-to map-by membind demux "
            "iface ppn prepend-pattern outfile-pattern errfile-pattern nameserver order-nodes "
            "localhost usize pmi-port "
            "gpus-per-proc perhost".split(),
            1,
        ),
    },
    Flavour.SLURM: dict.fromkeys(
        "n N c p t w x A C G J L W o e i D m q r ntasks nodes cpus-per-task partition time "
        "nodelist exclude account job-name output error input chdir distribution qos mpi export "
        "mem mem-per-cpu mem-per-gpu constraint ntasks-per-node ntasks-per-core cpu-bind mem-bind "
        "gres gpus gpus-per-node gpus-per-task gpu-bind hint het-group licenses relative "
        "reservation threads-per-core wait".split(),
        1,
    ),
    Flavour.OTHER: dict.fromkeys("n np N c p H host hostfile f".split(), 1),
}


def options_with_values(
    words: Sequence[str],
    *,
    launcher: int,
    flavour: Flavour,
    is_program: Callable[[str], bool],
) -> Iterator[tuple[str, ...]]:
    """The launcher's options in all application contexts, each with its values."""
    for segment in _segments(words[launcher + 1 :]):
        options = _context(segment, flavour, is_program).options
        at = 0
        while at < len(options):
            values = _values_after(options[at], "".join(options[at + 1 : at + 2]), flavour)
            yield options[at : at + 1 + values]
            at += 1 + values


def ranks_of(
    words: Sequence[str],
    *,
    launcher: int,
    flavour: Flavour,
    is_program: Callable[[str], bool],
) -> int | None:
    """How many ranks the command line starts, all application contexts together; None if it does
    not say so of each."""
    options = _RANKS_OPTIONS - (set() if flavour is Flavour.OPEN_MPI else {"-c"})
    total = 0
    for segment in _segments(words[launcher + 1 :]):
        given = [
            value
            for name, value in _pairs(_context(segment, flavour, is_program).options)
            if name in options
        ]
        if not given or not given[-1].isdecimal():
            return None
        total += int(given[-1])
    return total


def _pairs(options: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each option, with what follows it, or stands behind its "="."""
    for at, option in enumerate(options):
        following = "".join(options[at + 1 : at + 2])
        name, equals, value = option.partition("=")
        yield (name, value) if equals else (option, following)


def find_programs(
    words: Sequence[str],
    *,
    launcher: int,
    flavour: Flavour,
    is_program: Callable[[str], bool],
) -> tuple[int, ...]:
    """The indices of the programs that the launcher starts: in each application context, the first
    executable word that is neither an option nor an option's value."""
    found = []
    start = launcher + 1
    for segment in _segments(words[start:]):
        at = _program_in(segment, flavour, is_program)
        if at is not None:
            found.append(start + at)
        start += len(segment) + 1
    return tuple(found)


def _program_in(
    segment: Sequence[str], flavour: Flavour, is_program: Callable[[str], bool]
) -> int | None:
    skip = 0
    for index, word in enumerate(segment):
        if skip:
            skip -= 1
        elif word.startswith("-"):
            skip = _values_after(word, "".join(segment[index + 1 : index + 2]), flavour)
        elif is_program(word):
            return index
    return None


def _values_after(option: str, following: str, flavour: Flavour) -> int:
    """How many of the words after `option` are its values."""
    name, equals, _ = option.lstrip("-").partition("=")
    if equals:
        return 0
    values = _VALUES[flavour].get(name, 0)
    # Hydra takes -genv NAME VALUE and -genv NAME=VALUE.
    return 1 if name in {"genv", "env"} and "=" in following else values
