"""A portrait: what was found out about a file system, with where each number comes from, how
certain it is, and when it was measured."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping

from forebay.common.model.frozen import frozen
from forebay.common.model.units import counted, human_bytes, human_rate
from forebay_tuning.model.point import Direction, Point, Space
from forebay_tuning.model.response import Response
from forebay_tuning.model.sample import Choice, Sample
from forebay_tuning.model.sustained import Sustained

SCHEMA = "forebay.portrait/2"
"""Can be read, too: not all of their values have a source."""
DAYS_FRESH = 90


@frozen
class Identity:
    """Which file system, seen from where. `is_modelled`: nothing was measured, but the `client`
    asked, "simulator" or "formulas", about a platform."""

    name: str
    directory: str
    file_system: str
    mount_point: str
    host: str
    client: str
    forebay: str
    date: str
    level: str
    seed: int
    nodes: int
    ranks_per_node: int
    targets: int
    stripe_count: int
    stripe_bytes: int
    is_modelled: bool = False
    targets_source: str = ""
    """How `targets` is known."""
    source: str = ""
    """What is mounted there; empty in portraits that do not say it."""


@frozen
class Here:
    """Where and when a portrait is used, and by which Forebay. `directory`: of the program's
    output; empty, or without a file system, if nothing is known of it."""

    forebay: str
    date: datetime.date
    directory: str = ""
    file_system: str = ""
    mount_point: str = ""
    source: str = ""


def doubts(identity: Identity, here: Here) -> tuple[str, ...]:
    """Why a portrait may not be that of what is used here, each with what to do."""
    if identity.is_modelled:
        return ()
    told = []
    there = (identity.file_system, identity.mount_point)
    if here.file_system and (here.file_system, here.mount_point) != there:
        told.append(
            f"the portrait is of another file system ({identity.file_system} at "
            f"{identity.mount_point} of {identity.host}; {here.directory} is on "
            f"{here.file_system} at {here.mount_point}). Probe {here.directory}."
        )
    elif here.file_system and _differ(identity.source, here.source):
        told.append(
            f"the portrait is of another file system ({identity.source} was at "
            f"{identity.mount_point} of {identity.host}; it is {here.source} here). Probe "
            f"{here.directory}."
        )
    if identity.forebay != here.forebay:
        told.append(
            f"the portrait was drawn by Forebay {identity.forebay} (this is {here.forebay}, which "
            "may move bytes in other ways). Probe again if much depends on it."
        )
    try:
        days = (here.date - datetime.date.fromisoformat(identity.date[:10])).days
    except ValueError:
        days = 0
    if days > DAYS_FRESH:
        told.append(
            f"the portrait is {days} days old (file systems fill, and are changed). Probe again."
        )
    return tuple(told)


def _differ(there: str, here: str) -> bool:
    """Whether two sources are certainly not the same file system. Nodes of one cluster may reach it
    by other servers' addresses or another network (`10.0.0.1@o2ib:10.0.0.2@o2ib:/scratch`): then
    its name tells, unless all addresses are of one network, and others. A local device has other
    names on other nodes, which tell nothing."""
    first, second = _parted(there), _parted(here)
    if first is None or second is None:
        return False
    if first[1] != second[1]:
        return True
    same_network = {one.partition("@")[2] for one in first[0] | second[0]}
    return not first[0] & second[0] and len(same_network) == 1


def _parted(source: str) -> tuple[frozenset[str], str] | None:
    """Addresses and name. None: it is not of a network."""
    servers, colon, name = source.rpartition(":/")
    if not colon:
        return None
    return frozenset(re.split("[:,]", servers)), name


@frozen
class SickTarget:
    """A storage target that stands out: how many of its files were compared, and how much slower
    than the others' median it is."""

    target: int
    slower: float
    files: int


@frozen
class Portrait:
    """All of it. `choices`: what each direction likes; `findings`: what is to be told in words."""

    identity: Identity
    space: Space
    control: Point
    choices: Mapping[Direction, Choice]
    samples: tuple[Sample, ...]
    sick: tuple[SickTarget, ...] = ()
    findings: tuple[str, ...] = ()

    def response(self, direction: Direction) -> Response | None:
        """How the system answers; None: nothing is known of this direction."""
        choice = self.choices.get(direction)
        return None if choice is None else choice.response


def kept_up(direction: Direction, found: Sustained | None) -> tuple[str, ...]:
    """The sustained rate, and whether the other probes are of a cache; empty: there is nothing to
    tell."""
    if found is None:
        return ()
    low, high = human_rate(found.low), human_rate(found.high)
    rate = (
        f"{human_rate(found.rate)} ({low} to {high}) sustained, "
        f"by passages of up to {human_bytes(found.longest_bytes)}"
    )
    if not found.is_cached:
        return (f"{direction}: {rate}.",)
    return (
        f"{direction}: {rate}. The other probes are shorter and were taken in by a cache (about "
        f"{human_bytes(found.cache_bytes)}; {human_rate(found.short_rate)} in passages of "
        f"{human_bytes(found.short_bytes)}): their rates are the cache's, not the file system's.",
    )


def findings_of(
    choices: Mapping[Direction, Choice], cached: int, sick: tuple[SickTarget, ...], discarded: int
) -> tuple[str, ...]:
    """What probing found, in sentences."""
    told = []
    for direction, choice in choices.items():
        surface = choice.response.surface
        if not surface.has_structure:
            told.append(
                f"{direction}: no structure found (the fit explains "
                f"{max(0.0, surface.explained):.0%} of what it has not seen); keep the default."
            )
        elif choice.keeps:
            told.append(f"{direction}: nothing is certainly better than the default; keep it.")
        else:
            told.append(
                f"{direction}: {choice.gain:.2f} × the default's rate "
                f"({choice.gain_low:.2f} – {choice.gain_high:.2f})."
            )
        told += kept_up(direction, choice.response.sustained)
    if cached:
        told.append(
            f"read: {cached} probes came from a page cache (faster than writing by far); they do "
            "not count as the file system's rate."
        )
    if discarded:
        told.append(f"{counted(discarded, 'probe')} left out; the list says why.")
    told += [
        f"target {one.target} is sick: {one.slower:.1f} × slower than the others' median, "
        f"over {counted(one.files, 'file')}."
        for one in sick
    ]
    return tuple(told)
