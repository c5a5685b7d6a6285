"""Derives from a program's MPI launcher how to start daemons: which nodes its options name, and the
words that start one task on each. Pure: the caller reads host files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from forebay.common.model.frozen import frozen
from forebay.common.model.launcher import Flavour, options_with_values

_COUNTS = frozenset({"n", "np", "c"})
_LISTS = {
    Flavour.HYDRA: frozenset({"hosts", "host"}),
    Flavour.OPEN_MPI: frozenset({"H", "host"}),
}
_FILES = {
    Flavour.HYDRA: frozenset({"f", "hostfile", "machinefile"}),
    Flavour.OPEN_MPI: frozenset({"hostfile", "machinefile"}),
}
# Options that the daemons' launch keeps: they say which nodes there are and how to reach them.
_KEPT = {
    Flavour.HYDRA: frozenset(
        "f hosts host hostfile machinefile launcher launcher-exec bootstrap bootstrap-exec rmk "
        "iface localhost".split()
    ),
    Flavour.OPEN_MPI: frozenset(
        "H host hostfile machinefile default-hostfile mca gmca prtemca pmixmca omca prefix "
        "personality allow-run-as-root".split()
    ),
}
_HOST = re.compile(r"[A-Za-z0-9_][\w.-]*")


@frozen
class Launching:
    """How the user starts a program: the launcher as it was spelled, and its options, each with its
    values."""

    launcher: str
    flavour: Flavour
    options: tuple[tuple[str, ...], ...]

    @property
    def is_usable(self) -> bool:
        """Whether it is known how to start one task per node with this launcher."""
        return self.flavour in _KEPT


def launching(
    words: Sequence[str], *, launcher: int, flavour: Flavour, is_program: Callable[[str], bool]
) -> Launching:
    """The launch in a command line whose word number `launcher` is the launcher."""
    options = options_with_values(words, launcher=launcher, flavour=flavour, is_program=is_program)
    return Launching(launcher=words[launcher], flavour=flavour, options=tuple(options))


def nodes_of(launch: Launching, read: Callable[[str], str | None]) -> int:
    """The number of nodes that the options name, but not more than there are ranks; 0 if they name
    none. `read` returns a file's text, or None."""
    if not launch.is_usable:
        return 0
    hosts: dict[str, None] = {}
    ranks = 0
    for option in launch.options:
        name, values = _named(option)
        if name in _LISTS[launch.flavour]:
            hosts.update(dict.fromkeys(_hosts(",".join(values).split(","))))
        elif name in _FILES[launch.flavour] and values:
            text = read(values[0])
            if text is None:
                return 0
            hosts.update(dict.fromkeys(_hosts(text.splitlines())))
        elif name in _COUNTS and values and values[0].isdecimal():
            ranks += int(values[0])
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
    kept = dict.fromkeys(
        option for option in launch.options if _named(option)[0] in _KEPT[launch.flavour]
    )
    words = [launch.launcher, *(word for option in kept for word in option), "-n", str(nodes)]
    if launch.flavour is Flavour.HYDRA:
        return (*words, "-ppn", "1")  # Hydra passes all variables and binds no processes
    words += ["--map-by", "ppr:1:node", "--bind-to", "none"]
    return (*words, *(word for name in variables for word in ("-x", name)))
