"""Derives from a program's MPI launcher how to start daemons: which nodes its options name, and the
words that start one task on each. Pure: the caller reads host files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from forebay.common.model.frozen import frozen
from forebay.common.model.known_launchers import KNOWN, Flavour, KnownLauncher
from forebay.common.model.launcher import options_with_values, subcommand_of

_COUNTS = frozenset({"n", "np", "c"})
_HOST = re.compile(r"[A-Za-z0-9_][\w.-]*")


@frozen
class Launching:
    """How the user starts a program: the launcher as it was spelled, and its options, each with its
    values."""

    launcher: str
    flavour: Flavour
    options: tuple[tuple[str, ...], ...]
    subcommand: str = ""

    @property
    def known(self) -> KnownLauncher:
        """The facts known of launchers of this kind."""
        return KNOWN[self.flavour]

    @property
    def is_usable(self) -> bool:
        """Whether it is known how to start one task per node with this launcher."""
        return bool(self.known.start) and not self.is_detached

    @property
    def is_detached(self) -> bool:
        """Whether the launcher returns before the program ends, or starts it in an allocation of
        its own."""
        return self.subcommand in self.known.detached


def launching(
    words: Sequence[str], *, launcher: int, flavour: Flavour, is_program: Callable[[str], bool]
) -> Launching:
    """The launch in a command line whose word number `launcher` is the launcher."""
    options = options_with_values(words, launcher=launcher, flavour=flavour, is_program=is_program)
    return Launching(
        launcher=words[launcher],
        flavour=flavour,
        options=tuple(options),
        subcommand=subcommand_of(words, launcher),
    )


def nodes_of(
    launch: Launching,
    read: Callable[[str], str | None],
    environment: Mapping[str, str] | None = None,
) -> int:
    """The number of nodes that the options name, or else a file of hosts that the launcher finds in
    `environment`, but not more than there are ranks; 0 if neither names any. `read` returns a
    file's text, or None."""
    known = launch.known
    if not launch.is_usable or not (known.host_lists or known.host_files):
        return 0
    hosts: dict[str, None] = {}
    ranks = 0
    files: list[str] = []
    for option in launch.options:
        name, values = _named(option)
        if name in known.host_lists:
            hosts.update(dict.fromkeys(_hosts(",".join(values).split(","))))
        elif name in known.host_files and values:
            files.append(values[0])
        elif name in _COUNTS and values and values[0].isdecimal():
            ranks += int(values[0])
    if not hosts and not files and environment is not None:
        named = (environment.get(name, "") for name in known.hosts_variables)
        files = [file for file in named if file][:1]
    for file in files:
        text = read(file)
        if text is None:
            return 0
        hosts.update(dict.fromkeys(_hosts(text.splitlines())))
    return min(len(hosts), ranks) if ranks else len(hosts)


def _hosts(entries: Sequence[str]) -> Iterator[str]:
    """The host names in entries such as `name`, `name:4` and `name slots=4`."""
    for entry in entries:
        found = _HOST.match(entry.strip())
        if found:
            yield found[0]


def _named(option: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    name, equals, value = option[0].lstrip("-").partition("=")
    return name, ((value,) if equals else tuple(option[1:]))


def starter_by(launch: Launching, nodes: int, variables: Sequence[str]) -> tuple[str, ...]:
    """The launcher's words to start one task on each of `nodes` nodes. `variables` are the names of
    environment variables that the tasks must see."""
    known = launch.known
    kept = dict.fromkeys(option for option in launch.options if _named(option)[0] in known.kept)
    counts = {"nodes": str(nodes), "last": str(nodes - 1)}
    start = (_filled(word, counts) for word in known.start)
    exports = (word for name in variables if known.exports for word in (known.exports, name))
    return (launch.launcher, *(word for option in kept for word in option), *start, *exports)


def _filled(word: str, counts: Mapping[str, str]) -> str:
    for name, count in counts.items():
        word = word.replace(f"{{{name}}}", count)
    return word
