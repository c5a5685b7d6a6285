"""What limits a point, in words; and why a file has no more stripes."""

from __future__ import annotations

from forebay.common.model.units import counted, human_bytes
from forebay_tuning.model.point import Point
from forebay_tuning.model.response import Response

_PARTS = {
    "processes": "the processes' own speed limits",
    "nodes": "the nodes' links limit",
    "targets": "the storage targets limit",
    "system": "the system as a whole limits",
}


def bottleneck(point: Point, response: Response, *, advised: bool = False) -> str:
    """Which part of the system limits a point."""
    around = response.opening.seconds(point.processes) + response.closing.seconds(point.processes)
    seconds = response.seconds(point)
    when = "then" if advised else "now"
    if around > 0.5 * seconds:
        return (
            f"{when} opening and closing by {counted(point.processes, 'process', 'processes')} "
            f"takes {around:.3g} s of {seconds:.3g} s."
        )
    limits = response.surface.physical.limits(point, response.surface.targets)
    part = min(limits, key=lambda one: limits[one])
    others = min(value for name, value in limits.items() if name != part)
    return (
        f"{when} {_PARTS[part]} it: "
        f"{human_bytes(int(limits[part]))}/s (the rest could carry {human_bytes(int(others))}/s)."
    )


def why_fewer_stripes(fastest: Point, best: Point, within: float) -> tuple[str, ...]:
    """Nothing, where the fastest has as many."""
    if best.stripe_count == fastest.stripe_count:
        return ()
    few = counted(best.stripe_count, "stripe")
    return (
        f"{few} of {fastest.stripe_count} that are predicted to be fastest: at most {within:.0%} "
        "slower, and other files have the other targets.",
    )
