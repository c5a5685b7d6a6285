"""A portrait as text for people, and as JSON for programs."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

from forebay.common.model.units import counted, exact_bytes, human_rate
from forebay.common.report.output import plain
from forebay_tuning.model.point import Point
from forebay_tuning.model.portrait import SCHEMA, Portrait
from forebay_tuning.model.quantity import spell_seconds
from forebay_tuning.model.response import NAMES, Surface
from forebay_tuning.model.sample import Choice


def as_text(portrait: Portrait, path: Path) -> str:
    """The results in a few lines."""
    identity = portrait.identity
    lines = [
        f"{identity.directory} ({identity.file_system}), "
        f"{counted(len(portrait.samples), 'probe')}, "
        f"{identity.date}" + (" – a model: nothing was measured" if identity.is_modelled else ""),
        *(f"  {text}" for text in portrait.findings),
    ]
    for direction, choice in portrait.choices.items():
        lines += ["", f"{direction}:", *(f"  {text}" for text in _choice(choice))]
    lines += [
        "",
        f"The portrait is in {path}. What it means for a program: "
        f"forebay advise --portrait {shlex.quote(str(path))} --ranks 64 --bytes 64g",
    ]
    return "\n".join(lines)


def point_text(point: Point) -> str:
    """The point in words."""
    return (
        f"{point.processes} process{'' if point.processes == 1 else 'es'}, "
        f"{point.per_node} a node, "
        f"{exact_bytes(point.process_bytes)} each in calls of {exact_bytes(point.transfer_bytes)}, "
        f"{counted(point.stripe_count, 'stripe')} of {exact_bytes(point.stripe_bytes)}, "
        f"{'one file' if point.shared else 'a file each'}"
    )


def _choice(choice: Choice) -> list[str]:
    surface = choice.response.surface
    lines = [f"best: {point_text(choice.best)}"] if not choice.keeps else ["keep the default"]
    lines += [_sustained(choice)]
    lines += [
        *(
            f"{what}: {_number(surface, name, spell)}"
            for what, name, spell in (
                ("a process", "process_rate", human_rate),
                ("a node", "node_rate", human_rate),
                ("a storage target (a server's disk array)", "target_rate", human_rate),
                ("a request, before its bytes", "request_time", _seconds),
            )
        ),
        f"single probes vary by {surface.spread:.0%}, drift by {choice.drift:.0%}; the fit "
        f"explains {max(0.0, surface.explained):.0%} of probes that it has not seen",
    ]
    return lines


def _sustained(choice: Choice) -> str:
    found = choice.response.sustained
    if found is None:
        return "sustained by all: not known (there are no long passages that tell it)"
    rates = f"{human_rate(found.rate)} ({human_rate(found.low)} to {human_rate(found.high)})"
    cache = "; the numbers below are of a cache in front of it" if found.is_cached else ""
    return f"sustained by all: {rates}{cache}"


def _seconds(value: float) -> str:
    return spell_seconds(value, digits=3)


def _number(surface: Surface, name: str, spell: Callable[[float], str]) -> str:
    """The number with its 95 % interval, or that the probes do not identify it."""
    low, high = surface.interval(name)
    between = f"{spell(low)} to {spell(high)}"
    if not surface.is_identified(name):
        return f"not identified by these probes (somewhere in {between})"
    value: float = getattr(surface.physical, name)
    return f"{spell(value)} ({between})"


def as_json(portrait: Portrait) -> Any:
    """The portrait without the single probes, which are in its file."""
    return {
        "schema": SCHEMA,
        "identity": plain(portrait.identity),
        "probes": len(portrait.samples),
        "findings": list(portrait.findings),
        "sick": plain(portrait.sick),
        "metadata": plain(portrait.metadata),
        "control": plain(portrait.control),
        "directions": {
            direction.value: {
                "best": plain(choice.best),
                "keep": choice.keeps,
                "gain": choice.gain,
                "gain_low": choice.gain_low,
                "gain_high": choice.gain_high,
                "noise": choice.noise,
                "drift": choice.drift,
                "explained": choice.response.surface.explained,
                "physical": plain(choice.response.surface.physical),
                "identified": [
                    name for name in NAMES if choice.response.surface.is_identified(name)
                ],
                "sustained": plain(choice.response.sustained),
                "opening": plain(choice.response.opening),
                "closing": plain(choice.response.closing),
            }
            for direction, choice in portrait.choices.items()
        },
    }
