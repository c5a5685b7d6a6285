"""How often the interval of a predicted gain holds what is measured, on real file systems; and by
how much intervals have to be wider for nine of ten to hold.

A pair is a prediction with its interval, as `forebay advise` makes it, and the measurement of the
same two points. `held_out` makes pairs of portraits that were measured: the fit is made without the
probes of a fifth of the points, in turn, and asked how fast these are beside the default. `fresh`
probes a file system and measures points anew, some of them of more bytes than any probe had. Of
each file system the factor is known with which nine of ten of its pairs are held (a quantile of
what was missed, in units of the interval: split conformal prediction). A new one is given the
largest of the others', so that what is told of its coverage is of a system that the factor has not
seen."""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from evaluation.tables import TextTable, markdown
from forebay.common.model.frozen import frozen
from forebay_tuning.advise.model.worth import log_interval
from forebay_tuning.model.point import Direction, Point, changed
from forebay_tuning.model.portrait import Portrait
from forebay_tuning.model.response import Seen, shifted
from forebay_tuning.model.sample import Ask, Purpose, Sample
from forebay_tuning.probe.files.portrait_file import read_portrait
from forebay_tuning.probe.model.fitting import fit
from forebay_tuning.probe.model.search import drift_of, seen_of
from forebay_tuning.probe.use_case.probe import System

GOAL = 0.9
FOLDS = 5
LONGER = 4
"""Fresh points have up to so many times the bytes of the largest probe."""


@frozen
class Pair:
    """Logarithms of a gain: as predicted, half of the interval, and as measured."""

    system: str
    direction: Direction
    predicted: float
    half: float
    measured: float

    @property
    def missed(self) -> float:
        """In units of the interval: 1 is at its end."""
        return abs(self.measured - self.predicted) / self.half


def held_out(portrait: Portrait, name: str) -> list[Pair]:
    """Of each direction and each point but the default."""
    found = []
    for direction, choice in portrait.choices.items():
        seen = shifted(seen_of(portrait.samples, direction), drift_of(portrait.samples, direction))
        points = sorted({one.point for one in seen} - {portrait.control})
        random.Random(1).shuffle(points)
        default = _middle(seen, portrait.control)
        for fold in range(FOLDS):
            out = set(points[fold::FOLDS])
            kept = [one for one in seen if one.point not in out]
            surface = fit(kept, portrait.space, targets=portrait.identity.targets)
            response = replace(choice.response, surface=surface, sustained=None)
            for point in sorted(out):
                predicted = surface.log_rate(point) - surface.log_rate(portrait.control)
                found.append(
                    Pair(
                        system=name,
                        direction=direction,
                        predicted=predicted,
                        half=log_interval(portrait.control, point, response),
                        measured=_middle(seen, point) - default,
                    )
                )
    return found


def _middle(seen: Iterable[Seen], point: Point) -> float:
    return median([one.log_rate for one in seen if one.point == point])


def fresh(
    portrait: Portrait, system: System, name: str, *, points: int, times: int, seconds_max: float
) -> list[Pair]:
    """Points at random beside the default, each measured `times` times, in turn with it."""
    generator = random.Random(2)
    found = []
    number = 1000
    for at in range(points):
        point = _somewhere(portrait, generator, longer=at % 2 == 1)
        base = portrait.control
        if at % 2:  # the same program with more bytes of each process
            base = replace(base, process_bytes=point.bytes // base.processes)
        samples: dict[Point, list[Sample]] = {base: [], point: []}
        for _ in range(times):
            for one in (base, point):
                ask = Ask(point=one, purpose=Purpose.RACE)
                samples[one].append(system.measure(ask, number, seconds_max=seconds_max)[0])
                number += 1
        for direction, choice in portrait.choices.items():
            sides = [_seconds(samples[one], direction) for one in (base, point)]
            if not all(sides):
                continue
            response = choice.response
            found.append(
                Pair(
                    system=name,
                    direction=direction,
                    predicted=math.log(response.seconds(base) / response.seconds(point)),
                    half=log_interval(base, point, response),
                    measured=math.log(median(sides[0]) / median(sides[1])),
                )
            )
    return found


def _somewhere(portrait: Portrait, generator: random.Random, *, longer: bool) -> Point:
    points = [one for one in portrait.space.points() if one != portrait.control]
    point = generator.choice(points)
    if not longer:
        return point
    each = LONGER * portrait.space.bytes_max // point.processes
    return changed(point, {"process_bytes": max(point.transfer_bytes, each)})


def _seconds(samples: Sequence[Sample], direction: Direction) -> list[float]:
    return [
        one.ask.point.bytes / passage.rate + passage.seconds_open + passage.seconds_close
        for one in samples
        if (passage := one.passage(direction)) is not None
    ]


def factor_of(pairs: Sequence[Pair]) -> float:
    """By which intervals have to be wider for nine of ten pairs of each file system to be held; at
    least 1. The quantile is that of split conformal prediction (Vovk, Gammerman, Shafer 2005)."""
    return max([1.0, *(_quantile(own) for own in by_system(pairs).values())])


def _quantile(pairs: Sequence[Pair]) -> float:
    missed = sorted(one.missed for one in pairs)
    return missed[min(len(missed), math.ceil(GOAL * (len(missed) + 1))) - 1]


def held(pairs: Iterable[Pair], factor: float) -> int:
    """How many of them."""
    return sum(one.missed <= factor for one in pairs)


def by_system(pairs: Iterable[Pair]) -> Mapping[str, list[Pair]]:
    """In the order in which they come."""
    found: dict[str, list[Pair]] = {}
    for one in pairs:
        found.setdefault(one.system, []).append(one)
    return found


@frozen
class Row:
    """A file system: how many of its pairs are held as they are, and with the others' factor."""

    system: str
    pairs: int
    plain: int
    factor: float
    widened: int


def rows(pairs: Sequence[Pair]) -> list[Row]:
    """Each with a factor that has not seen it."""
    found = []
    for name, own in by_system(pairs).items():
        factor = factor_of([one for one in pairs if one.system != name])
        found.append(
            Row(
                system=name,
                pairs=len(own),
                plain=held(own, 1.0),
                factor=factor,
                widened=held(own, factor),
            )
        )
    return found


def table(pairs: Sequence[Pair]) -> str:
    """For docs/tuning.md."""
    lines = [
        (one.system, str(one.pairs), str(one.plain), f"{one.factor:.2f}", str(one.widened))
        for one in rows(pairs)
    ]
    factor = factor_of(pairs)
    lines.append(
        ("all", str(len(pairs)), str(held(pairs, 1.0)), f"{factor:.2f}", str(held(pairs, factor)))
    )
    header = ("file system", "pairs", "held", "factor of the others", "held then")
    return markdown(
        TextTable(title="Intervals of predicted gains", header=header, rows=tuple(lines))
    )


def portraits_in(folder: Path) -> Mapping[str, Portrait]:
    """By name."""
    return {one.stem: read_portrait(one) for one in sorted(folder.glob("*.toml"))}


def coverage(chosen: argparse.Namespace) -> None:
    """Prints the table: of the portraits in --keep, or of what is probed now with --fresh."""
    if chosen.fresh:
        from evaluation.tuning_fresh import fresh_pairs  # starts programs: seldom asked for

        print(table(fresh_pairs(chosen)))
        return
    pairs = [
        pair
        for name, portrait in portraits_in(chosen.keep).items()
        for pair in held_out(portrait, name)
    ]
    print(table(pairs))
