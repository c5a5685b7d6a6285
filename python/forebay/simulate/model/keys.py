"""The keys of the simulator's command lines, and how it draws the load of other jobs.
schema/simulator.toml is their table, from which C++ is made, too."""

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
    independent: Keys

    def check(self, words: Iterable[str], keys: Keys, *more: str) -> None:
        """SimulationError: one of the words is KEY=VALUE of something else than a platform, the
        `keys` of a command line, or `more`."""
        known = [*(name for name, _ in (*self.platform, *keys)), *more]
        for word in words:
            _check_key(word, known)


@frozen
class BackgroundLoad:
    """How the load of other jobs is drawn: the share of its drift that is kept from one moment to
    the next, and between how many times as long a straggler takes."""

    drift_kept: float
    slower_least: float
    slower_most: float


def _check_key(word: str, known: Sequence[str]) -> None:
    name, equals, _ = word.partition("=")
    if not equals or name in known:
        return  # what is no KEY=VALUE the simulator refuses
    nearest = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.0)[0]
    raise SimulationError(
        f'cannot use "{word}" (no key is called "{name}"). Did you mean "{nearest}"? '
        "`forebay simulate --help` lists all."
    )
