"""Prints a verification: as text for people, and as JSON."""

from collections.abc import Sequence
from typing import Any

from forebay.common.report.output import plain
from forebay_tuning.apply.report import effect_text
from forebay_tuning.apply.use_case import PLACE
from forebay_tuning.verify.model import AdviceVerdict, Verification
from forebay_tuning.verify.use_case.verify_advice import Verified


def as_text(done: Verified, command: Sequence[str]) -> str:
    """The verdict as text for people."""
    found = done.verification
    if found is None:
        return "nothing is known"
    if done.not_applied:
        return _nothing_applied(done, found)
    of_what = ", but not all of the advice was seen to take effect" if done.missing else ""
    how = "through Forebay, all settings kept" if done.kept else "with the advice"
    lines = [
        f"{found.verdict}{of_what}: × {found.ratio.estimate:.3f} as fast {how} "
        f"({found.ratio.interval}, {found.level:.1%} sure; {found.pairs} pairs)",
        *_predicted(done, found),
        f"  tail: {_tail(found)}",
        *(f"  {effect_text(one)}" for one in done.missing),
    ]
    if done.kept:
        lines.append("  no layout was changed; `forebay run -- COMMAND` runs it through Forebay")
    elif not done.undone and any(one.name == "layout" for one in done.missing):
        lines.append("  what took effect of the layout stays on the output directory")
    elif not done.undone:
        lines.append("  the layout stays on the output directory")
    elif PLACE in " ".join(command):
        lines.append("  nothing was changed for good; `forebay apply` applies it")
    else:
        lines.append("  rolled back: all is as it was before")
    return "\n".join(lines)


def _nothing_applied(done: Verified, found: Verification) -> str:
    """The text if nothing took effect: the pairs then show Forebay itself, or chance."""
    return "\n".join(
        (
            "not applied: nothing of the advice was seen to take effect, so that these runs say "
            "nothing about it",
            f"  the pairs by themselves: × {found.ratio.estimate:.3f} ({found.ratio.interval}; "
            f"{found.pairs} pairs), whatever that comes from",
            *(f"  {effect_text(one)}" for one in done.missing),
            "  rolled back: all is as it was before"
            if done.undone
            else "  what took effect of the layout stays on the output directory",
        )
    )


def _predicted(done: Verified, found: Verification) -> list[str]:
    """A line on whether the prediction has held."""
    told = done.predicted
    if told is None:
        return []
    where = "inside" if told.holds(found.ratio.estimate) else "outside"
    of_io = (
        "; it is of I/O alone, and whole runs were measured (--rate or --time measure a part)"
        if told.is_of_io
        else ""
    )
    return [f"  predicted × {told.gain:.2f} ({told.low:.2f} to {told.high:.2f}): {where}{of_io}"]


def _tail(found: Verification) -> str:
    tail = found.tail
    text = f"the slowest advised run took {tail.ratio:.2f} × as long as the slowest default run"
    return f"{text}: slow runs have become slower" if tail.is_worse else text


def as_json(done: Verified) -> Any:
    """The verification in the schema forebay.verify/1 (schema/verify.md)."""
    return {
        "schema": "forebay.verify/1",
        "undone": done.undone,
        "trouble": done.trouble,
        "all_took_effect": not done.missing,
        "missing": plain(done.missing),
        "firsts": [one.value for one in done.firsts],
        "predicted": _predicted_json(done),
        **({} if done.verification is None else plain(done.verification)),
        **({"verdict": AdviceVerdict.NOT_APPLIED.value} if done.not_applied else {}),
    }


def _predicted_json(done: Verified) -> Any:
    """The prediction, and whether it has held; null if the pairs say nothing about that."""
    told, found = done.predicted, done.verification
    if told is None:
        return None
    held = None
    if found is not None and not done.not_applied:
        held = told.holds(found.ratio.estimate)
    return {**plain(told), "held": held}
