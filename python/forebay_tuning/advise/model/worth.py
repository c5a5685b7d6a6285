"""Whether a change is worth its trouble."""

from __future__ import annotations

import math
from dataclasses import replace

from forebay.common.model.units import counted, exact_bytes
from forebay_tuning.advise.model.bottleneck import bottleneck
from forebay_tuning.advise.model.rules import Rule
from forebay_tuning.model.coverage import beyond_probes
from forebay_tuning.model.evidence import Workload
from forebay_tuning.model.metadata import files_a_second, spell_files
from forebay_tuning.model.point import Direction, Point, changed
from forebay_tuning.model.present import disagreement
from forebay_tuning.model.response import Response

K_USUAL = 2
"""Forebay's k if nothing is set."""
K_MAX = 16
MARGIN = 0.05
"""A gain whose interval begins below this is not worth a change."""
_TELL_K = ("process_rate", "target_rate", "streams_free")
"""The physical numbers that k is computed from."""
_SECOND = 1.0
"""Seconds: smaller savings are not worth a change."""
_SHARE_OF_RUN = 0.02
"""Share of the run: the same."""
_SHARE_OF_FILES = 0.1
"""Share of the predicted seconds from which on the price of files is told."""


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


def why_kept(
    best: Point, now: Point, gain: float, low: float, response: Response
) -> tuple[str, ...]:
    """Why the change from `now` to `best` is not worth it: its `gain` (a logarithm) may be as
    little as `low` (a ratio)."""
    if not response.surface.has_structure:
        return ("keep: probing found no structure in this direction.",)
    if best == now:
        return (
            "keep: nothing that may be changed is predicted to be faster.",
            bottleneck(now, response),
        )
    longer = beyond_probes(now, best, response)
    kept = (
        f"keep: the best alternative is predicted to be {math.exp(gain):.2f} × as fast, which may "
        f"be as little as {low:.2f} ×; less than {MARGIN:.0%} is not worth a change."
    )
    if not longer:
        return (kept,)
    return (kept, f"{longer}. `forebay probe --bytes` with more bytes makes longer probes.")


def doubtful(workload: Workload, predicted: float) -> tuple[str, ...]:
    """A warning if the log's own seconds and the portrait's prediction differ much."""
    differs = disagreement(workload, predicted)
    if not differs:
        return ()
    return (
        f"{differs}. The portrait may be of another machine, or of another hour: do not rely on "
        "predicted gains before `forebay verify`.",
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
