"""Command lines of MPI launchers: how to start ranks, where in a command line the launcher and the
program are, and which options pass our environment variables to ranks on other nodes. The options
themselves are in `known_launchers`. Pure: words in, words out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from forebay.common.model.frozen import frozen
from forebay.common.model.known_launchers import KNOWN, Flavour

PRELOAD_VARIABLE = "LD_PRELOAD"

_LAUNCHER = re.compile(
    r"(mpirun|mpiexec|orterun|prterun|oshrun|srun)([._-][\w.-]+)?|jsrun|aprun|ibrun|prun"
)
_WRAPPERS = frozenset(
    "env timeout nice ionice nohup time setsid stdbuf taskset numactl chrt strace ltrace".split()
)
_SHELLS = frozenset("sh bash dash zsh ksh csh tcsh fish busybox make".split())


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


def with_ranks(
    words: Sequence[str], *, flavour: Flavour, ranks: int, per_node: int | None
) -> tuple[str, ...]:
    """The launcher's words, changed to start `ranks` ranks, at most `per_node` on each node (None
    if there is only one node). The words must contain no program."""
    options = KNOWN[flavour].ranks
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
        at = _own_from(out, find_launcher(out) or 0)
        out[at:at] = ["-n", str(ranks)]
    if per_node is None:
        return tuple(out)
    if flavour is Flavour.SLURM:
        out.append(f"--ntasks-per-node={per_node}")
    elif flavour is Flavour.HYDRA:
        out += ["-ppn", str(per_node)]
    elif flavour in {Flavour.OPEN_MPI, Flavour.PRUN}:
        out += ["--map-by", f"ppr:{per_node}:node"]
    elif flavour is Flavour.PALS:
        out += ["--ppn", str(per_node)]
    elif flavour is Flavour.APRUN:
        out += ["-N", str(per_node)]
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
        if _LAUNCHER.fullmatch(name) or subcommand_of(words, index):
            return index
        if index == 0 and name not in _WRAPPERS:
            return None
    return None


def subcommand_of(words: Sequence[str], launcher: int) -> str:
    """The subcommand that makes word number `launcher` a launcher (`flux run`); else empty."""
    following = "".join(words[launcher + 1 : launcher + 2])
    for known in KNOWN.values():
        if known.subcommands and PurePath(words[launcher]).name in known.names:
            return following if following in known.subcommands else ""
    return ""


def _own_from(words: Sequence[str], launcher: int) -> int:
    """The index of the first word after the launcher's name and its subcommand."""
    return launcher + (2 if subcommand_of(words, launcher) else 1)


def starts_others(words: Sequence[str]) -> bool:
    """Whether the command is a wrapper or a shell, which starts another program."""
    return PurePath(words[0]).name in _WRAPPERS | _SHELLS


def flavour_of_name(name: str) -> Flavour | None:
    """The flavour by the name of the executable (with links resolved), or None."""
    if name.endswith(".openmpi"):
        return Flavour.OPEN_MPI
    return next((flavour for flavour, one in KNOWN.items() if name in one.names), None)


def flavour_of_help(text: str) -> Flavour | None:
    """The flavour by the output of `--help`, or None: PALS' mpiexec names itself there."""
    return Flavour.PALS if "Parallel Application Launch Service" in text else None


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
    at = _own_from(words, launcher)
    before, own = tuple(words[:at]), words[at:]
    contexts = [_context(segment, flavour, is_program) for segment in _segments(own, flavour)]
    if flavour in {Flavour.OPEN_MPI, Flavour.PRUN}:
        return before + _joined([_for_open_mpi(one, forwarding) for one in contexts])
    if flavour in {Flavour.HYDRA, Flavour.PALS}:
        return before + _for_hydra(contexts, forwarding, flavour)
    if flavour is Flavour.SLURM:
        return before + _joined([_for_slurm(one, forwarding) for one in contexts])
    if flavour is Flavour.FLUX:
        return before + _joined([_for_flux(one, forwarding) for one in contexts])
    return before + _joined([_with_assignments(one, forwarding, flavour) for one in contexts])


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


def _segments(words: Sequence[str], flavour: Flavour) -> Iterator[Sequence[str]]:
    """The words of each application context."""
    start = 0
    for index, word in enumerate(words):
        if word == ":" and KNOWN[flavour].has_contexts:
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


def _for_hydra(
    contexts: Sequence[_Context], forwarding: Forwarding, flavour: Flavour
) -> tuple[str, ...]:
    """Hydra and PALS pass all variables on, unless an option forbids it: then -genv names ours.
    For PALS it is one word, since its versions differ in how they separate name and value."""
    told = [replace(one, options=_hydra_options(one.options, forwarding)) for one in contexts]
    withheld = {"-genvnone", "--genvnone", "-envnone", "--envnone"}
    if all(withheld.isdisjoint(one.options) for one in contexts):
        return _joined(told)
    if flavour is Flavour.PALS:
        return (*(f"--genv={name}={value}" for name, value in forwarding.pairs), *_joined(told))
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


_FLUX_RULES = ("--env", "--env-remove", "--env-file")


def _for_flux(context: _Context, forwarding: Forwarding) -> _Context:
    """flux passes all variables on unless rules say otherwise. The rule that is a variable's name
    takes it from the environment, if the rules before it have not set it."""
    out = list(context.options)
    ruled = False
    for index, word in enumerate(out):
        name, equals, value = word.partition("=")
        if name not in _FLUX_RULES:
            continue
        ruled = True
        if name == "--env" and equals:
            out[index] = f"{name}={_merged_preload(value, forwarding)}"
        elif name == "--env" and index + 1 < len(out):
            out[index + 1] = _merged_preload(out[index + 1], forwarding)
    added = [f"--env={name}" for name in forwarding.names] if ruled else []
    return replace(context, options=(*out, *added))


def _with_assignments(context: _Context, forwarding: Forwarding, flavour: Flavour) -> _Context:
    """The others pass all variables on; an option that sets LD_PRELOAD gets our libraries, too."""
    out = list(context.options)
    options = KNOWN[flavour].assignments
    for index, word in enumerate(out):
        name, equals, value = word.partition("=")
        if name.lstrip("-") not in options:
            continue
        if equals:
            out[index] = f"{name}={_merged_preload(value, forwarding)}"
        elif index + 1 < len(out):
            out[index + 1] = _merged_preload(out[index + 1], forwarding)
    return replace(context, options=tuple(out))


def options_with_values(
    words: Sequence[str],
    *,
    launcher: int,
    flavour: Flavour,
    is_program: Callable[[str], bool],
) -> Iterator[tuple[str, ...]]:
    """The launcher's options in all application contexts, each with its values."""
    for segment in _segments(words[_own_from(words, launcher) :], flavour):
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
    options = KNOWN[flavour].ranks
    total = 0
    for segment in _segments(words[_own_from(words, launcher) :], flavour):
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
    start = _own_from(words, launcher)
    for segment in _segments(words[start:], flavour):
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
        elif is_program(word) and word not in KNOWN[flavour].helpers:
            return index
    return None


def _values_after(option: str, following: str, flavour: Flavour) -> int:
    """How many of the words after `option` are its values."""
    name, equals, _ = option.lstrip("-").partition("=")
    if equals:
        return 0
    values = KNOWN[flavour].values.get(name, 0)
    # Hydra and PALS take -genv NAME VALUE and -genv NAME=VALUE.
    return 1 if name in {"genv", "env"} and "=" in following else values
