"""The price of files: how many a file system creates, and how many it opens, in a second, by the
number of processes that do so at once. `forebay probe` measures it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from forebay.common.model.frozen import frozen
from forebay.common.model.newer_python import zip_of
from forebay.common.model.units import counted
from forebay_tuning.model.point import Direction

ROUNDS = 3
"""Times that each number of processes creates and opens its files."""
_EACH_LEAST = 4
"""Files of a process in a round: with fewer, the first one counts too much."""
_EACH_MOST = 1000


@frozen
class FileRate:
    """Files a second of `processes` processes that work at once, each on files of its own: the
    median of several rounds, the lowest, and the highest. A file that is created or opened is
    closed, too."""

    processes: int
    value: float
    low: float
    high: float


@frozen
class MetadataRates:
    """The rates by ascending numbers of processes: at least one entry each."""

    creates: tuple[FileRate, ...]
    opens: tuple[FileRate, ...]

    def of(self, direction: Direction) -> tuple[FileRate, ...]:
        """The rates of what a program's files cost: written ones are created, read ones opened."""
        return self.creates if direction is Direction.WRITE else self.opens


@frozen
class FilesAsk:
    """The measurement: in each round, each of `processes` processes makes `files_each` files; all
    rounds for one of the numbers in `levels` after the other, within `seconds`."""

    levels: tuple[int, ...]
    files_each: int
    seconds: float

    @property
    def files(self) -> int:
        """The files that are made."""
        return ROUNDS * self.files_each * sum(self.levels)


def files_ask(ranks: int, *, files: int, seconds: float) -> FilesAsk | None:
    """One process, some, and all `ranks`, or as many as have enough of `files` files; None if not
    even one has."""
    most = ranks
    while most and ROUNDS * _EACH_LEAST * sum(_levels(most)) > files:
        most //= 2
    if not most:
        return None
    levels = _levels(most)
    return FilesAsk(
        levels=levels,
        files_each=min(_EACH_MOST, files // (ROUNDS * sum(levels))),
        seconds=seconds,
    )


def _levels(most: int) -> tuple[int, ...]:
    return tuple(sorted({1, round(math.sqrt(most)), most}))


def rate_of_rounds(processes: int, rates: Sequence[float]) -> FileRate:
    """The rate of several rounds, in files a second."""
    return FileRate(processes=processes, value=median(rates), low=min(rates), high=max(rates))


def files_a_second(rates: Sequence[FileRate], processes: int) -> float:
    """Files a second by `processes` processes: on a straight line between the logarithms of what
    was measured. More than were measured are assumed to be no faster."""
    before = rates[0]
    for one in rates:
        if processes <= one.processes:
            if one.processes == before.processes:
                return one.value
            part = math.log(processes / before.processes) / math.log(
                one.processes / before.processes
            )
            return before.value * math.pow(one.value / before.value, max(0.0, part))
        before = one
    return before.value


def spell_files(rate: float) -> str:
    """A rate in files a second with three digits: 12300, 0.52."""
    return f"{float(f'{rate:.3g}'):.10g}"


def findings_of_rates(found: MetadataRates) -> tuple[str, ...]:
    """The rates in a sentence for users."""
    told = [
        f"{counted(one.processes, 'process', 'processes')} {_spelled(one)} created, "
        f"{_spelled(other)} opened"
        for one, other in zip_of(found.creates, found.opens, strict=True)
    ]
    return (f"files a second: by {'; by '.join(told)}.",)


def _spelled(one: FileRate) -> str:
    value, low, high = (spell_files(rate) for rate in (one.value, one.low, one.high))
    return f"{value} ({low} to {high})"
