"""Says in words which part of the system limits a point, and why a file gets no more stripes."""

from __future__ import annotations

from forebay.common.model.units import counted, human_rate
from forebay_tuning.model.point import Point
from forebay_tuning.model.response import Response

_PARTS = {
    "processes": "the processes' own speed limits",
    "nodes": "the nodes' links limit",
    "targets": "the storage targets (servers' disk arrays) limit",
    "system": "the system as a whole limits",
}

_NUMBERS = {
    "processes": "process_rate",
    "nodes": "node_rate",
    "targets": "target_rate",
    "system": "system_rate",
}
"""The physical number that mainly determines each limit."""


def bottleneck(point: Point, response: Response, *, advised: bool = False) -> str:
    """A sentence about the part of the system that limits the point now or `advised`."""
    around, seconds = response.seconds_files(point), response.seconds(point)
    when = "then" if advised else "now"
    if around > 0.5 * seconds:
        files = f" {response.files} files" if response.files > 1 else ""
        return (
            f"{when} opening and closing{files} by "
            f"{counted(point.processes, 'process', 'processes')} "
            f"takes {around:.3g} s of {seconds:.3g} s."
        )
    moving = response.seconds_moving(point)
    if moving > 1.01 * point.bytes / response.surface.rate(point):
        return (
            f"{when} what the file system keeps up behind its cache limits it: "
            f"{human_rate(point.bytes / moving)}, however calls are made."
        )
    limits = response.surface.physical.limits(point, response.surface.targets)
    part, other = sorted(limits, key=lambda one: limits[one])[:2]
    surface = response.surface
    if not surface.is_identified(_NUMBERS[part]):
        return (
            f"{when} {human_rate(surface.rate(point))} are predicted; by these probes it is not "
            "identified which part of the system limits it."
        )
    rest = f"the rest could carry {human_rate(limits[other])}"
    if not surface.is_identified(_NUMBERS[other]):
        rest = "the rest could carry more; how much, these probes do not identify"
    return f"{when} {_PARTS[part]} it: {human_rate(limits[part])} ({rest})."


def why_fewer_stripes(fastest: Point, best: Point, within: float) -> tuple[str, ...]:
    """A sentence about the stripes that are saved, or nothing if none are."""
    if best.stripe_count == fastest.stripe_count:
        return ()
    few = counted(best.stripe_count, "stripe")
    return (
        f"{few} of {fastest.stripe_count} that are predicted to be fastest: at most {within:.0%} "
        "slower, and other files have the other storage targets.",
    )
