"""Use case: compare two configurations by interleaved pairs of runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace

from forebay.bench.model.command_line import Configuration, Launch
from forebay.bench.model.comparison import ComparedSide, Design, QuantityFinding, find, may_stop
from forebay.bench.model.result import BenchResult, matched, repeated_names, unmatched
from forebay.bench.use_case.bench import BenchWorld, Left, plan_bench, run_and_read
from forebay.common.model.errors import BenchError, ForebayError
from forebay.common.model.frozen import frozen
from forebay.ports import Captured

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
OUTPUT_SHOWN = 1500
"""Characters at the end of a failed program's output that are shown."""


@frozen
class BenchComparison:
    """The findings by quantity. `failure` is the error that ended the comparison early,
    None if no run failed."""

    a: Configuration
    b: Configuration
    design: Design
    pairs: int
    firsts: tuple[ComparedSide, ...]
    findings: tuple[QuantityFinding, ...]
    warnings: tuple[str, ...] = field(default=())
    failure: ForebayError | None = None


def compare(
    sides: Mapping[ComparedSide, Configuration],
    *,
    launch: Launch,
    design: Design,
    seconds_max: float,
    bench: BenchWorld,
    told: Callable[[int, Sequence[QuantityFinding]], None],
) -> BenchComparison:
    """Runs pair after pair, with A and B in random order. `told` is called after each pair. Raises
    ForebayError if a run of the first pair fails, with the status that the command ends with."""
    so_far = _SoFar(design)
    failure: ForebayError | None = None
    for order in design.order():
        try:
            pair = {side: _run(side, sides[side], launch, seconds_max, bench) for side in order}
            so_far.add(pair)
        except ForebayError as error:
            if not so_far.pairs:
                raise
            failure = error
            break
        told(so_far.pairs, so_far.findings)
        if may_stop(so_far.findings, pairs=so_far.pairs, design=design):
            break
    return BenchComparison(
        a=sides[ComparedSide.A],
        b=sides[ComparedSide.B],
        design=design,
        pairs=so_far.pairs,
        firsts=tuple(order[0] for order in design.order()[: so_far.pairs]),
        findings=so_far.findings,
        warnings=so_far.warnings,
        failure=failure,
    )


class _SoFar:
    """The pairs that are done."""

    def __init__(self, design: Design) -> None:
        self._design = design
        self._rates: dict[str, tuple[list[float], list[float]]] = {}
        self._units: dict[str, str] = {}
        self.pairs = 0
        self._warnings: dict[str, list[str]] = {}

    def add(self, pair: Mapping[ComparedSide, BenchResult]) -> None:
        """Adds a pair. Raises BenchError if nothing in it can be compared; it does not count
        then."""
        for side, result in pair.items():
            repeated = repeated_names(result)
            if repeated:
                raise BenchError(
                    f"{side} measures {repeated[0]} more than once (what has the same name cannot "
                    "be compared). Let it measure everything once.",
                    exit_code=1,
                )
        a, b = pair[ComparedSide.A], pair[ComparedSide.B]
        common = matched(a, b)
        if not common:
            raise BenchError(
                "the two configurations have no measurement in common (A has "
                f"{_names(a)}; B has {_names(b)}). Let both do the same.",
                exit_code=1,
            )
        for name, of_a, of_b in common:
            rates = self._rates.setdefault(name, ([], []))
            rates[0].append(of_a.spread.median)
            rates[1].append(of_b.spread.median)
            self._units[name] = of_a.unit
        self.pairs += 1
        self._warn([*a.warnings, *b.warnings])
        self._warn(f"{text}: it is not compared" for text in unmatched(a, b))
        for name, (rates_a, _) in self._rates.items():
            if len(rates_a) < self.pairs:
                self._warn([f"not every pair has {name}: it is not compared"])

    @property
    def findings(self) -> tuple[QuantityFinding, ...]:
        """A finding for each quantity that every pair has."""
        return tuple(
            find(name, self._units[name], a=of_a, b=of_b, less=False, design=self._design)
            for name, (of_a, of_b) in self._rates.items()
            if len(of_a) == self.pairs
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings, each once: those that differ in numbers only are the same."""
        return tuple(_told(texts) for texts in self._warnings.values())

    def _warn(self, texts: Iterable[str]) -> None:
        for text in texts:
            self._warnings.setdefault(_NUMBER.sub("0", text), []).append(text)


def _told(texts: Sequence[str]) -> str:
    others = len(set(texts)) - 1
    return f"{texts[0]} ({others} more like it, with other numbers)" if others else texts[0]


def _run(
    side: ComparedSide,
    configuration: Configuration,
    launch: Launch,
    seconds_max: float,
    bench: BenchWorld,
) -> BenchResult:
    environment = {**bench.world.environment, **configuration.variables}
    own = replace(bench, world=replace(bench.world, environment=environment))
    plan = plan_bench(configuration.tool, configuration.words, launch, own, read_by="a comparison")
    ended, left = run_and_read(
        plan,
        bench,
        lambda: bench.world.processes.capture(
            plan.words, environment=environment, seconds_max=seconds_max
        ),
    )
    if ended.status is None:
        raise BenchError(
            f"a run of {side} is not done after {seconds_max:.0f} s ({configuration.text}). Make "
            "it shorter, or allow more by --run-time.",
            exit_code=4,
        )
    if ended.status != 0 or left.result is None or not left.result.measurements:
        raise _failure(side, configuration, ended, left)
    if left.warning:
        return replace(left.result, warnings=(*left.result.warnings, f"{side}: {left.warning}"))
    return left.result


def _failure(
    side: ComparedSide, configuration: Configuration, ended: Captured, left: Left
) -> BenchError:
    said = (ended.errors.strip() or ended.output.strip())[-OUTPUT_SHOWN:]
    problem = "failed" if ended.status else "measured nothing"
    why = left.complaint or f"it said:\n{said}\n"
    return BenchError(
        f"a run of {side} {problem} with status {ended.status} ({why}). Run it alone, by the same "
        f"launcher, to see more: {configuration.command}",
        exit_code=ended.status or 1,
    )


def _names(result: BenchResult) -> str:
    return ", ".join(one.name for one in result.measurements)
