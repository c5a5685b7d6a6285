"""What is asked of a system while it is probed, what comes of it, and what is chosen in the end.
`search` decides what to ask; who only reads that needs no numpy."""

from __future__ import annotations

from enum import StrEnum

from forebay.common.model.frozen import frozen
from forebay_tuning.model.point import Direction, Point
from forebay_tuning.model.response import Response

PROBES = {"quick": 60, "standard": 120, "deep": 240}


class Purpose(StrEnum):
    """Why a probe is made."""

    CONTROL = "control"
    SCREEN = "screen"
    REFINE = "refine"
    RACE = "race"
    SUSTAIN = "sustain"
    """Several times as long as the other probes; not fitted."""


@frozen
class Ask:
    """What is to be measured next."""

    point: Point
    purpose: Purpose


@frozen
class Passage:
    """One direction of a probe: the rate while bytes move (bytes per second), and the rest."""

    rate: float
    seconds_open: float
    seconds_close: float
    bytes: int = 0
    """That were moved: fewer than asked for where it was cut off. 0: it was not noted."""


@frozen
class Sample:
    """What came of a probe. `discarded`: why it does not count; empty: it does."""

    ask: Ask
    write: Passage | None = None
    read: Passage | None = None
    discarded: str = ""
    cached: bool = False
    """What was read came from a page cache: it says nothing of the file system."""

    def passage(self, direction: Direction) -> Passage | None:
        """The direction's, if it counts."""
        if self.discarded:
            return None
        if direction is Direction.WRITE:
            return self.write
        return None if self.cached else self.read


@frozen
class Choice:
    """What probing found of a direction. `best` is the control where nothing is certainly better;
    the gain is of rates, with its interval."""

    response: Response
    best: Point
    gain: float
    gain_low: float
    gain_high: float
    noise: float
    drift: float

    @property
    def keeps(self) -> bool:
        """Whether the default is the answer."""
        return self.gain_low <= 1.0 or not self.response.surface.has_structure
