"""The common part of the two systems with virtual seconds: formulas (`modelled_system`) and the
simulator (`simulated_system`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from forebay.common.model.frozen import frozen
from forebay_tuning.model.metadata import FileRate, FilesAsk, rate_of_rounds
from forebay_tuning.model.modelled import Platform
from forebay_tuning.model.point import KIB, Point
from forebay_tuning.model.portrait import Identity
from forebay_tuning.model.sample import Sample
from forebay_tuning.probe.use_case.probe import PASSAGES

START_SECONDS = 1.0
"""Seconds of a probe before it opens a file: the start of the ranks."""
FILES_PLACED = 3
"""Files on each target, to find sick ones."""


@frozen
class Drawn:
    """The attributes of a modelled platform's portrait: version, date, level and seed."""

    seed: int
    forebay: str = ""
    date: str = ""
    level: str = ""
    stripe_count: int = 1


def identity_of(platform: Platform, drawn: Drawn, *, client: str) -> Identity:
    """The platform's identity, as if it were a mounted file system."""
    return Identity(
        name=platform.name,
        directory=f"platform {platform.name}",
        file_system="lustre" if platform.targets > 1 else "none",
        mount_point="",
        host="",
        client=client,
        forebay=drawn.forebay,
        date=drawn.date,
        level=drawn.level,
        seed=drawn.seed,
        nodes=platform.nodes,
        ranks_per_node=platform.ranks_per_node,
        targets=platform.targets,
        stripe_count=drawn.stripe_count,
        stripe_bytes=platform.stripe_bytes,
        is_modelled=True,
        targets_source="the platform's file",
    )


def in_time(sample: Sample, *, seconds_max: float) -> tuple[Sample, float]:
    """The sample and its seconds; it is discarded if these exceed `seconds_max`. A passage that
    would move its bytes for too long is cut off, as a real one is."""
    seconds = START_SECONDS + sum(
        one.seconds_open
        + min(sample.ask.point.bytes / one.rate, seconds_max / PASSAGES)
        + one.seconds_close
        for one in (sample.write, sample.read)
        if one is not None
    )
    if seconds > seconds_max:
        why = f"it took longer than {seconds_max:.0f} s"
        return Sample(ask=sample.ask, discarded=why), seconds_max
    return sample, seconds


def file_rates_of(
    platform: Platform, ask: FilesAsk, rounds: Callable[[Point], Sequence[float]]
) -> tuple[FileRate, ...]:
    """Rates of one small file for each process, at the levels that are asked for; `rounds` gives
    those of all rounds at a point, in files a second."""
    return tuple(
        rate_of_rounds(processes, rounds(one_small_file_each(platform, processes)))
        for processes in ask.levels
    )


def one_small_file_each(platform: Platform, processes: int) -> Point:
    """The point at which so many processes, on the fewest nodes, create or open a file
    of their own each."""
    return Point(
        processes=processes,
        per_node=min(processes, platform.ranks_per_node),
        stripe_count=1,
        stripe_bytes=platform.stripe_bytes,
        transfer_bytes=64 * KIB,
        process_bytes=64 * KIB,
        shared=False,
    )
