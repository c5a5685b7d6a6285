"""`forebay probe`: parses the command line, probes, writes and prints the portrait."""

import importlib
import sys
from pathlib import Path
from typing import Annotated, Optional

import typer

from forebay.common.model.errors import SetupError, UsageError
from forebay.common.model.newer_python import StrEnum
from forebay.common.model.output_format import Format
from forebay.common.model.printable import printable_lines
from forebay.common.options import FormatOption, option
from forebay.common.report.output import json_pretty
from forebay_tuning.model.evidence import size
from forebay_tuning.model.point import Direction
from forebay_tuning.model.portrait import Portrait
from forebay_tuning.probe import SHORT_HELP
from forebay_tuning.probe.files.measuring_program import RealSystem
from forebay_tuning.probe.files.portrait_file import write_portrait
from forebay_tuning.probe.report.estimate import Told, estimate_json, estimate_text
from forebay_tuning.probe.report.page import PortraitPages
from forebay_tuning.probe.report.text import as_json, as_text
from forebay_tuning.probe.use_case.probe import (
    Budget,
    ProbePlan,
    ProbeRequest,
    carry_out_probe,
    plan_probe,
)
from forebay_tuning.probe.world import SystemOptions, clean_up, planned, resumed, system_of

HELP = """Find out what a file system likes, and keep that as its portrait.

Runs forebay-ior below DIR, by the launcher that you give, with varying numbers of processes,
sizes of transfers, and layouts; fits how the file system responds; and races the best against the
default; then counts how many files forebay-meta creates and opens in a second. The portrait is a
TOML file that `forebay advise` reads. No root is needed. Files are removed after each probe.

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

_SECONDS = {"quick": 300, "standard": 600, "deep": 1200}
_BYTES = {"quick": "200g", "standard": "500g", "deep": "1t"}


class Level(StrEnum):
    """The values of --level."""

    QUICK = "quick"
    STANDARD = "standard"
    DEEP = "deep"


_Number = Optional[int]


def probe(
    words: Annotated[
        Optional[list[str]],
        typer.Argument(metavar="DIR -- LAUNCHER...", help="Where, and how ranks are started."),
    ] = None,
    level: Annotated[Level, option("--level", None, "How many probes.")] = Level.QUICK,
    output: Annotated[Path, option("-o --output", "FILE", "The portrait.")] = Path("portrait.toml"),
    html: Annotated[Optional[Path], option("--html", "FILE", "A page with five pictures.")] = None,
    seconds: Annotated[_Number, option("--seconds", "N", "Seconds it may take.", min=1)] = None,
    bytes_: Annotated[Optional[str], option("--bytes", "SIZE", "Bytes it may write.")] = None,
    files: Annotated[int, option("--files", "N", "Files it may create.", min=1)] = 100_000,
    share: Annotated[
        str, option("--share", "P", "Share of free space and quota, as in 1%.")
    ] = "1%",
    targets: Annotated[_Number, option("--targets", "N", "Targets, if not found.", min=1)] = None,
    reads: Annotated[bool, option("--reads", None, "Seek what is best for reading.")] = False,
    seed: Annotated[int, option("--seed", None, "Seed of the order of probes.", min=0)] = 1,
    simulate: Annotated[
        Optional[str], option("--simulate", "PLATFORM", "A simulated machine instead of DIR.")
    ] = None,
    formulas: Annotated[
        bool, option("--formulas", None, "With --simulate: do not simulate, compute.")
    ] = False,
    drift: Annotated[str, option("--drift", "P", "Drift of the simulated machine.")] = "10%",
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
        clean_up(journal_path)
        return
    asked = SystemOptions(
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
        print(json_pretty(estimate_json(plan)) if form is Format.JSON else estimate_text(plan))
        return
    portrait = _portrait(asked, request, html)
    write_portrait(portrait, output)
    journal_path.unlink(missing_ok=True)
    if html is not None:
        PortraitPages().write(portrait, html)
    text = json_pretty(as_json(portrait)) if form is Format.JSON else as_text(portrait, output)
    print(printable_lines(text))


def _dry_plan(asked: SystemOptions, request: ProbeRequest, html: Optional[Path]) -> ProbePlan:
    """The plan, as far as it is known without starting or creating anything."""
    if html is not None:
        PortraitPages().check(html)
    system, _ = system_of(asked, request, only_look=True)
    return plan_probe(resumed(asked, request), system)


def _portrait(asked: SystemOptions, request: ProbeRequest, html: Optional[Path]) -> Portrait:
    _require_numpy()
    if html is not None:
        PortraitPages().check(html)
    system, journal = system_of(asked, request)
    plan = planned(resumed(asked, request), system, journal)
    print(estimate_text(plan), file=sys.stderr)
    try:
        told = Told(plan.estimate.probes + plan.estimate.long_passages)
        return carry_out_probe(plan, system, journal, told=told)
    finally:  # on a failure the journal is kept for --resume; other files are removed
        if isinstance(system, RealSystem):
            system.clean()


def _require_numpy() -> None:
    """Raises SetupError if numpy is missing. Nothing else needs it, so it is not imported above."""
    try:
        importlib.import_module("numpy")
    except ImportError as error:
        raise SetupError(
            "cannot probe (numpy is not installed). Install what it needs: pip install numpy."
        ) from error


def _share(text: str, option: str) -> float:
    number, percent, rest = text.strip().partition("%")
    try:
        value = float(number) / (100 if percent else 1)
    except ValueError:
        value = -1.0
    if rest or not 0 <= value <= 1:
        raise UsageError(f'{option} cannot be "{text}" (it is no share). Write it as in 1%.')
    return value


def attach(app: typer.Typer) -> None:
    """Adds the subcommand `probe` to `app`."""
    app.command("probe", help=HELP, short_help=SHORT_HELP)(probe)
