"""What of the 2020 configuration study comes out of the tool on lustre-96-ost: a portrait is drawn
of the formulas over that platform, and asked for the study's five recommendations and its two
scenarios. It is a model throughout: no figure here was measured."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from forebay.adapters.platform_file import read_platform
from forebay.adapters.probe_journal import NoJournal
from forebay.application.modelled_system import ModelledSystem
from forebay.application.probe import Budget, ProbeRequest, carry_out_probe, plan_probe
from forebay.domain.frozen import frozen
from forebay.domain.tuning.advice import Lever, Question, advise
from forebay.domain.tuning.evidence import Workload
from forebay.domain.tuning.modelled import Platform, Weather, expected
from forebay.domain.tuning.point import Direction, Point, changed
from forebay.domain.tuning.portrait import Portrait
from forebay.domain.tuning.response import Response
from forebay.domain.units import MIB, exact_bytes

KIB, GIB = 1024, 1024 * MIB
ROOT = Path(__file__).resolve().parents[1]
ENOUGH = 0.95
"""Of the best rate on a line: the least value that reaches this is taken as what the tool says."""
_FILE = 256 * GIB
_FILES = (256 * MIB, 16 * GIB, 256 * GIB)
_COUNTS = (1, 4, 16)
_STRIPES = (1, 4, 16, 64)
_NODES_ALONE = 4
"""So few nodes do not fill the targets: what limits is the nodes."""


@frozen
class Row:
    """One recommendation: what the study says, what the tool says, whether that is within, and the
    share of the tool's best rate that is left to who keeps to the study."""

    name: str
    study: str
    tool: str
    within: bool
    kept: float


@frozen
class Line:
    """Rates along one coordinate."""

    rates: Mapping[int, float]

    @property
    def enough(self) -> int:
        """The least value from which little more is to be had."""
        most = max(self.rates.values())
        return min(value for value, rate in self.rates.items() if rate >= ENOUGH * most)

    def kept(self, low: int, high: int) -> float:
        """The best share between two values."""
        inside = [rate for value, rate in self.rates.items() if low <= value <= high]
        return max(inside) / max(self.rates.values())


def line(values: Iterable[int], rate: Callable[[int], float]) -> Line:
    """Of these values."""
    return Line(rates={value: rate(value) for value in values})


def recommendations(portrait: Portrait) -> tuple[Row, ...]:
    """All five, for writing one shared file; the first is two."""
    base = _best_shared(portrait)
    return (
        _along(portrait, base, "transfer_bytes", 64 * KIB, 8 * MIB),
        _along(portrait, base, "stripe_bytes", MIB, MIB),
        _bytes(portrait, base),
        _per_node(portrait, base),
        _stripes(portrait),
        _processes(portrait, base),
    )


def _response(portrait: Portrait) -> Response:
    return portrait.choices[Direction.WRITE].response


def _best_shared(portrait: Portrait) -> Point:
    """The fastest point with a file for all, as the portrait has it."""
    surface = _response(portrait).surface
    return max((one for one in portrait.space.points() if one.shared), key=surface.rate)


def _along(portrait: Portrait, base: Point, name: str, low: int, high: int) -> Row:
    """Of transfer and stripe size; where the other one is the best point's."""
    surface = _response(portrait).surface
    found = line(
        portrait.space.levels[name], lambda value: surface.rate(changed(base, {name: value}))
    )
    study = exact_bytes(low) if low == high else f"{exact_bytes(low)} to {exact_bytes(high)}"
    return Row(
        name=f"1. {name.removesuffix('_bytes')} size",
        study=study,
        tool=exact_bytes(found.enough),
        within=low <= found.enough <= high,
        kept=found.kept(low, high),
    )


def _bytes(portrait: Portrait, base: Point) -> Row:
    response = _response(portrait)
    found = line(
        portrait.space.levels["process_bytes"],
        lambda value: response.rate(changed(base, {"process_bytes": value})),
    )
    return Row(
        name="2. bytes of a process",
        study="8 MiB to 1 GiB",
        tool=f"from {exact_bytes(found.enough)} on",
        within=8 * MIB <= found.enough <= GIB,
        kept=found.kept(8 * MIB, GIB),
    )


def _per_node(portrait: Portrait, base: Point) -> Row:
    surface = _response(portrait).surface
    found = line(
        portrait.space.levels["per_node"],
        lambda value: surface.rate(replace(base, per_node=value, processes=_NODES_ALONE * value)),
    )
    return Row(
        name="3. I/O processes on a node",
        study="about 8",
        tool=str(found.enough),
        within=found.enough == 8,
        kept=found.kept(8, 8),
    )


def _stripes(portrait: Portrait) -> Row:
    """By advice for a program of 1024 ranks that writes a file of each size."""
    response, wanted, found, kept = _response(portrait), {}, {}, []
    for size, study in zip(_FILES, _COUNTS, strict=True):
        workload = Workload(direction=Direction.WRITE, ranks=1024, nodes=128, file_bytes=size)
        advice = advise(
            Question(workload=workload, portrait=portrait, allowed=frozenset({Lever.LAYOUT}))
        )
        now = workload.as_point(stripe_count=1, stripe_bytes=MIB)
        own = advice.settings.stripe_count or portrait.identity.stripe_count
        there = changed(now, {"stripe_bytes": advice.settings.stripe_bytes or now.stripe_bytes})
        asked, given = (changed(there, {"stripe_count": one}) for one in (study, own))
        wanted[size], found[size] = study, own
        kept.append(response.rate(asked) / response.rate(given))
    return Row(
        name="4. stripe count by the size of the file",
        study=_by_size(wanted),
        tool=_by_size(found),
        within=found == wanted,
        kept=min(kept),
    )


def _by_size(counts: Mapping[int, int]) -> str:
    return ", ".join(f"{exact_bytes(size)}: {count}" for size, count in counts.items())


def _processes(portrait: Portrait, base: Point) -> Row:
    """By the number of stripes, with opening and closing."""
    response = _response(portrait)
    found: dict[int, int] = {}
    kept = []
    for stripes in _STRIPES:
        on = replace(base, stripe_count=stripes)

        def rate(value: int, on: Point = on) -> float:
            each = {"processes": value, "per_node": min(8, value), "process_bytes": _FILE // value}
            return response.rate(changed(on, each))

        its = line(portrait.space.levels["processes"], rate)
        found[stripes] = its.enough
        kept.append(its.kept(1, min(16 * stripes, 1000)))
    return Row(
        name=f"5. I/O processes for {exact_bytes(_FILE)} on {_listed(_STRIPES)} stripes",
        study=f"at most {_listed([min(16 * one, 1000) for one in _STRIPES])}",
        tool=_listed(list(found.values())),
        within=all(count <= min(16 * stripes, 1000) for stripes, count in found.items()),
        kept=min(kept),
    )


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


@frozen
class Scenario:
    """`least`: how many times as fast it is to become."""

    name: str
    published: str
    least: float
    workload: Workload


SCENARIOS = (
    Scenario(
        name="start-up: 4096 processes read a file of 2 GiB, one stripe",
        published="10 min → 5 s",
        least=50.0,
        workload=Workload(
            direction=Direction.READ,
            ranks=4096,
            nodes=128,
            file_bytes=2 * GIB,
            same_bytes=True,
            stripe_count=1,
        ),
    ),
    Scenario(
        name="restart: 8192 processes write a file of 512 GiB, four stripes",
        published="−15 %",
        least=1 / 0.85,
        workload=Workload(
            direction=Direction.WRITE,
            ranks=8192,
            nodes=256,
            file_bytes=512 * GIB,
            stripe_count=4,
            stripe_bytes=MIB,
            transfer_bytes=4 * MIB,
        ),
    ),
)


def portrait_of(platform: Platform, *, level: str, seed: int) -> Portrait:
    """Of the formulas, under a little weather."""
    system = ModelledSystem(platform, weather=Weather(drift=0.1, noise=0.02), seed=seed)
    request = ProbeRequest(
        level=level, budget=Budget(seconds=1e6, bytes=1 << 50, files=10**9), seed=seed
    )
    return carry_out_probe(plan_probe(request, system), system, NoJournal(), told=lambda *_: None)


def study(arguments: argparse.Namespace) -> None:
    """The two tables."""
    platform = read_platform(ROOT / "platforms" / "lustre-96-ost.toml")
    portrait = portrait_of(platform, level=arguments.level, seed=arguments.seed)
    print("| recommendation | the study | the tool | within | rate by the study |")
    print("| --- | --- | --- | --- | --- |")
    for row in recommendations(portrait):
        answer = "yes" if row.within else "**no**"
        print(f"| {row.name} | {row.study} | {row.tool} | {answer} | {row.kept:.0%} |")
    print("\n| scenario | published | now, s | advised, s | ratio | asked | predicted | advice |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for one in SCENARIOS:
        print(_scenario(one, platform, portrait))


def _scenario(one: Scenario, platform: Platform, portrait: Portrait) -> str:
    """Advice from the portrait, and what the formulas make of it."""
    workload = one.workload
    found = advise(Question(workload=workload, portrait=portrait, allowed=frozenset(Lever)))
    now = workload.as_point(stripe_count=1, stripe_bytes=MIB)
    names: Sequence[str] = (
        "stripe_count",
        "stripe_bytes",
        "processes",
        "per_node",
        "transfer_bytes",
    )
    values = {name: getattr(found.settings, name) for name in names}
    there = changed(now, {name: value for name, value in values.items() if value is not None})
    if not workload.same_bytes:
        there = changed(there, {"process_bytes": workload.bytes // there.processes})
    before = expected(platform, now, workload.direction).seconds
    after = expected(platform, there, workload.direction).seconds
    advice = ", ".join(f"{item.name} {item.now} → {item.advised}" for item in found.items)
    gain = "keep" if found.gain is None else f"{found.gain:.3g} ×"
    return (
        f"| {one.name} | {one.published} | {before:.1f} | {after:.2f} | {before / after:.1f} "
        f"| {one.least:.3g} | {gain} | {advice} |"
    )
