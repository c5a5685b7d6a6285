"""The start of several tests of tuning: the portrait of a modelled machine, advice, and the logs
that come with PyDarshan."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from forebay.common.files.native_libraries import LibraryFolders
from forebay.common.model.errors import SetupError
from forebay.common.model.units import MIB
from forebay.simulate.files import background_load
from forebay_tuning.advise.model.advice import Advice, Settings
from forebay_tuning.model.evidence import Workload
from forebay_tuning.model.metadata import FileRate, MetadataRates
from forebay_tuning.model.modelled import Disturbances, Platform
from forebay_tuning.model.point import KIB, Direction, Point, usual_space
from forebay_tuning.model.portrait import Identity, Portrait
from forebay_tuning.model.program_io import ProgramIo
from forebay_tuning.model.response import NAMES, Physical, Response, Storm, Surface
from forebay_tuning.model.sample import Choice
from forebay_tuning.probe.files.journal import NoJournal
from forebay_tuning.probe.use_case.modelled_system import ModelledSystem
from forebay_tuning.probe.use_case.probe import Budget, ProbeRequest, carry_out_probe, plan_probe
from forebay_tuning.report.files.darshan_log import program_of
from forebay_tuning.report.files.darshan_reader import document_of


def portrait_of(machine: Platform) -> Portrait:
    """The portrait that a quick probe draws of the machine, with no limit but its level."""
    system = ModelledSystem(
        machine,
        disturbances=Disturbances(drift=0.05, noise=0.02),
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


def launcher() -> str:
    """The launcher of an MPI that forebay-ior is built for. Skips the test where there is none."""
    try:
        folder = LibraryFolders().find().folder
    except SetupError:
        pytest.skip("no native libraries")
    if not (folder / "forebay-layout").is_file():
        pytest.skip("no forebay-layout is built here")
    for family, name in (("mpich", "mpiexec.mpich"), ("openmpi", "mpirun.openmpi")):
        if (folder / family / "forebay-ior").is_file() and shutil.which(name):
            return name
    pytest.skip("no forebay-ior with its launcher")


def read_here(path: Path, files_max: int = 4096) -> ProgramIo:
    """As read_log, but in this process, which takes a tenth of the time. Skips the test where
    PyDarshan is not installed."""
    pytest.importorskip("darshan")
    return program_of(json.loads(json.dumps(document_of(str(path), files_max))), path)


def files_rate(processes: int, value: float) -> FileRate:
    """A price of files, known but for a factor of two."""
    return FileRate(processes=processes, value=value, low=value / 2, high=value * 2)


def metadata_response(**changes: object) -> Response:
    """Moving bytes takes next to nothing; a storm of all takes 10 ms."""
    physical = Physical(
        process_rate=1e12,
        call_time=1e-12,
        node_rate=1e12,
        target_rate=1e12,
        request_time=1e-12,
        interference_per_stream=1e-9,
        streams_free=1.0,
        system_rate=1e12,
    )
    surface = Surface(
        physical=physical,
        targets=4,
        coefficients=(0.0,),
        space=usual_space(nodes=8, ranks_per_node=8, targets=4, bytes_max=1 << 40),
        spread=0.1,
        explained=0.9,
        doubt=0.02,
        probes=60,
        uncertain=(0.1,) * len(NAMES),
    )
    storm = Storm(base=0.01, each=0.0, power=1.0)
    usual = Response(
        direction=Direction.WRITE,
        surface=surface,
        opening=storm,
        closing=replace(storm, base=0.0),
    )
    return replace(usual, **changes)  # type: ignore[arg-type]


ONE_FILE_EACH = Point(
    processes=64,
    per_node=8,
    stripe_count=1,
    stripe_bytes=MIB,
    transfer_bytes=4 * KIB,
    process_bytes=4 * KIB,
    shared=False,
)


def priced_portrait(metadata: MetadataRates | None) -> Portrait:
    """A portrait with this price of files, of a system that does nothing else of note."""
    one = metadata_response()
    identity = Identity(
        name="scratch",
        directory="/scratch",
        file_system="lustre",
        mount_point="/scratch",
        host="here",
        client="Linux",
        forebay="0",
        date="2026-11-22T10:00:00+00:00",
        level="quick",
        seed=1,
        nodes=8,
        ranks_per_node=8,
        targets=4,
        stripe_count=1,
        stripe_bytes=MIB,
    )
    choice = Choice(
        response=one,
        best=ONE_FILE_EACH,
        gain=1.0,
        gain_low=1.0,
        gain_high=1.0,
        noise=0.1,
        drift=0.1,
    )
    return Portrait(
        identity=identity,
        space=one.surface.space,
        control=ONE_FILE_EACH,
        choices={Direction.WRITE: choice},
        samples=(),
        metadata=metadata,
    )
