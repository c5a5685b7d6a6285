"""Whether a change is worth its trouble, and how far a prediction can be trusted."""

from __future__ import annotations

import math
from dataclasses import replace

from forebay.common.model.frozen import frozen
from forebay.common.model.units import counted, exact_bytes
from forebay_tuning.advise.model.rules import Rule
from forebay_tuning.model.evidence import Workload
from forebay_tuning.model.metadata import files_a_second, spell_files
from forebay_tuning.model.point import Direction, Point, changed
from forebay_tuning.model.response import Response

K_USUAL = 2
"""Forebay's k if nothing is set."""
K_MAX = 16
_TELL_K = ("process_rate", "target_rate", "streams_free")
"""The physical numbers that k is computed from."""
_SECOND = 1.0
"""Seconds: smaller savings are not worth a change."""
_SHARE_OF_RUN = 0.02
"""Share of the run: the same."""
_SHARE_OF_FILES = 0.1
"""Share of the predicted seconds from which on the price of files is told."""
_DISAGREES = 3.0
"""Ratio of the log's seconds and the predicted ones from which on the user is warned."""


@frozen
class Coverage:
    """How often measurements on real file systems were inside intervals that are `factor` times as
    wide as the fit says: `held` of `pairs`. It is a cross-validation: each pair is of a file system
    whose measurements had no part in the factor (python -m evaluation.tuning coverage)."""

    factor: float
    held: int
    pairs: int

    @property
    def text(self) -> str:
        """The coverage in a phrase for users."""
        return (
            f"such intervals held {self.held} of {self.pairs} measurements on other file systems, "
            "of no more bytes than were probed"
        )


MEASURED = Coverage(factor=2.32, held=204, pairs=215)
"""Measured on tmpfs, a disk, a limited disk and CephFS: docs/tuning.md. Intervals as wide as the
fit says covered 135 of them."""


def trifling(workload: Workload, seconds: float, gain: float) -> str:
    """Why the gain is too small for any change, or an empty text. It is a share of the program's
    own seconds if they are known, else of the predicted `seconds`."""
    took = workload.seconds or seconds
    saved = took * (1 - 1 / gain)
    run = workload.run_seconds
    if saved < _SECOND:
        return f"keep: what could be gained is {saved:.2f} s; below a second nothing is worth it."
    if run and saved < _SHARE_OF_RUN * run:
        return (
            f"keep: what could be gained is {saved:.1f} s of a run of {run:.0f} s; below "
            f"{_SHARE_OF_RUN:.0%} nothing is worth it."
        )
    return ""


def disagreement(workload: Workload, predicted: float) -> tuple[str, ...]:
    """A warning if the log's own seconds and the portrait's prediction differ much."""
    took = workload.seconds
    if took is None or min(took, predicted) <= 0:
        return ()
    times = max(took / predicted, predicted / took)
    if times <= _DISAGREES:
        return ()
    return (
        f"the program's own seconds are {took:.3g}, and the portrait predicts {predicted:.3g}: "
        f"{times:.1f} × {'more' if took > predicted else 'less'}. The portrait may be of another "
        "machine, or of another hour: do not rely on predicted gains before `forebay verify`.",
    )


def price_of_files(workload: Workload, now: Point, response: Response) -> tuple[str, ...]:
    """A note on the seconds that the number of files costs, where that is much."""
    took, whole = response.seconds_files(now), response.seconds(now)
    rates = response.file_rates
    if not rates or workload.files < 2 or took < max(_SECOND, _SHARE_OF_FILES * whole):
        return ()
    creating = 1 if now.shared else now.processes
    is_write = workload.direction is Direction.WRITE
    rate = files_a_second(rates, creating)
    how = counted(creating, "process", "processes")
    if workload.files / rate >= took:
        how += f" {'create' if is_write else 'open'} {spell_files(rate)} a second"
    else:
        how += " at a time"
    return (
        f"{'creating' if is_write else 'opening'} and closing {workload.files} files takes "
        f"{took:.3g} s of the {whole:.3g} s that are predicted ({how}): no layout saves that, "
        "fewer files do.",
    )


def what_mpi_does(workload: Workload, now: Point) -> tuple[str, ...]:
    """A note on how collective calls are assumed to be carried out by MPI."""
    if not workload.may_be_gathered:
        return ()
    return (
        "MPI gathers collective calls at aggregators, by ROMIO's default one on each node, or lets "
        "each rank move its own, where their pieces do not interleave. It is not known which; what "
        f"the portrait has as faster is taken for it: I/O processes {now.processes}, "
        f"{exact_bytes(now.transfer_bytes)} a call.",
    )


def obeying(one: Rule, point: Point) -> Point | None:
    """The point changed so that it keeps the term that it violates; None if there is no single such
    value."""
    term = one.broken_by(point)
    if term.op == "<" or term.op == ">":
        return None
    value = round(term.right({name: getattr(point, name) for name in point.__dataclass_fields__}))
    made = changed(point, {term.name: max(1, value)})
    if term.name == "processes":
        made = replace(made, process_bytes=max(1, point.bytes // made.processes))
    if made.per_node > made.processes:
        made = replace(made, per_node=made.processes)
    if made.transfer_bytes > made.process_bytes:
        made = replace(made, transfer_bytes=made.process_bytes)
    return made


def product(a: float | None, b: float | None) -> float | None:
    """The product of two gains; None if one is not known."""
    return None if a is None or b is None else a * b


def log_interval(now: Point, best: Point, response: Response) -> float:
    """Half the width of the interval of a gain's logarithm: about 95 % by the fit, more outside the
    probed levels, and widened by the measured coverage of predictions."""
    surface = response.surface
    beyond = 0.0
    for point in (now, best):
        for name, levels in surface.space.levels.items():
            value: int = getattr(point, name)
            if name in ("stripe_bytes", "process_bytes"):
                continue
            beyond += max(0.0, math.log2(value / levels[-1]), math.log2(levels[0] / value))
    one, other = response.storage_doubt(now), response.storage_doubt(best)
    return response.widening * (2 * math.sqrt(2) * surface.doubt + 0.05 * beyond + abs(one - other))


def in_flight(response: Response, workload: Workload) -> int | None:
    """The advised k: enough requests to keep a target busy, but no more than it serves undisturbed.
    None if the probes do not identify these numbers, or it is the usual value."""
    surface = response.surface
    if not workload.collective or not all(map(surface.is_identified, _TELL_K)):
        return None
    physical = surface.physical
    busy = math.ceil(physical.target_rate / physical.process_rate)
    k = max(1, min(busy, math.floor(physical.streams_free), K_MAX))
    return None if k == K_USUAL else k
