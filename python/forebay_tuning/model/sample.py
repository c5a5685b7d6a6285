"""The requests and results of probing, and the final choice. `search` decides what to probe; these
types are separate, so that reading a portrait does not need numpy."""

from __future__ import annotations

from forebay.common.model.frozen import frozen
from forebay.common.model.newer_python import StrEnum
from forebay_tuning.model.point import Direction, Point
from forebay_tuning.model.response import Response

PROBES = {"quick": 60, "standard": 120, "deep": 240}


class Purpose(StrEnum):
    """The purpose of a probe."""

    CONTROL = "control"
    SCREEN = "screen"
    REFINE = "refine"
    RACE = "race"
    SUSTAIN = "sustain"
    """Several times as long as the other probes, and not used in the fit."""


@frozen
class NextProbe:
    """The next probe to make."""

    point: Point
    purpose: Purpose


@frozen
class Passage:
    """One direction of a probe: its rate while bytes move (bytes per second), and its times."""

    rate: float
    seconds_open: float
    seconds_close: float
    bytes: int = 0
    """Bytes that were moved, fewer than asked for if it was cut off; 0 if not noted."""


@frozen
class Sample:
    """The result of a probe. `discarded` says why it does not count; empty if it does."""

    ask: NextProbe
    write: Passage | None = None
    read: Passage | None = None
    discarded: str = ""
    cached: bool = False
    """Whether the reads came from a page cache, so that they do not count."""

    def passage(self, direction: Direction) -> Passage | None:
        """The direction's result, or None if it does not count."""
        if self.discarded:
            return None
        if direction is Direction.WRITE:
            return self.write
        return None if self.cached else self.read


@frozen
class Choice:
    """The result of probing one direction. `best` is the control point unless another one is
    certainly better; `gain` is a ratio of rates, with its interval."""

    response: Response
    best: Point
    gain: float
    gain_low: float
    gain_high: float
    noise: float
    drift: float

    @property
    def keeps(self) -> bool:
        """Whether the default is the best choice."""
        return self.gain_low <= 1.0 or not self.response.surface.has_structure
