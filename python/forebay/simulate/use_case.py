"""Use case: run one experiment, or several variants of it, on a simulated machine."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from forebay.common.model.frozen import frozen
from forebay.simulate.model.independent import (
    IndependentSimulation,
    independent_words_of,
    parse_independent_simulation,
)
from forebay.simulate.model.io_ranks import (
    OutputSimulation,
    output_words_of,
    parse_output_simulation,
)
from forebay.simulate.model.keys import SimulatorKeys
from forebay.simulate.model.pool import (
    PoolSimulation,
    parse_pool_simulation,
    pool_words_of,
)
from forebay.simulate.model.simulation import Simulation, parse_simulation, words_of


class Simulator(Protocol):
    """The port to the native simulator."""

    def platform(self, name: str) -> str:
        """The file of a platform, given a path or the name of one that comes with Forebay."""
        ...

    def keys(self) -> SimulatorKeys:
        """The keys that it takes. Raises SetupError if their table is missing."""
        ...

    def run(self, words: Sequence[str]) -> str:
        """Runs the simulator and returns its output. Raises SimulationError with its own message if
        it fails."""
        ...


@frozen
class SimulateRequest:
    """The simulations to run."""

    platform: str
    variants: Sequence[str]
    settings: Sequence[str]


def simulate(request: SimulateRequest, simulator: Simulator) -> Iterator[Simulation]:
    """Yields the result of each variant as it is finished."""
    platform, keys = simulator.platform(request.platform), simulator.keys()
    for variant in request.variants:
        words = words_of(platform, variant=variant, settings=request.settings, keys=keys)
        yield parse_simulation(simulator.run(words))


def simulate_pool(platform: str, settings: Sequence[str], simulator: Simulator) -> PoolSimulation:
    """Simulates a program that alternates computing and output, without and with the pool."""
    words = pool_words_of(simulator.platform(platform), settings, simulator.keys())
    return parse_pool_simulation(simulator.run(words))


def simulate_output(request: SimulateRequest, simulator: Simulator) -> Iterator[OutputSimulation]:
    """Yields the result of each variant of a program's output as it is finished."""
    platform, keys = simulator.platform(request.platform), simulator.keys()
    for variant in request.variants:
        words = output_words_of(platform, variant=variant, settings=request.settings, keys=keys)
        yield parse_output_simulation(simulator.run(words))


def simulate_independent(
    platform: str, settings: Sequence[str], simulator: Simulator
) -> IndependentSimulation:
    """Simulates processes that read or write independently, as IOR does."""
    words = independent_words_of(simulator.platform(platform), settings, simulator.keys())
    return parse_independent_simulation(simulator.run(words))
