"""What several tests of tuning begin with: the portrait of a modelled machine, advice, and the logs
that come with PyDarshan."""

from __future__ import annotations

from pathlib import Path

import pytest

from forebay.common.model.units import MIB
from forebay.simulate.files import background_load
from forebay_tuning.advise.model.advice import Advice, Settings
from forebay_tuning.model.evidence import Workload
from forebay_tuning.model.modelled import Platform, Weather
from forebay_tuning.model.point import Direction
from forebay_tuning.model.portrait import Portrait
from forebay_tuning.probe.files.journal import NoJournal
from forebay_tuning.probe.use_case.modelled_system import ModelledSystem
from forebay_tuning.probe.use_case.probe import Budget, ProbeRequest, carry_out_probe, plan_probe


def portrait_of(machine: Platform) -> Portrait:
    """The portrait that a quick probe draws of the machine, with no limit but its level."""
    system = ModelledSystem(
        machine,
        weather=Weather(drift=0.05, noise=0.02),
        load=background_load(),
        seed=1,
        date="2026-11-22T10:00:00+00:00",
        level="quick",
    )
    request = ProbeRequest(
        level="quick", budget=Budget(seconds=1e6, bytes=1 << 42, files=10**7), seed=1
    )
    return carry_out_probe(plan_probe(request, system), system, NoJournal(), told=lambda *_: None)


def advice(*, collective: bool = True, **settings: int) -> Advice:
    """Advice for four ranks that write a file of 1 MiB, which shall be twice as fast."""
    return Advice(
        workload=Workload(
            direction=Direction.WRITE,
            ranks=4,
            nodes=1,
            file_bytes=MIB,
            collective=collective,
        ),
        settings=Settings(**settings),
        items=(),
        gain=2.0,
        gain_low=1.5,
        gain_high=2.5,
        seconds_now=2.0,
        seconds_advised=1.0,
        reasons=(),
    )


def darshan_logs() -> list[Path]:
    """The logs that come with PyDarshan. Skips the test where that is not installed."""
    darshan = pytest.importorskip("darshan")
    return sorted(Path(darshan.__file__).parent.rglob("*.darshan"))


def darshan_log(name: str) -> Path:
    """The log of that file name."""
    return next(one for one in darshan_logs() if one.name == name)
