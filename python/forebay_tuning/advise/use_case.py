"""Use case: advice on each direction of a program's I/O, from its log, its command or a
description."""

from __future__ import annotations

import contextlib
import datetime
import math
from dataclasses import replace
from pathlib import Path

from forebay import __version__
from forebay.bench.model.program_words import FlagLetters
from forebay.common.model.errors import EvidenceError, UsageError
from forebay.common.model.frozen import frozen
from forebay.ports import Machine
from forebay_tuning.advise.model.advice import Advice, Lever, Question, advise
from forebay_tuning.advise.model.rules import Rule
from forebay_tuning.model.evidence import Workload, checked, from_command
from forebay_tuning.model.portrait import Here, Portrait, SickTarget, doubts
from forebay_tuning.model.program_io import workloads_of
from forebay_tuning.report.use_case import Sources, diagnose_file

_RANKS_PER_NODE_USUAL = 32


@frozen
class AdviseRequest:
    """The program is what `log` or `command` says, else what `words` do. `ranks`, `nodes`,
    `directory` and `stripes`: as asked for; None: as found, or unknown. `letters`: those of
    options without a value in `command`."""

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
    """What is known of the program."""

    workloads: tuple[Workload, ...]
    sick: tuple[SickTarget, ...] = ()
    notes: tuple[str, ...] = ()
    untroubled: bool = False


def advise_on(request: AdviseRequest, sources: Sources, machine: Machine) -> tuple[Advice, ...]:
    """EvidenceError: the log tells nothing; UsageError: too little is said."""
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
        )
        for one in told.workloads
    ]
    return tuple(_with_notes(advise(one), notes) for one in questions)


def _with_notes(advice: Advice, notes: tuple[str, ...]) -> Advice:
    return replace(advice, notes=(*advice.notes, *notes))


def _placed(workload: Workload, directory: str | None, stripes: int | None) -> Workload:
    return replace(
        workload,
        directory=directory or workload.directory,
        stripe_count=stripes or workload.stripe_count,
    )


def usual_nodes(ranks: int, portrait: Portrait | None) -> int:
    """On how many nodes so many ranks are likely to be."""
    each = _RANKS_PER_NODE_USUAL if portrait is None else portrait.identity.ranks_per_node
    return max(1, math.ceil(ranks / each))


def _told(request: AdviseRequest, sources: Sources) -> _Told:
    """From where the user said."""
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
        raise EvidenceError(
            f"{log} tells of no bytes that were moved (by calls that it sees). Take the log of "
            "another run, or describe the program in words: --ranks, --bytes."
        )
    notes = (
        ()
        if program.nodes or request.nodes
        else (f"the log does not say on how many nodes: {on}?",)
    )
    return _Told(
        workloads=workloads,
        sick=diagnosis.sick,
        notes=notes,
        untroubled=not diagnosis.troubles,
    )


def _doubts(request: AdviseRequest, machine: Machine) -> tuple[str, ...]:
    """Whether the portrait is of the file system that the program writes to, as far as that can be
    seen from here."""
    portrait, directory = request.portrait, request.directory
    if portrait is None:
        return ()
    today = datetime.datetime.now(datetime.UTC).date()
    here = Here(forebay=__version__, date=today)
    if directory is not None:
        with contextlib.suppress(UsageError):  # compute nodes may see what is not here
            facts = machine.directory(Path(directory))
            here = replace(
                here,
                directory=directory,
                file_system=facts.file_system,
                mount_point=str(facts.mount_point),
                source=facts.device,
            )
    return doubts(portrait.identity, here)
