"""The experiment: interleaved pairs of the same run, plain and through Forebay."""

from collections.abc import Callable, Iterator

from demo.errors import DemoError
from demo.model import Run
from demo.workshop import Outcome, Variant, Workshop, same_bytes
from forebay.common.model.estimate import Spread, spread
from forebay.common.model.frozen import frozen

Announce = Callable[[str], None]


@frozen
class Pair:
    """One run each, one right after the other."""

    plain: Outcome
    forebay: Outcome

    @property
    def ratio(self) -> float:
        """Seconds of output, plain over Forebay: above 1 Forebay is faster."""
        return self.plain.times.output / max(self.forebay.times.output, 1e-6)


@frozen
class Comparison:
    """All pairs of one variant. Every file of every run has the same bytes, or there is none."""

    variant: Variant
    run: Run
    ranks: int
    pairs: tuple[Pair, ...]
    digests: dict[str, str]

    @property
    def ratio(self) -> Spread:
        """The spread of the pairs' ratios."""
        return spread([pair.ratio for pair in self.pairs], level=0.90)


def compare(
    workshop: Workshop,
    variant: Variant,
    run: Run,
    *,
    ranks: int,
    pairs: int,
    announce: Announce,
) -> Comparison:
    """Run the pairs, each in the other order than the one before, and compare their files.
    DemoError: a byte differs."""
    files = tuple(name for name in (run.history, run.restart_out) if name)
    names = {False: f"{variant.target}-plain", True: f"{variant.target}-forebay"}
    finished = []
    for number in range(pairs):
        outcomes = {}
        for through in _order(number):
            how = "through Forebay" if through else "plain"
            announce(f"{variant.title}: pair {number + 1} of {pairs}, {how}")
            outcomes[through] = workshop.run(
                variant,
                run,
                folder=names[through],
                ranks=ranks,
                through_forebay=through,
                compare=files,
            )
        finished.append(Pair(plain=outcomes[False], forebay=outcomes[True]))
    for name in files:
        plain, other = (workshop.folder / names[through] / name for through in (False, True))
        if not same_bytes(plain, other):
            raise DemoError(
                f"{plain} and {other} differ (Forebay did not write what the MPI writes). "
                "Please report this with both files' folders."
            )
    return Comparison(
        variant=variant,
        run=run,
        ranks=ranks,
        pairs=tuple(finished),
        digests=_only_digests(finished, files),
    )


def _order(number: int) -> Iterator[bool]:
    """Plain first, then Forebay first: a drift of the machine favours neither."""
    first = number % 2 == 1
    yield first
    yield not first


def _only_digests(pairs: list[Pair], files: tuple[str, ...]) -> dict[str, str]:
    """The one digest each file has in all runs."""
    digests = {}
    for name in files:
        found = {side.digests[name] for pair in pairs for side in (pair.plain, pair.forebay)}
        if len(found) != 1:
            raise DemoError(
                f"{name} is not the same in every run ({len(found)} different SHA-256). "
                "Compare the folders of the demo and please report this."
            )
        digests[name] = found.pop()
    return digests
