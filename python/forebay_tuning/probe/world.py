"""Puts a file system, the simulator or formulas behind the port System, and a journal beside it."""

from __future__ import annotations

import datetime
import secrets
import sys
from dataclasses import replace
from pathlib import Path

from forebay import __version__
from forebay.bench.model.command_line import Launch
from forebay.bench.world import real_bench_world
from forebay.common.model.errors import HangError, SetupError, UsageError
from forebay.common.model.frozen import frozen
from forebay.common.model.launcher import find_launcher
from forebay.common.model.named_path import named_path
from forebay.common.model.printable import printable_lines, printable_name
from forebay.simulate.files import NativeSimulator, background_load
from forebay_tuning.model.modelled import Disturbances
from forebay_tuning.model.simulated import changed_by
from forebay_tuning.probe.files.journal import NoJournal, ProbeJournal, begun, is_blank
from forebay_tuning.probe.files.measuring_program import (
    PREFIX,
    RealSystem,
    Where,
    remove_folder,
    remove_results,
)
from forebay_tuning.probe.files.platform_file import read_platform
from forebay_tuning.probe.use_case.modelled_system import ModelledSystem
from forebay_tuning.probe.use_case.probe import (
    Journal,
    ProbePlan,
    ProbeRequest,
    System,
    plan_probe,
)
from forebay_tuning.probe.use_case.simulated_system import Simulated, SimulatedSystem

_PILOT_SECONDS_MAX = 60.0


@frozen
class SystemOptions:
    """The user's options that determine the system."""

    words: list[str]
    simulate: str | None
    formulas: bool
    journal: Path
    resume: bool
    targets: int | None
    drift: float

    @property
    def goes_on(self) -> bool:
        """Whether an interrupted run is resumed."""
        return self.resume and self.journal.exists() and not is_blank(self.journal)


def resumed(asked: SystemOptions, request: ProbeRequest) -> ProbeRequest:
    """The request, with the plan of the interrupted run if one is resumed."""
    if asked.goes_on:
        return replace(request, probe_bytes=begun(asked.journal).probe_bytes)
    return request


def planned(request: ProbeRequest, system: System, journal: Journal) -> ProbePlan:
    """Plans the probing. The place is recorded in the journal before any file is created, so that
    --clean finds the files wherever the probing is killed."""
    if not (isinstance(system, RealSystem) and isinstance(journal, ProbeJournal)):
        return plan_probe(request, system)
    journal.place(system.directory.absolute(), system.results)
    try:
        return plan_probe(request, system)
    except BaseException as error:
        if not (isinstance(error, HangError) and system.has_made_folder):
            journal.withdraw()
        raise


def system_of(
    asked: SystemOptions, request: ProbeRequest, *, only_look: bool = False
) -> tuple[System, Journal]:
    """The system to probe, and its journal. If `only_look`, nothing is started or created."""
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    words = asked.words
    if asked.simulate is not None:
        return _modelled(asked, asked.simulate, request, date), NoJournal()
    if len(words) < 2 or (find_launcher(words) == 0 and not Path(words[0]).is_dir()):
        lacks = "the launcher is missing (there must be ranks to probe with)"
        if words and find_launcher(words) is not None:
            lacks = f'the directory is missing ("{words[0]}" is a launcher)'
        raise UsageError(f"{lacks}. Write `forebay probe DIR -- mpiexec -n 16`.")
    folder = PREFIX + secrets.token_hex(4)
    if asked.goes_on:
        folder = begun(asked.journal).folder
    system = RealSystem(
        Where(
            directory=named_path(words[0]),
            folder=folder,
            launch=Launch(words=tuple(words[1:])),
            level=request.level,
            seed=request.seed,
            date=date,
            targets=asked.targets,
            pilot_seconds_max=min(_PILOT_SECONDS_MAX, request.budget.seconds),
            only_look=only_look,
        ),
        real_bench_world(),
    )
    if only_look:
        return system, NoJournal()
    return system, ProbeJournal(asked.journal, folder=folder, resume=asked.resume)


def _modelled(asked: SystemOptions, name: str, request: ProbeRequest, date: str) -> System:
    """The simulator, or formulas if it is not built."""
    drift = asked.drift
    if not asked.formulas and _is_built(NativeSimulator()):
        return simulated_system(
            name, tuple(asked.words), drift=drift, seed=request.seed, date=date, level=request.level
        )
    if asked.words:
        raise UsageError(
            f'"{asked.words[0]}" is one word too many (formulas know nothing but the platform). '
            "Leave it out."
        )
    return ModelledSystem(
        read_platform(Path(NativeSimulator().platform(name))),
        disturbances=Disturbances(drift=drift, noise=drift / 5, stragglers=drift / 3),
        load=background_load(),
        seed=request.seed,
        forebay=__version__,
        date=date,
        level=request.level,
    )


def simulated_system(
    name: str, words: tuple[str, ...], *, drift: float, seed: int, date: str = "", level: str = ""
) -> SimulatedSystem:
    """A platform in the simulator, changed by KEY=VALUE `words`, under the load of other jobs.
    Raises SetupError if the simulator is not built, and UsageError if a word is not allowed."""
    native = NativeSimulator()
    platform = read_platform(Path(native.platform(name)))
    native.program()
    # In the simulator stragglers are a share of the targets, in the formulas (`_modelled`) one of
    # the probes. A probe waits for its slowest target: with 33 of them, a third of those of
    # lustre-96-ost, this share disturbs as many probes as drift / 3 does there.
    load = (f"drift={drift}", f"noise={drift / 5}", f"stragglers={drift / 100}")
    what = Simulated(
        name=name,
        platform=changed_by(platform, words, native.keys()),
        words=(*load, *words),
        seed=seed,
        forebay=__version__,
        date=date,
        level=level,
    )
    return SimulatedSystem(what, native)


def _is_built(native: NativeSimulator) -> bool:
    try:
        native.program()
    except SetupError as error:
        print(
            f"forebay: {printable_lines(str(error))} Formulas are asked instead.", file=sys.stderr
        )
        return False
    return True


def clean_up(journal: Path) -> None:
    """Removes the journal, and the files of the run that wrote it."""
    if not journal.exists():
        print(f"there is nothing to clean ({printable_name(journal)} is not there)")
        return
    if is_blank(journal):
        journal.unlink()
        print(f"removed {printable_name(journal)} (nothing else was made)")
        return
    was = begun(journal)
    remove_folder(Path(was.directory), was.folder)
    remove_results(map(Path, was.results))
    journal.unlink()
    folder = printable_name(Path(was.directory) / was.folder)
    print(f"removed {printable_name(journal)} and {folder}")
