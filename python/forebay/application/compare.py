"""Runs two configurations in turns until enough is known, and says what."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from forebay.application.bench import BenchWorld, Left, plan_bench, run_and_read
from forebay.application.ports import Captured
from forebay.domain.bench_command import Configuration, Launch
from forebay.domain.bench_result import BenchResult, matched
from forebay.domain.comparison import Design, Finding, Side, find, may_stop
from forebay.domain.errors import BenchError

OUTPUT_SHOWN = 1500
"""Characters of a failed program's words that are passed on."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What came of the pairs, by quantity."""

    a: Configuration
    b: Configuration
    design: Design
    pairs: int
    firsts: tuple[Side, ...]
    findings: tuple[Finding, ...]
    warnings: tuple[str, ...] = field(default=())


def compare(
    sides: Mapping[Side, Configuration],
    *,
    launch: Launch,
    design: Design,
    seconds_max: float,
    bench: BenchWorld,
    told: Callable[[int, Sequence[Finding]], None],
) -> Comparison:
    """Pair after pair, A and B in random order within each. `told` hears of every pair.
    BenchError: a run failed; its status is that of the program."""
    rates: dict[Side, dict[str, list[float]]] = {Side.A: {}, Side.B: {}}
    units: dict[str, str] = {}
    warnings: dict[str, None] = {}
    findings: tuple[Finding, ...] = ()
    done = 0
    for order in design.order():
        pair: dict[Side, BenchResult] = {}
        for side in order:
            pair[side] = _run(side, sides[side], launch, seconds_max, bench)
            warnings.update(dict.fromkeys(pair[side].warnings))
        common = matched(pair[Side.A], pair[Side.B])
        if not common:
            raise BenchError(
                "the two configurations have no measurement in common (A has "
                f"{_names(pair[Side.A])}; B has {_names(pair[Side.B])}). Let both do the same.",
                exit_code=1,
            )
        for name, of_a, of_b in common:
            rates[Side.A].setdefault(name, []).append(of_a.spread.median)
            rates[Side.B].setdefault(name, []).append(of_b.spread.median)
            units[name] = of_a.unit
        done += 1
        findings = tuple(
            find(
                name,
                units[name],
                a=rates[Side.A][name],
                b=rates[Side.B][name],
                less=False,
                design=design,
            )
            for name in units
            if len(rates[Side.A][name]) == done
        )
        told(done, findings)
        if may_stop(findings, pairs=done, design=design):
            break
    return Comparison(
        a=sides[Side.A],
        b=sides[Side.B],
        design=design,
        pairs=done,
        firsts=tuple(order[0] for order in design.order()[:done]),
        findings=findings,
        warnings=tuple(warnings),
    )


def _run(
    side: Side,
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


def _failure(side: Side, configuration: Configuration, ended: Captured, left: Left) -> BenchError:
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
