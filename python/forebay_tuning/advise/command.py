"""`forebay advise`: parse → advise → render."""

import contextlib
import datetime
import math
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from forebay import __version__
from forebay.common.files.machine import LocalMachine
from forebay.common.files.record_file import RecordFiles
from forebay.common.files.safe_files import write_named
from forebay.common.model.errors import EvidenceError, UsageError
from forebay.common.model.frozen import frozen
from forebay.common.model.printable import printable_lines
from forebay.common.options import option
from forebay.common.report.output import Format, FormatOption, json_pretty
from forebay_tuning.advise.files.advice_file import advice_document, write_advice
from forebay_tuning.advise.files.rules_file import read_rules
from forebay_tuning.advise.model.advice import Advice, Lever, Question, advise
from forebay_tuning.advise.model.ready import HINTS_NAME, SETTINGS_NAME, Ready, chosen, ready
from forebay_tuning.advise.model.rules import USUAL, Rule
from forebay_tuning.advise.report.page import AdvicePages
from forebay_tuning.advise.report.text import as_text
from forebay_tuning.model.evidence import Workload, checked, from_command, size
from forebay_tuning.model.point import Direction
from forebay_tuning.model.portrait import Here, Portrait, SickTarget, doubts
from forebay_tuning.model.program_io import workloads_of
from forebay_tuning.probe.files.portrait_file import read_portrait
from forebay_tuning.report.files.darshan_log import DarshanLogs
from forebay_tuning.report.use_case import Sources, diagnose_file

HELP = """Say how a program should do its I/O on a file system, and what that would gain.

What is known of the file system is its portrait (`forebay probe`); without one, rules of thumb
decide and no gain is predicted. What is known of the program is one of:

\b
  --darshan LOG          a Darshan log (needs `pip install darshan`)
  --record FILE          a record of `forebay run --record`
  --command LINE         an ior or hpio command line
  --ranks N --bytes SIZE and more words, below

\b
Examples:
  forebay advise --portrait scratch.toml --ranks 8192 --nodes 256 --bytes 512g --collective
  forebay advise --portrait scratch.toml --command 'mpiexec -n 64 ior -a MPIIO -c -t 4m -b 256m'
  forebay advise --portrait scratch.toml --darshan job.darshan --html advice.html
  forebay advise --portrait scratch.toml --ranks 4096 --nodes 128 --bytes 2g --read --same-bytes
  forebay advise --portrait scratch.toml --record run.jsonl -o advice.json --ready .

Each answer has the gain that is predicted with its interval, the reasons, and what rules ask for
instead. To keep everything is an answer: gains below 5 % are not worth a change. What is in -o is
for `forebay apply` and `forebay verify`: a prediction is not a proof.

By default only that is advised what an unmodified program can be given: the layout of its files,
and, where its calls are collective, aggregators and buffers. --may-change program adds what its
authors could change.

\b
Exit status:
  0    advised (to keep everything, too)
  1    portrait, log or record cannot be read
  2    wrong option
  125  PyDarshan, or what --html draws with, is missing
"""

_RANKS_PER_NODE_USUAL = 32


@frozen
class _Told:
    """What is known of the program."""

    workloads: tuple[Workload, ...]
    sick: tuple[SickTarget, ...] = ()
    notes: tuple[str, ...] = ()
    untroubled: bool = False


OptionalPath = Path | None


def advise_command(
    portrait: Annotated[OptionalPath, option("--portrait", "FILE", "Of the file system.")] = None,
    darshan: Annotated[OptionalPath, option("--darshan", "LOG", "A log of the program.")] = None,
    record: Annotated[OptionalPath, option("--record", "FILE", "Of `forebay run`.")] = None,
    command: Annotated[str | None, option("--command", "LINE", "Of ior or hpio.")] = None,
    ranks: Annotated[int | None, option("--ranks", "N", "Of the program.", min=1)] = None,
    nodes: Annotated[int | None, option("--nodes", "N", "That they are on.", min=1)] = None,
    bytes_: Annotated[str | None, option("--bytes", "SIZE", "Of all files together.")] = None,
    files: Annotated[int, option("--files", "N", "Files; 1: all ranks share it.", min=1)] = 1,
    transfer: Annotated[str | None, option("--transfer", "SIZE", "Of a call.")] = None,
    read: Annotated[bool, option("--read", None, "It reads; else it writes.")] = False,
    same_bytes: Annotated[
        bool, option("--same-bytes", None, "Every rank reads all of the file.")
    ] = False,
    collective: Annotated[
        bool, option("--collective", None, "Its calls are collective MPI-IO.")
    ] = False,
    stripes: Annotated[int | None, option("--stripes", "N", "Of its files now.", min=1)] = None,
    rules: Annotated[list[Path] | None, option("--rules", "FILE", "Of the site, TOML.")] = None,
    may_change: Annotated[
        list[str] | None, option("--may-change", "WHAT", "`program`: its authors would help.")
    ] = None,
    directory: Annotated[str | None, option("--output-dir", "DIR", "Where its files go.")] = None,
    output: Annotated[OptionalPath, option("-o --output", "FILE", "For apply and verify.")] = None,
    html: Annotated[OptionalPath, option("--html", "FILE", "A page.")] = None,
    ready_in: Annotated[
        OptionalPath, option("--ready", "DIR", "Write forebay.toml and romio.hints there.")
    ] = None,
    form: FormatOption = Format.TEXT,
) -> None:
    """Advises on each direction of the program's I/O."""
    if html is not None:
        AdvicePages().check(html)
    _check_sources(darshan, record, command, bytes_)
    known = None if portrait is None else read_portrait(portrait)
    words = Workload(
        direction=Direction.READ if read else Direction.WRITE,
        ranks=ranks or 1,
        nodes=nodes or _nodes(ranks or 1, known),
        file_bytes=max(1, size(bytes_ or "1", "--bytes") // files),
        files=files,
        shared=files == 1,
        transfer_bytes=None if transfer is None else size(transfer, "--transfer"),
        collective=collective,
        same_bytes=same_bytes,
        stripe_count=stripes,
    )
    told = _told(darshan or record, command, words, ranks, nodes, known)
    told = replace(
        told,
        workloads=tuple(_placed(one, directory, stripes) for one in told.workloads),
        notes=(*told.notes, *_doubts(known, directory)),
    )
    every = tuple(one for path in rules or () for one in read_rules(path))
    advice = _advice(told, known, (*every, *USUAL), _allowed(may_change or []))
    _give(advice, form, _Outputs(advice=output, ready=ready_in, html=html))


@frozen
class _Outputs:
    """Files to be written."""

    advice: Path | None
    ready: Path | None
    html: Path | None


def _check_sources(*sources: object) -> None:
    given = sum(one is not None for one in sources)
    if given != 1:
        raise UsageError(
            "say once what the program does (one of --darshan, --record, --command, or --ranks "
            f"with --bytes; there are {given} of them). See forebay advise --help."
        )


def _advice(
    told: _Told, known: Portrait | None, rules: tuple[Rule, ...], allowed: frozenset[Lever]
) -> tuple[Advice, ...]:
    questions = [
        Question(
            workload=one,
            portrait=known,
            rules=rules,
            allowed=allowed,
            sick=told.sick,
            untroubled=told.untroubled,
        )
        for one in told.workloads
    ]
    return tuple(_with_notes(advise(one), told.notes) for one in questions)


def _give(advice: tuple[Advice, ...], form: Format, outputs: _Outputs) -> None:
    """On standard output, and in files."""
    where = next((one.workload.directory for one in advice if one.workload.directory), None)
    made = [
        ready(
            one,
            directory=where or "OUTPUT_DIR",
            command=_launch(one),
            file="" if outputs.advice is None or one is not chosen(advice) else str(outputs.advice),
        )
        for one in advice
    ]
    if outputs.advice is not None:
        write_advice(advice, outputs.advice)
    if outputs.ready is not None:
        _write_ready(made, outputs.ready)
    if form is Format.JSON:
        print(json_pretty(advice_document(advice)))
    else:
        text = "\n\n".join(as_text(one, its) for one, its in zip(advice, made, strict=True))
        print(printable_lines(text))
    if outputs.html is not None:
        AdvicePages().write(advice, made, outputs.html)


def _launch(advice: Advice) -> str:
    return f"mpiexec -n {advice.workload.ranks} ./program"


def _with_notes(advice: Advice, notes: tuple[str, ...]) -> Advice:
    return replace(advice, notes=(*advice.notes, *notes))


def _placed(workload: Workload, directory: str | None, stripes: int | None) -> Workload:
    return replace(
        workload,
        directory=directory or workload.directory,
        stripe_count=stripes or workload.stripe_count,
    )


def _nodes(ranks: int, portrait: Portrait | None) -> int:
    each = _RANKS_PER_NODE_USUAL if portrait is None else portrait.identity.ranks_per_node
    return max(1, math.ceil(ranks / each))


def _told(
    log: Path | None,
    command: str | None,
    words: Workload,
    ranks: int | None,
    nodes: int | None,
    portrait: Portrait | None,
) -> _Told:
    """From where the user said."""
    if command is not None:
        found = from_command(command, ranks=ranks, nodes=nodes)
        if nodes is None:
            found = tuple(replace(one, nodes=_nodes(one.ranks, portrait)) for one in found)
        return _Told(workloads=found)
    if log is None:
        if ranks is None:
            raise UsageError("--ranks is missing (how many ranks has the program?). Say it.")
        return _Told(workloads=(checked(words),))
    if not log.is_file():
        raise EvidenceError(f"there is no file {log} (or it is a directory). Name a log or record.")
    diagnosis = diagnose_file(log, Sources(logs=DarshanLogs(), records=RecordFiles()))
    program = diagnosis.program
    on = nodes or program.nodes or _nodes(program.ranks, portrait)
    workloads = workloads_of(program, nodes=on)
    if not workloads:
        raise EvidenceError(
            f"{log} tells of no bytes that were moved (by calls that it sees). Take the log of "
            "another run, or describe the program in words: --ranks, --bytes."
        )
    notes = () if program.nodes or nodes else (f"the log does not say on how many nodes: {on}?",)
    return _Told(
        workloads=workloads,
        sick=diagnosis.sick,
        notes=notes,
        untroubled=not diagnosis.troubles,
    )


def _doubts(portrait: Portrait | None, directory: str | None) -> tuple[str, ...]:
    """Whether the portrait is of the file system that the program writes to, as far as that can be
    seen from here."""
    if portrait is None:
        return ()
    today = datetime.datetime.now(datetime.UTC).date()
    here = Here(forebay=__version__, date=today)
    if directory is not None:
        with contextlib.suppress(UsageError):  # compute nodes may see what is not here
            facts = LocalMachine().directory(Path(directory))
            here = replace(
                here,
                directory=directory,
                file_system=facts.file_system,
                mount_point=str(facts.mount_point),
                source=facts.device,
            )
    return doubts(portrait.identity, here)


def _allowed(words: list[str]) -> frozenset[Lever]:
    known = {one.value: one for one in Lever}
    for word in words:
        if word not in known:
            raise UsageError(
                f'--may-change cannot be "{word}" (there are {", ".join(known)}). Use one of them.'
            )
    return frozenset({Lever.LAYOUT, Lever.SETTINGS, *(known[word] for word in words)})


def _write_ready(made: list[Ready], folder: Path) -> None:
    """The first advice that has something to write: a program has one settings file."""
    for name, text in (
        (SETTINGS_NAME, next((one.settings for one in made if one.settings), "")),
        (HINTS_NAME, next((one.hints for one in made if one.hints), "")),
    ):
        try:
            write_named(folder / name, text)
        except OSError as error:
            raise UsageError(
                f"cannot write {folder / name} ({error.strerror}). Give --ready a folder that can "
                "be written."
            ) from error


def attach(app: typer.Typer) -> None:
    """Puts `advise` into the command."""
    app.command("advise", help=HELP, short_help="How a program should do its I/O here.")(
        advise_command
    )
