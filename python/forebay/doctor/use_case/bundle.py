"""Use case: a report about a node that can be given to others, without private names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from forebay import __version__
from forebay.common.model.frozen import frozen
from forebay.doctor.model.private_names import PrivateNames, names_in, servers_of
from forebay.doctor.model.site import SiteFacts, networked
from forebay.machine_ports import World
from forebay.settings.model.table import EffectiveSetting

RECORD_LINES_MAX = 50
_HOST_LISTS = ("SLURM_JOB_NODELIST", "SLURM_NODELIST", "SLURMD_NODENAME", "SLURM_SUBMIT_HOST")


@frozen
class Person:
    """The user who runs this, and this host, by all their names."""

    users: tuple[str, ...]
    hosts: tuple[str, ...]


class BundleSource(Protocol):
    """Looks up what a bundle has besides the findings."""

    def person(self) -> Person:
        """Names to be taken out."""

    def last_lines(self, path: str, count: int) -> Sequence[Any]:
        """The last lines of a record, as JSON values; lines that are none are left out. Empty if it
        cannot be read."""


def bundle_of(
    document: Mapping[str, Any],
    facts: SiteFacts,
    settings: Sequence[EffectiveSetting],
    source: BundleSource,
    world: World,
) -> Mapping[str, Any]:
    """The files of the bundle by name: JSON values, and lists of them for names that end in
    "jsonl". `document` is the diagnosis as JSON."""
    record = next((one.value for one in settings if one.setting.name == "record"), "")
    lines = source.last_lines(record, RECORD_LINES_MAX) if record else ()
    person = source.person()
    hosts = [world.environment.get(name, "") for name in _HOST_LISTS]
    names = PrivateNames(users=person.users, hosts=(*person.hosts, *hosts))
    for mount in networked(facts.mounts):
        for server in servers_of(mount.device):
            names.learn("host", server)
    listed = [one.as_json() for one in settings]
    for value in (document, listed, lines):
        for kind, name in names_in(value):
            names.learn(kind, name)
    return {
        "versions.json": names.cleaned(
            {
                "forebay": __version__,
                "kernel": facts.kernel,
                "distribution": facts.distribution,
                "libc": facts.libc,
                "architecture": facts.architecture,
            }
        ),
        "doctor.json": names.cleaned(document),
        "settings.json": [
            {**names.cleaned(one), "value": _value(one["value"], names)} for one in listed
        ],
        "records.jsonl": [_record(line, names) for line in lines],
    }


def _value(value: str, names: PrivateNames) -> str:
    """The value of a setting. One with several words is a list of paths, or a command line."""
    if "," not in value or value.startswith("/"):
        return str(names.cleaned(value))
    return ",".join(names.command(value.split(",")))


def _record(line: Any, names: PrivateNames) -> Any:
    """A record's line: its command is more than a path."""
    if not isinstance(line, Mapping):
        return names.cleaned(line)
    rest = {key: value for key, value in line.items() if key != "command"}
    told = names.cleaned(rest)
    command = line.get("command")
    if isinstance(command, (list, tuple)) and all(isinstance(word, str) for word in command):
        return {**told, "command": names.command(command)}
    return {**told, "command": names.command(str(command).split())} if command else told
