"""The port System for a simulated machine: each probe is two runs of the native simulator, one that
writes and one that reads. Its seconds are virtual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forebay.common.model.errors import ProbeError, SimulationError
from forebay.common.model.frozen import frozen
from forebay.common.model.newer_python import zip_of
from forebay.common.model.units import MIB
from forebay.simulate.model.independent import IndependentSimulation
from forebay.simulate.use_case import Simulator, simulate_independent
from forebay_tuning.model.metadata import (
    ROUNDS,
    FileRate,
    FilesAsk,
    MetadataRates,
)
from forebay_tuning.model.modelled import Platform
from forebay_tuning.model.point import Direction, Point
from forebay_tuning.model.sample import NextProbe, Passage, Sample
from forebay_tuning.model.simulated import (
    REQUESTS_MOST,
    as_simulated,
    passage_of,
    per_node_for,
    words_of_point,
)
from forebay_tuning.probe.use_case.probe import Ground
from forebay_tuning.probe.use_case.virtual_probe import (
    FILES_PLACED,
    START_SECONDS,
    Drawn,
    file_rates_of,
    identity_of,
    in_time,
)

_FILE_BYTES_MOST = 16 * MIB


@frozen
class Simulated(Drawn):
    """The simulated machine. `words` are KEY=VALUE of `forebay simulate --independent`, also for
    the background load; `platform` includes the changes that they make."""

    name: str
    platform: Platform
    words: tuple[str, ...]


class SimulatedSystem:
    """The port System, over the simulator."""

    def __init__(self, what: Simulated, simulator: Simulator) -> None:
        self._what = what
        self._simulator = simulator
        self._moment = 0

    def ground(self) -> Ground:
        """The platform's facts, as if it were a mounted file system."""
        return Ground(
            identity=identity_of(self._what.platform, self._what, client="simulator"),
            free_bytes=None,
            placeable=self._what.platform.targets,
            remarks=(
                f"simulated: probes of more than {REQUESTS_MOST} requests with fewer bytes of each "
                "process; the rest is added at the rate that they had become steady at.",
            ),
        )

    def measure(self, ask: NextProbe, number: int, *, seconds_max: float) -> tuple[Sample, float]:
        """Writes, then reads, at the same moment of the background load."""
        self._moment = number
        try:
            write = self.passage(ask.point, Direction.WRITE)
            read = self.passage(ask.point, Direction.READ)
        except SimulationError as error:
            return Sample(ask=ask, discarded=str(error)), START_SECONDS
        return in_time(Sample(ask=ask, write=write, read=read), seconds_max=seconds_max)

    def seconds(self, point: Point, direction: Direction, *, moment: int) -> float:
        """Seconds of a program's run at a moment of the background load. Raises SimulationError if
        it fails."""
        self._moment = moment
        one = self.passage(point, direction)
        return one.seconds_open + point.bytes / one.rate + one.seconds_close

    def target_rates(self, *, bytes_max: int, seconds_max: float) -> Mapping[int, Sequence[float]]:
        """Rates of three files on each target. Empty if there are fewer ranks than targets."""
        platform = self._what.platform
        per_node = per_node_for(platform.targets, platform.nodes)
        each = min(_FILE_BYTES_MOST, bytes_max // (platform.targets * FILES_PLACED)) // MIB * MIB
        if per_node > platform.ranks_per_node or each < MIB:
            return {}
        point = Point(
            processes=platform.targets,
            per_node=per_node,
            stripe_count=1,
            stripe_bytes=MIB,
            transfer_bytes=MIB,
            process_bytes=each,
            shared=False,
        )
        rates: dict[int, list[float]] = {}
        for _ in range(FILES_PLACED):
            self._moment += 1
            found = self.simulate(point, Direction.WRITE)
            for target, (count, busy) in enumerate(
                zip_of(found.target_bytes, found.target_busy, strict=True)
            ):
                if busy > 0:
                    rates.setdefault(target, []).append(count / busy)
        return rates

    def file_rates(self, ask: FilesAsk) -> MetadataRates:
        """Rates of one file for each process, at one moment for each round. Raises ProbeError if a
        simulation fails."""
        try:
            return MetadataRates(
                creates=self._file_rates(ask, Direction.WRITE),
                opens=self._file_rates(ask, Direction.READ),
            )
        except SimulationError as error:
            raise ProbeError(str(error)) from error

    def _file_rates(self, ask: FilesAsk, direction: Direction) -> tuple[FileRate, ...]:
        def rounds(point: Point) -> Sequence[float]:
            rates = []
            for _ in range(ROUNDS):
                self._moment += 1
                there = self.passage(point, direction)
                rates.append(point.processes / (there.seconds_open + there.seconds_close))
            return rates

        return file_rates_of(self._what.platform, ask, rounds)

    def simulate(
        self,
        point: Point,
        direction: Direction,
        *words: str,
        requests: int = REQUESTS_MOST,
    ) -> IndependentSimulation:
        """Simulates one passage with at most about `requests` requests. Raises SimulationError if
        that fails."""
        of_point = words_of_point(as_simulated(point, requests=requests), direction)
        settings = [
            *(f"{key}={value}" for key, value in of_point.items()),
            f"seed={self._what.seed}",
            f"moment={self._moment}",
            *self._what.words,
            *words,
        ]
        found = simulate_independent(self._what.name, settings, self._simulator)
        if found.error:
            raise SimulationError(f"a simulated probe failed ({found.error}).")
        return found

    def passage(
        self, point: Point, direction: Direction, *words: str, requests: int = REQUESTS_MOST
    ) -> Passage:
        """One passage, extrapolated to all bytes. Raises SimulationError if that fails."""
        return passage_of(self.simulate(point, direction, *words, requests=requests), point)
