"""The port System for a modelled machine: formulas over a platform's numbers, and the disturbances
of real probing. Its seconds are virtual."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from forebay.common.model.units import MIB
from forebay.simulate.model.keys import BackgroundLoad
from forebay_tuning.model.metadata import (
    ROUNDS,
    FileRate,
    FilesAsk,
    MetadataRates,
)
from forebay_tuning.model.modelled import Bend, Disturbances, Platform, RateFactors, expected
from forebay_tuning.model.point import Direction, Point
from forebay_tuning.model.sample import NextProbe, Passage, Sample
from forebay_tuning.probe.use_case.probe import Ground
from forebay_tuning.probe.use_case.virtual_probe import (
    FILES_PLACED,
    Drawn,
    file_rates_of,
    identity_of,
    in_time,
)


class ModelledSystem:
    """The port System, over formulas."""

    def __init__(
        self,
        platform: Platform,
        *,
        disturbances: Disturbances,
        load: BackgroundLoad,
        seed: int,
        forebay: str = "",
        date: str = "",
        level: str = "",
        bend: Bend | None = None,
        stripe_count: int = 1,
    ) -> None:
        self._platform = platform
        self._disturbances = disturbances
        self._factors = RateFactors(disturbances, load, seed=seed)
        self._bend = bend
        self._random = random.Random(seed)
        self._drawn = Drawn(
            seed=seed, forebay=forebay, date=date, level=level, stripe_count=stripe_count
        )

    def ground(self) -> Ground:
        """The platform's facts, as if it were a mounted file system."""
        return Ground(
            identity=identity_of(self._platform, self._drawn, client="formulas"),
            free_bytes=None,
            placeable=self._platform.targets,
        )

    def measure(self, ask: NextProbe, number: int, *, seconds_max: float) -> tuple[Sample, float]:
        """The formulas' result, disturbed by the background load at this moment."""
        factor = self._factors.next() * self._sickness(ask.point)
        write = self._passage(ask.point, Direction.WRITE, factor)
        cached = self._disturbances.cache_factor > 1
        read = self._passage(
            ask.point, Direction.READ, factor * (self._disturbances.cache_factor if cached else 1)
        )
        sample = Sample(ask=ask, write=write, read=read, cached=cached)
        return in_time(sample, seconds_max=seconds_max)

    def true_rate(self, point: Point, direction: Direction) -> float:
        """The rate without background load, in bytes per second while moving; no probe sees it."""
        there = expected(self._platform, point, direction, bend=self._bend)
        return point.bytes / there.seconds_moving

    def target_rates(self, *, bytes_max: int, seconds_max: float) -> Mapping[int, Sequence[float]]:
        """Rates of three files on each target."""
        platform, disturbances = self._platform, self._disturbances
        point = Point(
            processes=1,
            per_node=1,
            stripe_count=1,
            stripe_bytes=MIB,
            transfer_bytes=4 * MIB,
            process_bytes=64 * MIB,
        )
        usual = self.true_rate(point, Direction.WRITE)
        return {
            target: [
                usual
                * self._random.lognormvariate(0.0, max(disturbances.noise, 0.02))
                / (disturbances.sick_slower if target == disturbances.sick_target else 1.0)
                for _ in range(FILES_PLACED)
            ]
            for target in range(platform.targets)
        }

    def file_rates(self, ask: FilesAsk) -> MetadataRates:
        """The formulas' rates, disturbed by the background load of each round."""
        factors = [self._factors.next() for _ in range(ROUNDS)]

        def rates(direction: Direction) -> tuple[FileRate, ...]:
            def rounds(point: Point) -> Sequence[float]:
                there = expected(self._platform, point, direction)
                each = point.processes / (there.seconds_open + there.seconds_close)
                return [each * factor for factor in factors]

            return file_rates_of(self._platform, ask, rounds)

        return MetadataRates(creates=rates(Direction.WRITE), opens=rates(Direction.READ))

    def _sickness(self, point: Point) -> float:
        """The factor of a sick target: a file with a stripe on it waits for it."""
        disturbances = self._disturbances
        if disturbances.sick_target is None:
            return 1.0
        used = point.stripe_count * (1 if point.shared else point.processes)
        chance = min(1.0, used / self._platform.targets)
        return 1 / disturbances.sick_slower if self._random.random() < chance else 1.0

    def _passage(self, point: Point, direction: Direction, factor: float) -> Passage:
        there = expected(self._platform, point, direction, bend=self._bend)
        return Passage(
            rate=point.bytes / there.seconds_moving * factor,
            seconds_open=there.seconds_open / factor,
            seconds_close=there.seconds_close / factor,
        )
