"""Times runs by the clock, or by a number in their output."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from time import monotonic

from forebay.common.model.errors import UsageError
from forebay.machine_ports import World
from forebay_tuning.apply.use_case import measured_in


class Timer:
    """The port Timed: the seconds of the whole run, or a time or rate in its output."""

    def __init__(self, world: World, rate: str | None, time: str | None, seconds_max: int) -> None:
        self._world = world
        self._rate = rate
        self._time = time
        self._seconds_max = seconds_max

    def __call__(self, words: Sequence[str], environment: Mapping[str, str]) -> tuple[int, float]:
        """Runs the words; returns the status and the seconds, or the reciprocal of a rate."""
        pattern = self._rate or self._time
        start = monotonic()
        ended = self._world.processes.capture(
            words, environment=environment, seconds_max=self._seconds_max
        )
        seconds = monotonic() - start
        if ended.status is None:
            raise UsageError(
                f"a run is not done after {self._seconds_max} s. Allow more by --run-time."
            )
        if pattern is None:
            print(ended.output, ended.errors, sep="", end="", file=sys.stderr)
        elif ended.status != 0:
            print((ended.errors or ended.output)[-1500:], file=sys.stderr)
        if ended.status != 0:
            return ended.status, 0.0
        if pattern is None:
            return 0, seconds
        number = measured_in(ended.output, pattern)
        return 0, number if self._time else 1 / number
