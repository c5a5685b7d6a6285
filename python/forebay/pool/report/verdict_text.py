"""Says in one plain sentence whether a pool paid, and if not, what to do."""

import signal

from forebay.common.model.units import counted
from forebay.pool.model.verdict import Cause, Judgement, PoolVerdict

_MOUNT_IT = "(Mounted, it takes these, too, if they have 256 KiB or more: --set pool_mount=auto.)"
_SIGNALLED = 128
"""Added to a signal's number, it is the exit status of a program that this signal has ended."""
_SPOKEN_LEAST = 0.01
_LEAVE_OFF = "Leave the pool off for this step"


def verdict_text(verdict: PoolVerdict, *, whose: str = "your program", its: str = "its") -> str:
    """The sentence. `whose` program it was, and how the program is called from then on."""
    if verdict.judgement is Judgement.INCOMPLETE:
        return f"Not all that {whose} wrote arrived: what is missing, and what to do, is below."
    if verdict.judgement is Judgement.PAST:
        mount = f" {_MOUNT_IT}" if verdict.mount_helps else ""
        return (
            f"The pool won nothing: {_past(verdict)} went past it, for the reasons below. "
            f"{_LEAVE_OFF}.{mount}"
        )
    if verdict.judgement is Judgement.COST:
        return _cost_text(verdict, whose, its)
    return f"{_capital(_waited(verdict, whose, its))}{_without(verdict)}."


def _cost_text(verdict: PoolVerdict, whose: str, its: str) -> str:
    waited, without = _waited(verdict, whose, its), _without(verdict)
    if verdict.cause is Cause.OPENS:
        small = "small " if verdict.are_small else ""
        opens = counted(verdict.opens, f"{small}file")
        said = f"The pool cost more than it won: {waited}, mostly to open {opens}{without}."
    elif verdict.cause is Cause.SYNCS:
        syncs = counted(verdict.syncs, "sync")
        said = f"The pool won nothing: {waited}, mostly for {syncs}{without}."
    elif verdict.cause is Cause.CHANGES:
        said = (
            f"The pool cost more than it won: {waited}, mostly until they were written, before it "
            f"set their times, owner, mode or size{without}."
        )
    elif verdict.cause is Cause.PAST:
        past = f"{_past(verdict)} went past it"
        said = f"The pool cost more than it won: {waited}, and {past}{without}."
    elif verdict.cause is Cause.ROOM:
        return (
            f"The pool won nothing: {waited}, mostly for room in it{without}. If there is time "
            "between writes, give the pool more: --set pool_window=2GiB, or pool_cap."
        )
    else:
        said = f"The pool cost more than it won: {waited}{without}."
    return f"{said} {_LEAVE_OFF}."


def _past(verdict: PoolVerdict) -> str:
    if verdict.past == verdict.files:
        few = {1: "its only file", 2: "both files"}
        return few.get(verdict.files, f"all {verdict.files} files")
    return f"{verdict.past} of {counted(verdict.files, 'file')}"


def _waited(verdict: PoolVerdict, whose: str, its: str) -> str:
    least = "at least " if verdict.is_at_least else ""
    notes = [
        *(["all its processes together"] if verdict.processes > 1 else []),
        *(["not counting reads"] if verdict.has_reads else []),
    ]
    note = f" ({', '.join(notes)})" if notes else ""
    return f"{whose} waited {least}{spoken(verdict.waited_seconds)} for {its} files{note}"


def _without(verdict: PoolVerdict) -> str:
    seconds = verdict.without_seconds
    if seconds is None:
        return ""
    about = "about " if seconds >= _SPOKEN_LEAST else ""
    return f"; without the pool {about}{spoken(seconds)}"


def ended_text(status: int) -> str:
    """How the program ended, by its exit status as shells give it."""
    number = status - _SIGNALLED
    if number in set(signal.Signals):
        return f"Your program was ended by {signal.Signals(number).name}"
    return f"Your program ended with status {status}"


def spoken(seconds: float) -> str:
    """A time as people say it: two digits are enough."""
    if seconds < _SPOKEN_LEAST:
        return f"less than {_SPOKEN_LEAST} s"
    for limit, digits in ((0.1, 2), (10.0, 1)):
        if round(seconds, digits) < limit:
            return f"{seconds:.{digits}f} s"
    return f"{seconds:.0f} s"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
