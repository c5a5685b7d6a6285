"""`forebay doctor`: parses the command line, diagnoses, prints the findings."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Optional

import typer
from rich.console import Console
from rich.text import Text

from forebay.common.model.errors import UsageError
from forebay.common.model.named_path import named_path
from forebay.common.model.output_format import Format
from forebay.common.model.printable import printable, printable_name
from forebay.common.options import FormatOption, option
from forebay.common.report.output import json_pretty, plain
from forebay.doctor import SHORT_HELP
from forebay.doctor.files.bundle_file import LocalBundle, write_bundle
from forebay.doctor.files.site_facts import LocalSite
from forebay.doctor.model.finding import DoctorFinding, Status, Topic, problems
from forebay.doctor.model.site import SiteFacts, networked
from forebay.doctor.report.site_table import site_lines
from forebay.doctor.use_case.bundle import bundle_of
from forebay.doctor.use_case.diagnose import DoctorRequest, SetupDiagnosis, diagnose
from forebay.doctor.use_case.site import settings_of, site_findings, slurm_shown
from forebay.machine_ports import World
from forebay.world import real_world

HELP = """Look at this machine, and say what works and what to do about what does not.

Finds the MPIs, Forebay's own libraries, and the file system and layout of each DIR; starts one
process by each launcher to see whether LD_PRELOAD and FOREBAY_* reach it.

\b
Examples:
  forebay doctor                              this directory
  forebay doctor /scratch/me                  the directory that your program writes to
  forebay doctor /scratch/me /home/me         several
  forebay doctor --program ./program -n 64    can Forebay reach it? are there cores for 64 ranks?
  forebay doctor --format json /scratch       for scripts
  forebay doctor --site /scratch              for those who look after this machine
  forebay doctor --site --bundle report.tar.gz
                                              for a ticket: versions, findings, settings, the last
                                              lines of the record, without names of users, hosts
                                              and files

\b
Exit status:
  0  all is well (notes are no problems)
  1  at least one problem was found
  2  wrong option, no such directory, or the bundle cannot be written
"""

_MARKS = {
    Status.GOOD: ("ok", "green"),
    Status.NOTE: ("note", "cyan"),
    Status.PROBLEM: ("!!", "red"),
}


def doctor(
    directories: Annotated[
        Optional[list[Path]],
        typer.Argument(
            metavar="[DIR]...", help="Where the program's files are.", parser=named_path
        ),
    ] = None,
    program: Annotated[
        Optional[str], option("--program", "PATH", "Look at this executable, too.")
    ] = None,
    ranks: Annotated[
        Optional[int], option("-n", "N", "Ranks that will run on this node.", min=1)
    ] = None,
    site: Annotated[
        bool, option("--site", None, "All that an administrator should know of this node.")
    ] = False,
    bundle: Annotated[
        Optional[Path],
        option(
            "--bundle",
            "FILE",
            "With --site: also a tar.gz without private names.",
            parser=named_path,
        ),
    ] = None,
    form: FormatOption = Format.TEXT,
) -> None:
    """Diagnoses, and exits with 1 if there is a problem."""
    if bundle is not None and not site:
        raise UsageError(
            "cannot make a bundle (it is what --site finds). Say --site --bundle FILE."
        )
    request = DoctorRequest(
        directories=tuple(directories or [Path()]), program=program, ranks=ranks
    )
    world = real_world()
    diagnosis = diagnose(request, world)
    if site:
        diagnosis = _site(diagnosis, world, form, bundle)
    elif form is Format.JSON:
        print(json_pretty(_as_json(diagnosis)))
    else:
        _print(diagnosis)
    raise typer.Exit(1 if problems(diagnosis.findings) else 0)


def _site(
    diagnosis: SetupDiagnosis, world: World, form: Format, bundle: Optional[Path]
) -> SetupDiagnosis:
    """Prints what --site finds, and writes the bundle. Returns the diagnosis with its findings."""
    facts = LocalSite().facts()
    more = site_findings(facts, world)
    whole = replace(diagnosis, findings=(*diagnosis.findings, *more))
    document = {**_as_json(whole), "site": _site_shown(facts)}
    if form is Format.JSON:
        print(json_pretty(document))
    else:
        print("\n".join(site_lines(whole.findings)))
    if bundle is not None:
        files = bundle_of(document, facts, settings_of(world), LocalBundle(), world)
        write_bundle(bundle, files)
        where = printable_name(bundle)
        print(f"{where}: look at it before you give it to anybody", file=sys.stderr)
    return whole


def _site_shown(facts: SiteFacts) -> Any:
    """The facts as JSON, without what names others: local mounts, most of Slurm's configuration."""
    shown = {"mounts": plain(networked(facts.mounts)), "slurm": slurm_shown(facts)}
    return {**plain(facts), **shown}


def _as_json(diagnosis: SetupDiagnosis) -> Any:
    """The diagnosis in the schema forebay.doctor/1."""
    return {
        "schema": "forebay.doctor/1",
        "problems": problems(diagnosis.findings),
        "findings": plain(diagnosis.findings),
        "launchers": plain(diagnosis.launchers),
        "libraries": plain(diagnosis.libraries),
        "directories": [
            {**plain(one.facts), "layout": plain(one.layout)} for one in diagnosis.directories
        ],
        "machine": plain(diagnosis.machine),
    }


def _print(diagnosis: SetupDiagnosis) -> None:
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    for topic in Topic:
        found = [finding for finding in diagnosis.findings if finding.topic is topic]
        if found:
            console.print(Text(topic.value, style="bold"))
            for line in (line for finding in found for line in _lines(finding)):
                console.print(line)
    count = problems(diagnosis.findings)
    ending = "No problem found." if not count else f"{count} to repair (marked !!)."
    console.print(Text(ending, style="bold"))


def _lines(finding: DoctorFinding) -> Iterator[Text]:
    mark, colour = _MARKS[finding.status]
    yield Text.assemble(
        ("  " + mark.ljust(5), colour),
        f"{printable(finding.subject)}: {printable(finding.detail)}",
    )
    if finding.remedy:
        yield Text(f"       → {printable(finding.remedy)}")


def attach(app: typer.Typer) -> None:
    """Adds the subcommand `doctor` to `app`."""
    app.command("doctor", help=HELP, short_help=SHORT_HELP)(doctor)
