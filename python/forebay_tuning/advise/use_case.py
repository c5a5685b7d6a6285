"""Use case: advise on each direction of a program's I/O, from its log or record, its command line,
or a description."""

from __future__ import annotations

import contextlib
import datetime
import shlex
from dataclasses import replace
from pathlib import Path

from forebay import __version__
from forebay.bench.model.program_words import FlagLetters
from forebay.common.model.errors import EvidenceError, UsageError
from forebay.common.model.frozen import frozen
from forebay.common.model.units import counted
from forebay.machine_ports import Machine
from forebay_tuning.advise.model.advice import Advice, Lever, Question
from forebay_tuning.advise.model.directions import advise_all
from forebay_tuning.advise.model.io_ranks import worth_io_ranks
from forebay_tuning.advise.model.rules import Rule
from forebay_tuning.model.evidence import Workload, checked, from_command
from forebay_tuning.model.portrait import Here, Portrait, doubts
from forebay_tuning.model.present import usual_nodes
from forebay_tuning.model.program_workloads import workloads_of
from forebay_tuning.model.targets import SickTarget
from forebay_tuning.report.model.claims import CauseKind
from forebay_tuning.report.model.diagnosis import KEEP_MOST, ProgramDiagnosis
from forebay_tuning.report.use_case import Sources, diagnose_file

_NO_PORTRAIT = "keep: there is no portrait"


@frozen
class AdviseRequest:
    """The input. The program is described by `log` or `command`, else by `words`. `ranks`, `nodes`,
    `directory` and `stripes` override what is found; None if not given. `letters` are the options
    in `command` that take no value."""

    words: Workload
    log: Path | None
    command: str | None
    ranks: int | None
    nodes: int | None
    directory: str | None
    stripes: int | None
    portrait: Portrait | None
    rules: tuple[Rule, ...]
    allowed: frozenset[Lever]
    letters: FlagLetters


@frozen
class _Told:
    """The description of the program that was found."""

    workloads: tuple[Workload, ...]
    sick: tuple[SickTarget, ...] = ()
    notes: tuple[str, ...] = ()
    untroubled: bool = False
    keeps_stripes: bool = False
    held_back: str = ""


def advise_on(request: AdviseRequest, sources: Sources, machine: Machine) -> tuple[Advice, ...]:
    """Advice for each direction, none of which contradicts another. Raises EvidenceError if the log
    shows nothing, and UsageError if the description is incomplete."""
    told = _told(request, sources)
    notes = (*told.notes, *_doubts(request, machine))
    questions = [
        Question(
            workload=_placed(one, request.directory, request.stripes),
            portrait=request.portrait,
            rules=request.rules,
            allowed=request.allowed,
            sick=told.sick,
            untroubled=told.untroubled,
            keeps_stripes=told.keeps_stripes,
        )
        for one in told.workloads
    ]
    return tuple(
        _with_notes(_held_back(one, told), (*extrapolated(one.workload, request.portrait), *notes))
        for one in advise_all(questions)
    )


def _held_back(advice: Advice, told: _Told) -> Advice:
    """Advice that changes nothing, with what held the program back nevertheless, if the log shows
    that; without a trouble, only where no portrait says that the file system does no better. Rules
    of thumb that change something do not know what held it back, so it is told beside them."""
    if not told.held_back or (told.untroubled and advice.portrait):
        return advice
    if not advice.keeps:
        beside = f"in the log, {told.held_back}; rules of thumb do not look at that."
        return replace(
            advice, reasons=advice.reasons if advice.portrait else (*advice.reasons, beside)
        )
    reasons = advice.reasons
    if not advice.portrait:
        kept = (one for one in reasons if not one.startswith(_NO_PORTRAIT))
        reasons = (*kept, "there is no portrait of this file system: `forebay probe` makes one.")
    return replace(advice, held_back=told.held_back, reasons=reasons)


def extrapolated(workload: Workload, portrait: Portrait | None) -> tuple[str, ...]:
    """Notes on a prediction for more nodes than were probed; none if it is for no more."""
    if portrait is None or portrait.identity.is_modelled:
        return ()
    probed = portrait.identity.nodes
    if workload.nodes <= probed:
        return ()
    launched = f"on {counted(workload.nodes, 'node')}"
    return (
        f"this is extrapolated from {counted(probed, 'node')} to {workload.nodes} (the portrait "
        f"was measured on {counted(probed, 'node')}: how nodes share servers and network was not "
        f"seen, and the interval does not know of it). Probe {launched}, or have `forebay verify` "
        f"prove it {launched}.",
    )


def _with_notes(advice: Advice, notes: tuple[str, ...]) -> Advice:
    return replace(advice, notes=(*advice.notes, *notes))


def _placed(workload: Workload, directory: str | None, stripes: int | None) -> Workload:
    return replace(
        workload,
        directory=directory or workload.directory,
        stripe_count=stripes or workload.stripe_count,
    )


def _told(request: AdviseRequest, sources: Sources) -> _Told:
    """The description of the program, from the source that the user chose."""
    nodes, portrait = request.nodes, request.portrait
    if request.command is not None:
        found = from_command(
            request.command, ranks=request.ranks, nodes=nodes, letters=request.letters
        )
        if nodes is None:
            found = tuple(replace(one, nodes=usual_nodes(one.ranks, portrait)) for one in found)
        return _Told(workloads=found)
    if request.log is None:
        if request.ranks is None:
            raise UsageError("--ranks is missing (how many ranks has the program?). Say it.")
        return _Told(workloads=(checked(request.words),))
    return _logged(request.log, request, sources)


def _logged(log: Path, request: AdviseRequest, sources: Sources) -> _Told:
    if not log.is_file():
        raise EvidenceError(f"there is no file {log} (or it is a directory). Name a log or record.")
    diagnosis = diagnose_file(log, sources)
    program = diagnosis.program
    on = request.nodes or program.nodes or usual_nodes(program.ranks, request.portrait)
    workloads = workloads_of(program, nodes=on)
    if not workloads:
        worst = f" What cost most: {diagnosis.troubles[0].title}." if diagnosis.troubles else ""
        raise EvidenceError(
            f"{log} tells of no bytes that were moved (by calls that it sees).{worst} Take the log "
            "of another run, or describe the program in words: --ranks, --bytes."
        )
    notes = (
        *(
            ()
            if program.nodes or request.nodes
            else (f"the log does not say on how many nodes: {on}?",)
        ),
        *worth_io_ranks(program.demand, source=log, nodes=on),
    )
    return _Told(
        workloads=workloads,
        sick=diagnosis.sick,
        notes=notes,
        untroubled=not diagnosis.troubles,
        keeps_stripes=bool(diagnosis.troubles)
        and diagnosis.troubles[0].kind is not CauseKind.METADATA,
        held_back=_words_of(diagnosis, log),
    )


def _words_of(diagnosis: ProgramDiagnosis, log: Path) -> str:
    """Sentences on what held the program back, or that this is not known; none if its I/O is
    healthy."""
    program = diagnosis.program
    if diagnosis.troubles:
        return (
            f"what cost most is: {diagnosis.troubles[0].title} (`forebay report "
            f"{shlex.quote(str(log))}` says what to do)"
        )
    if program.seconds_io > KEEP_MOST * program.seconds > 0:
        return "the log shows no cause of what I/O took, and there is no portrait to compare with"
    return "" if program.is_whole else "the log does not have all I/O"


def _doubts(request: AdviseRequest, machine: Machine) -> tuple[str, ...]:
    """Reasons to doubt that the portrait is of the file system that the program writes to, as far
    as this machine shows."""
    portrait, directory = request.portrait, request.directory
    if portrait is None:
        return ()
    today = datetime.datetime.now(datetime.timezone.utc).date()
    here = Here(forebay=__version__, date=today)
    if directory is not None:
        with contextlib.suppress(UsageError):  # the directory may exist on compute nodes only
            facts = machine.directory(Path(directory))
            here = replace(
                here,
                directory=directory,
                file_system=facts.file_system,
                mount_point=str(facts.mount_point),
                source=facts.device,
            )
    return doubts(portrait.identity, here)
