"""`forebay probe`: parse → probe → render."""

import datetime
import importlib
import secrets
import sys
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from forebay import __version__
from forebay.bench.model.command_line import Launch
from forebay.bench.world import real_bench_world
from forebay.common.model.errors import HangError, SetupError, UsageError
from forebay.common.model.frozen import frozen
from forebay.common.model.launcher import find_launcher
from forebay.common.model.printable import printable, printable_lines, printable_name
from forebay.common.model.units import counted, exact_bytes, human_bytes
from forebay.common.options import named_path, option
from forebay.common.report.output import Format, FormatOption, json_pretty
from forebay.simulate.files import NativeSimulator
from forebay_tuning.model.evidence import size
from forebay_tuning.model.modelled import Weather
from forebay_tuning.model.point import Direction
from forebay_tuning.model.portrait import Portrait
from forebay_tuning.model.sample import Sample
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
from forebay_tuning.probe.files.portrait_file import write_portrait
from forebay_tuning.probe.report.page import PortraitPages
from forebay_tuning.probe.report.text import as_json, as_text
from forebay_tuning.probe.use_case.modelled_system import ModelledSystem
from forebay_tuning.probe.use_case.probe import (
    Budget,
    Journal,
    ProbePlan,
    ProbeRequest,
    System,
    Unknown,
    carry_out_probe,
    plan_probe,
)
from forebay_tuning.probe.use_case.simulated_system import Simulated, SimulatedSystem

HELP = """Find out what a file system likes, and keep that as its portrait.

Runs forebay-ior below DIR, by the launcher that you give, with ever other numbers of processes,
sizes of transfers, and layouts; fits how the file system responds; and races the best against the
default. The portrait is a TOML file that `forebay advise` reads. No root is needed. Files are
removed after each probe.

\b
Examples:
  forebay probe /scratch/me --dry-run -- mpiexec -n 64     what it would take
  forebay probe /scratch/me -- srun -n 64                  quick: 60 probes
  forebay probe /scratch/me --level standard --html scratch.html -- mpiexec -n 64
  forebay probe /scratch/me --resume -- mpiexec -n 64      go on after it was killed
  forebay probe --simulate lustre-96-ost -o model.toml     a simulated machine
  forebay probe --simulate lustre-96-ost nodes=8 sick_target=5 sick_slower=8
  forebay probe --simulate lustre-96-ost --formulas        the same machine in a second

\b
What it takes is bounded, and said before it begins:
  --level quick, standard, deep    60, 120, 240 probes; more find more
  --seconds N                      all together (300, 600, 1200)
  --bytes SIZE                     written, all together (200g, 500g, 1t)
  --share 1%                       of the free space, and of what is left of your quota, that
                                   these bytes may be
  --files N                        made, all together (100000)
With --dry-run it is only said (with --format json, as JSON). No rank is started for that: on how
many nodes they run, and how many targets Lustre has in all, is known when probing begins.

\b
What makes a measurement misleading is dealt with:
  drift      the default is probed again and again; what all probes of a time have in common is
             taken out
  caches     reads that are as fast as memory and faster than writing do not count, and are told
  stragglers fits are robust; intervals are wide where probes disagree
  nothing    where probes explain nothing, it says so: keep the default

With --simulate nothing is measured. Each probe is two runs of `forebay simulate --independent`,
whose KEY=VALUE change the machine; where that is not built, or with --formulas, formulas over the
platform's numbers are asked instead. Half a minute or more for a machine of 8192 ranks.

\b
Exit status:
  0    probed (or estimated)
  1    not probed: the message says why; a journal is kept if there was anything to keep
  2    wrong option
  125  Forebay is incomplete: its native programs, or numpy, are missing
  143  and others of 128+n: ended by a signal; --resume goes on, --clean takes the rest away
"""

_PILOT_SECONDS_MAX = 60.0
_SECONDS = {"quick": 300, "standard": 600, "deep": 1200}
_BYTES = {"quick": "200g", "standard": "500g", "deep": "1t"}


class Level(Enum):
    """What --level takes."""

    QUICK = "quick"
    STANDARD = "standard"
    DEEP = "deep"


def probe(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="DIR -- LAUNCHER...", help="Where, and how ranks are started."),
    ] = None,
    level: Annotated[Level, option("--level", None, "How many probes.")] = Level.QUICK,
    output: Annotated[Path, option("-o --output", "FILE", "The portrait.")] = Path("portrait.toml"),
    html: Annotated[Path | None, option("--html", "FILE", "A page with five pictures.")] = None,
    seconds: Annotated[int | None, option("--seconds", "N", "That it may take.", min=1)] = None,
    bytes_: Annotated[str | None, option("--bytes", "SIZE", "That it may write.")] = None,
    files: Annotated[int, option("--files", "N", "That it may make.", min=1)] = 100_000,
    share: Annotated[str, option("--share", "P", "Of free space and quota, as in 1%.")] = "1%",
    targets: Annotated[int | None, option("--targets", "N", "If not found.", min=1)] = None,
    reads: Annotated[bool, option("--reads", None, "Seek what is best for reading.")] = False,
    seed: Annotated[int, option("--seed", None, "Of the order of probes.", min=0)] = 1,
    simulate: Annotated[
        str | None, option("--simulate", "PLATFORM", "A simulated machine instead of DIR.")
    ] = None,
    formulas: Annotated[
        bool, option("--formulas", None, "With --simulate: do not simulate, compute.")
    ] = False,
    drift: Annotated[str, option("--drift", "P", "Of the simulated machine.")] = "10%",
    dry_run: Annotated[
        bool, option("--dry-run", None, "Only say what it takes; start and make nothing.")
    ] = False,
    resume: Annotated[bool, option("--resume", None, "Go on with the journal.")] = False,
    clean: Annotated[
        bool, option("--clean", None, "Remove the journal, and files that were left.")
    ] = False,
    form: FormatOption = Format.TEXT,
) -> None:
    """Probes and writes the portrait."""
    journal_path = output.with_name(output.name + ".journal")
    if clean:
        _clean(journal_path)
        return
    asked = _Asked(
        words=words or [],
        simulate=simulate,
        formulas=formulas,
        journal=journal_path,
        resume=resume,
        targets=targets,
        drift=_share(drift, "--drift"),
    )
    request = ProbeRequest(
        level=level.value,
        budget=Budget(
            seconds=seconds or _SECONDS[level.value],
            bytes=size(bytes_ or _BYTES[level.value], "--bytes"),
            files=files,
            share=_share(share, "--share"),
        ),
        seed=seed,
        direction=Direction.READ if reads else Direction.WRITE,
    )
    if dry_run:
        plan = _dry_plan(asked, request, html)
        print(json_pretty(_estimate_json(plan)) if form is Format.JSON else _estimate(plan))
        return
    portrait = _portrait(asked, request, html)
    write_portrait(portrait, output)
    journal_path.unlink(missing_ok=True)
    if html is not None:
        PortraitPages().write(portrait, html)
    text = json_pretty(as_json(portrait)) if form is Format.JSON else as_text(portrait, output)
    print(printable_lines(text))


@frozen
class _Asked:
    """What is to be probed, and how."""

    words: list[str]
    simulate: str | None
    formulas: bool
    journal: Path
    resume: bool
    targets: int | None
    drift: float

    @property
    def goes_on(self) -> bool:
        """With what an earlier run has begun."""
        return self.resume and self.journal.exists() and not is_blank(self.journal)


def _dry_plan(asked: _Asked, request: ProbeRequest, html: Path | None) -> ProbePlan:
    """What would be done, as far as can be told without starting or making anything."""
    if html is not None:
        PortraitPages().check(html)
    system, _ = _system(asked, request, only_look=True)
    return plan_probe(_resumed(asked, request), system)


def _resumed(asked: _Asked, request: ProbeRequest) -> ProbeRequest:
    if asked.goes_on:
        return replace(request, probe_bytes=begun(asked.journal).probe_bytes)
    return request


def _portrait(asked: _Asked, request: ProbeRequest, html: Path | None) -> Portrait:
    _require_numpy()
    if html is not None:
        PortraitPages().check(html)
    system, journal = _system(asked, request)
    plan = _plan(_resumed(asked, request), system, journal)
    print(_estimate(plan), file=sys.stderr)
    try:
        return carry_out_probe(plan, system, journal, told=_Told(plan.estimate.probes))
    finally:  # where it failed, the journal stays, for --resume
        if isinstance(system, RealSystem):
            system.clean()


def _plan(request: ProbeRequest, system: System, journal: Journal) -> ProbePlan:
    """With the place in the journal before there are files: wherever it is killed, --clean knows
    them."""
    if not (isinstance(system, RealSystem) and isinstance(journal, ProbeJournal)):
        return plan_probe(request, system)
    journal.place(system.directory.absolute(), system.results)
    try:
        return plan_probe(request, system)
    except BaseException as error:
        if not (isinstance(error, HangError) and system.has_made_folder):
            journal.withdraw()
        raise


def _require_numpy() -> None:
    """Everything else works without it, so what needs it is not imported above."""
    try:
        importlib.import_module("numpy")
    except ImportError as error:
        raise SetupError(
            "cannot probe (numpy is not installed). Install what it needs: pip install numpy."
        ) from error


def _system(
    asked: _Asked, request: ProbeRequest, *, only_look: bool = False
) -> tuple[System, Journal]:
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
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


def _modelled(asked: _Asked, name: str, request: ProbeRequest, date: str) -> System:
    """The simulator, or formulas where it is not built."""
    native = NativeSimulator()
    platform = read_platform(Path(native.platform(name)))
    drift = asked.drift
    if not asked.formulas and _is_built(native):
        weather = (f"drift={drift}", f"noise={drift / 5}", f"stragglers={drift / 100}")
        what = Simulated(
            name=name,
            platform=changed_by(platform, asked.words),
            words=(*weather, *asked.words),
            seed=request.seed,
            forebay=__version__,
            date=date,
            level=request.level,
        )
        return SimulatedSystem(what, native)
    if asked.words:
        raise UsageError(
            f'"{asked.words[0]}" is one word too many (formulas know nothing but the platform). '
            "Leave it out."
        )
    return ModelledSystem(
        platform,
        weather=Weather(drift=drift, noise=drift / 5, stragglers=drift / 3),
        seed=request.seed,
        forebay=__version__,
        date=date,
        level=request.level,
    )


def _is_built(native: NativeSimulator) -> bool:
    try:
        native.program()
    except SetupError as error:
        print(
            f"forebay: {printable_lines(str(error))} Formulas are asked instead.", file=sys.stderr
        )
        return False
    return True


def _share(text: str, option: str) -> float:
    number, percent, rest = text.strip().partition("%")
    try:
        value = float(number) / (100 if percent else 1)
    except ValueError:
        value = -1.0
    if rest or not 0 <= value <= 1:
        raise UsageError(f'{option} cannot be "{text}" (it is no share). Write it as in 1%.')
    return value


def _clean(journal: Path) -> None:
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


def _estimate(plan: ProbePlan) -> str:
    estimate, identity = plan.estimate, plan.ground.identity
    targets = counted(identity.targets, "target")
    ranks = f"{counted(identity.nodes, 'node')} × {counted(identity.ranks_per_node, 'rank')}"
    if Unknown.RANKS in plan.ground.unknown:
        ranks = "as many ranks as the launcher starts"
    elif Unknown.NODES in plan.ground.unknown:
        ranks = f"{counted(identity.ranks_per_node, 'rank')}, on how many nodes is not known yet"
    return (
        f"{printable_name(identity.directory)} ({printable(identity.file_system)}, {targets}, "
        f"{ranks}): at most "
        f"{estimate.probes} probes in {estimate.seconds:.0f} s, {human_bytes(estimate.bytes)} "
        f"written, {human_bytes(plan.space.bytes_max)} at a time, "
        f"{counted(estimate.files, 'file')}; all are removed. The limit of bytes is "
        f"{estimate.limit}"
    )


def _estimate_json(plan: ProbePlan) -> Any:
    """The schema forebay.probe.estimate/1; null is what only a run of the launcher would tell."""
    estimate, identity, unknown = plan.estimate, plan.ground.identity, plan.ground.unknown
    ranks = identity.nodes * identity.ranks_per_node
    return {
        "schema": "forebay.probe.estimate/1",
        "directory": identity.directory,
        "file_system": identity.file_system,
        "targets": identity.targets,
        "nodes": None if Unknown.NODES in unknown else identity.nodes,
        "ranks": None if Unknown.RANKS in unknown else ranks,
        "probes": estimate.probes,
        "seconds": estimate.seconds,
        "bytes": estimate.bytes,
        "bytes_limit": estimate.limit,
        "bytes_at_a_time": plan.space.bytes_max,
        "files": estimate.files,
    }


class _Told:
    """Says each probe on standard error."""

    def __init__(self, probes: int) -> None:
        self._probes = probes

    def __call__(self, number: int, sample: Sample) -> None:
        point = sample.ask.point
        text = (
            f"{point.processes} × {exact_bytes(point.process_bytes)}, {point.per_node} a node, "
            f"calls of {exact_bytes(point.transfer_bytes)}, {point.stripe_count} × "
            f"{exact_bytes(point.stripe_bytes)} stripes, "
            f"{'one file' if point.shared else 'a file each'}"
        )
        came = sample.discarded or ", ".join(
            f"{name} {human_bytes(int(one.rate))}/s"
            for name, one in (("write", sample.write), ("read", sample.read))
            if one is not None
        )
        cached = " (from a cache)" if sample.cached else ""
        print(
            f"{number + 1}/{self._probes} {sample.ask.purpose}: {text}: {came}{cached}",
            file=sys.stderr,
        )


def attach(app: typer.Typer) -> None:
    """Puts `probe` into the command."""
    app.command("probe", help=HELP, short_help="Find out what a file system likes.")(probe)
