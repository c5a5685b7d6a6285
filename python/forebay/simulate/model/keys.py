"""The keys of the simulator's command lines, and the parameters of other jobs' random load, from
schema/simulator.toml, from which C++ code is generated, too."""

import difflib
from collections.abc import Iterable, Sequence

from forebay.common.model.errors import SimulationError
from forebay.common.model.frozen import frozen

Keys = tuple[tuple[str, str], ...]
"""Names with their meanings."""


@frozen
class SimulatorKeys:
    """The keys of platforms, and those of each command line."""

    platform: Keys
    collective: Keys
    pool: Keys
    io_ranks: Keys
    independent: Keys

    def check(self, words: Iterable[str], keys: Keys, *more: str) -> None:
        """Raises SimulationError if a KEY=VALUE has a key that is neither a platform's, nor in
        `keys` of a command line, nor in `more`."""
        known = [*(name for name, _ in (*self.platform, *keys)), *more]
        for word in words:
            _check_key(word, known)


@frozen
class BackgroundLoad:
    """The random load of other jobs: `drift_kept` is the autocorrelation of the drift from one
    moment to the next (AR(1)); a straggler takes `slower_least` to `slower_most` times as long."""

    drift_kept: float
    slower_least: float
    slower_most: float


def _check_key(word: str, known: Sequence[str]) -> None:
    name, equals, _ = word.partition("=")
    if not equals or name in known:
        return  # a word without = is left for the simulator to refuse
    nearest = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.0)[0]
    raise SimulationError(
        f'cannot use "{word}" (no key is called "{name}"). Did you mean "{nearest}"? '
        "`forebay simulate --help` lists all."
    )
