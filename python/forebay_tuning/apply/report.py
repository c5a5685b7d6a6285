"""Prints a run with advice: as text for people, and as JSON."""

from collections.abc import Sequence
from typing import Any

from forebay.common.report.output import plain
from forebay_tuning.advise.model.advice import Advice
from forebay_tuning.apply.use_case import AppliedAdvice, Effect


def as_text(advice: Advice, done: AppliedAdvice, *, batch: Sequence[str] = ()) -> str:
    """The settings, and whether each took effect, as text for people; then, if the run succeeded,
    the lines `batch`, which do the same in a job script."""
    lines = [f"forebay apply: {done.run.seconds:.3f} s, status {done.run.status}"]
    if advice.keeps:
        lines.append("  the advice is to keep everything: nothing was set")
    lines += [f"  {effect_text(one)}" for one in done.effects]
    lines += [f"  warning: {text}" for text in done.run.warnings]
    if batch and done.exit_status == 0:
        lines += ["", "For a job script:", *(f"  {line}" for line in batch)]
    return "\n".join(lines)


def effect_text(one: Effect) -> str:
    """One effect in words."""
    if one.took:
        return f"{one.name}: {one.wanted}, took effect"
    if one.found is None:
        return f"{one.name}: {one.wanted}, not seen to take effect ({one.reason})"
    why = f" ({one.reason})" if one.reason else ""
    return f"{one.name}: {one.wanted} was asked for, it is {one.found}{why}"


def as_json(done: AppliedAdvice) -> Any:
    """The run in the schema forebay.apply/1."""
    return {
        "schema": "forebay.apply/1",
        "status": done.run.status,
        "seconds": done.run.seconds,
        "command": list(done.run.command),
        "effects": [{**plain(one), "took": one.took} for one in done.effects],
        "warnings": list(done.run.warnings),
    }
