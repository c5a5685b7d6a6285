"""Advice as text for people."""

from forebay.common.model.units import counted, human_bytes, human_seconds
from forebay_tuning.advise.model.advice import Advice, Item
from forebay_tuning.advise.model.ready import RenderedAdvice


def as_text(advice: Advice, made: RenderedAdvice) -> str:
    """The whole advice, with its settings ready for use."""
    lines = [headline(advice)]
    lines += [f"  {text}" for text in advice.reasons]
    for number, one in enumerate(advice.items, start=1):
        gain = "" if one.gain is None else f", × {one.gain:.2f}{_interval(one)}"
        lines.append(f"{number}. {one.name}: {one.now} → {one.advised} (by {one.lever}{gain})")
        lines += [f"   {text}" for text in one.reasons]
    if advice.settings.one_reader_per_node:
        lines.append("One process of each node reads, and passes the bytes on.")
    if advice.rivals:
        lines += ["Not followed:", *(f"  {text}" for text in advice.rivals)]
    lines += [f"Note: {text}" for text in advice.notes]
    lines += _ready(made) if not advice.keeps else []
    return "\n".join(lines)


def _interval(one: Item) -> str:
    if one.gain_low is None or one.gain_high is None:
        return ""  # advice written by an older version
    return f" ({one.gain_low:.2f} – {one.gain_high:.2f})"


def headline(advice: Advice) -> str:
    """One line: the workload, and the gain."""
    work = advice.workload
    about = (
        f"{work.direction} of {human_bytes(work.bytes)} by {counted(work.ranks, 'rank')} on "
        f"{counted(work.nodes, 'node')}, {counted(work.files, 'file')}"
    )
    if advice.keeps and advice.held_back:
        return f"{about}: nothing is known to set, but {advice.held_back}"
    if advice.keeps:
        return f"{about}: keep everything as it is"
    if advice.gain is None or advice.gain_low is None or advice.gain_high is None:
        return f"{about}: by rules of thumb"
    coverage = f"; {advice.coverage}" if advice.coverage else ""
    seconds = ""
    if advice.seconds_now is not None and advice.seconds_advised is not None:
        seconds = (
            f", {human_seconds(advice.seconds_now)} s → {human_seconds(advice.seconds_advised)} s"
        )
    return (
        f"{about}: {advice.gain:.2f} × as fast, predicted ({advice.gain_low:.2f} – "
        f"{advice.gain_high:.2f}{coverage}){seconds}, by the portrait {advice.portrait}"
    )


def _ready(made: RenderedAdvice) -> list[str]:
    lines = []
    for title, texts in (
        ("Layout of the output directory, either of:", made.layout),
        ("The same for files of all sizes (composite):", (made.composite,)),
        ("Settings (forebay.toml):", tuple(made.settings.splitlines())),
        ("Hints for ROMIO (a file that ROMIO_HINTS names):", tuple(made.hints.splitlines())),
        ("In the batch script:", made.batch),
        ("To run it so, and to prove that it helps:", made.proof),
    ):
        shown = [text for text in texts if text]
        if shown:
            lines += ["", title, *(f"  {text}" for text in shown)]
    return lines
