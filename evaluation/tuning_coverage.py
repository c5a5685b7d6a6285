"""The coverage of predicted gains' intervals on real file systems, and the factor by which
intervals have to be widened to cover 90 %.

A pair is a prediction with its interval, as `forebay advise` makes it, and a measurement of the
same two points. `held_out` takes pairs from measured portraits, by cross-validation: a fit without
the probes of a fifth of the points predicts their speed relative to the default. `fresh` probes a
file system and measures new points, some of them with more bytes than any probe. The factor of a
file system is the quantile of its errors, in units of the interval, that covers 90 % of its pairs
(split conformal prediction). Each file system is judged with the largest factor of the others, so
that the reported coverage is of a system that the factor has not seen."""

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
from forebay_tuning.model.coverage import log_interval
from forebay_tuning.model.point import Direction, Point, changed
from forebay_tuning.model.portrait import Portrait
from forebay_tuning.model.response import Seen, shifted
from forebay_tuning.model.sample import NextProbe, Purpose, Sample
from forebay_tuning.probe.files.portrait_file import read_portrait
from forebay_tuning.probe.model.fitting import fit
from forebay_tuning.probe.model.search import drift_of, seen_of
from forebay_tuning.probe.use_case.probe import System

GOAL = 0.9
FOLDS = 5
LONGER = 4
"""Fresh points have up to this many times the bytes of the largest probe."""


@frozen
class Pair:
    """A gain in logarithms: predicted, half the width of its interval, and measured."""

    system: str
    direction: Direction
    predicted: float
    half: float
    measured: float

    @property
    def missed(self) -> float:
        """The error in units of the interval; 1 is at its end."""
        return abs(self.measured - self.predicted) / self.half


def held_out(portrait: Portrait, name: str) -> list[Pair]:
    """The pairs of a portrait, for each direction and each point but the default."""
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
    """Pairs of random points and the default, each measured `times` times, alternately."""
    generator = random.Random(2)
    found = []
    number = 1000
    for at in range(points):
        point = _somewhere(portrait, generator, longer=at % 2 == 1)
        base = portrait.control
        if at % 2:  # the default with as many bytes as the point
            base = replace(base, process_bytes=point.bytes // base.processes)
        samples: dict[Point, list[Sample]] = {base: [], point: []}
        for _ in range(times):
            for one in (base, point):
                ask = NextProbe(point=one, purpose=Purpose.RACE)
                samples[one].append(system.measure(ask, number, seconds_max=seconds_max)[0])
                number += 1
        for direction, choice in portrait.choices.items():
            sides = [_seconds(samples[one], direction) for one in (base, point)]
            if not all(sides):
                continue
            response = replace(choice.response, probed_bytes=portrait.space.bytes_max)
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
    """The factor on intervals that covers nine of ten pairs of each file system, at least 1. It is
    the quantile of split conformal prediction (Vovk, Gammerman, Shafer 2005)."""
    return max([1.0, *(_quantile(own) for own in by_system(pairs).values())])


def _quantile(pairs: Sequence[Pair]) -> float:
    missed = sorted(one.missed for one in pairs)
    return missed[min(len(missed), math.ceil(GOAL * (len(missed) + 1))) - 1]


def held(pairs: Iterable[Pair], factor: float) -> int:
    """The number of pairs that intervals with this factor cover."""
    return sum(one.missed <= factor for one in pairs)


def by_system(pairs: Iterable[Pair]) -> Mapping[str, list[Pair]]:
    """The pairs by file system, in their order."""
    found: dict[str, list[Pair]] = {}
    for one in pairs:
        found.setdefault(one.system, []).append(one)
    return found


@frozen
class Row:
    """A file system: how many of its pairs are covered, without a factor and with the others'."""

    system: str
    pairs: int
    plain: int
    factor: float
    widened: int


def rows(pairs: Sequence[Pair]) -> list[Row]:
    """A row per file system, each with a factor that has not seen it."""
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
    """The table of docs/tuning.md."""
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
    """The portraits in a folder by name."""
    return {one.stem: read_portrait(one) for one in sorted(folder.glob("*.toml"))}


def coverage(chosen: argparse.Namespace) -> None:
    """Prints the table, for the portraits in --keep, or for new probes with --fresh."""
    if chosen.fresh:
        from evaluation.tuning_fresh import fresh_pairs  # starts programs, and is seldom needed

        print(table(fresh_pairs(chosen)))
        return
    pairs = [
        pair
        for name, portrait in portraits_in(chosen.keep).items()
        for pair in held_out(portrait, name)
    ]
    print(table(pairs))
