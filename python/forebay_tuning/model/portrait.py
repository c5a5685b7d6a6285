"""A portrait: what was measured of a file system, with the source of each number, its uncertainty,
and the date."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import replace

from forebay.common.model.frozen import frozen
from forebay.common.model.units import counted, human_bytes, human_rate
from forebay_tuning.model.metadata import MetadataRates
from forebay_tuning.model.point import Direction, Point, Space
from forebay_tuning.model.response import Response
from forebay_tuning.model.sample import Choice, Sample
from forebay_tuning.model.sustained import Sustained
from forebay_tuning.model.targets import SickTarget

SCHEMA = "forebay.portrait/2"
"""The previous schema, which can still be read; not all of its values have a source."""
DAYS_FRESH = 90
"""Days after which a portrait is called old."""


@frozen
class Identity:
    """The file system, and the machine that it was probed from. If `is_modelled`, nothing was
    measured: `client` ("simulator" or "formulas") computed the results for a platform."""

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
    """How the number of targets is known."""
    source: str = ""
    """The mounted device or server address; empty in portraits that lack it."""


@frozen
class Here:
    """The place and time at which a portrait is used, and the version of Forebay. `directory` is
    for the program's output; it or `file_system` is empty if not known."""

    forebay: str
    date: datetime.date
    directory: str = ""
    file_system: str = ""
    mount_point: str = ""
    source: str = ""


def doubts(identity: Identity, here: Here) -> tuple[str, ...]:
    """Why the portrait may not describe the system that is used here, each with advice."""
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
    """Whether two mount sources are certainly different file systems.

    Nodes of one cluster may reach the same file system by other servers' addresses, or over another
    network (`10.0.0.1@o2ib:10.0.0.2@o2ib:/scratch`). Names that differ decide; with the same name,
    they differ only if all addresses are of one network and none is common. The name of a local
    device says nothing on another node."""
    first, second = _parted(there), _parted(here)
    if first is None or second is None:
        return False
    if first[1] != second[1]:
        return True
    same_network = {one.partition("@")[2] for one in first[0] | second[0]}
    return not first[0] & second[0] and len(same_network) == 1


def _parted(source: str) -> tuple[frozenset[str], str] | None:
    """The server addresses and the name in a mount source; None if it is no network source."""
    servers, colon, name = source.rpartition(":/")
    if not colon:
        return None
    return frozenset(re.split("[:,]", servers)), name


@frozen
class Portrait:
    """A whole portrait. `choices` has the result per direction; `findings` are texts for users."""

    identity: Identity
    space: Space
    control: Point
    choices: Mapping[Direction, Choice]
    samples: tuple[Sample, ...]
    sick: tuple[SickTarget, ...] = ()
    findings: tuple[str, ...] = ()
    metadata: MetadataRates | None = None
    """The price of files; None if it was not measured, as in portraits of older versions."""

    def response(self, direction: Direction) -> Response | None:
        """The fitted response of one direction, with the price of files, or None if it was not
        probed."""
        choice = self.choices.get(direction)
        if choice is None:
            return None
        rates = () if self.metadata is None else self.metadata.of(direction)
        return replace(choice.response, file_rates=rates)


def kept_up(direction: Direction, found: Sustained | None) -> tuple[str, ...]:
    """A sentence about the sustained rate, and whether the other probes measured a cache; empty if
    it is not known."""
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
    """The results of probing, in sentences for users."""
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
        f"storage target {one.target} is sick (a target is a server's disk array): "
        f"{one.slower:.1f} × slower than the others' median, over {counted(one.files, 'file')}."
        for one in sick
    ]
    return tuple(told)
