"""`forebay advise`: parses the command line, asks for advice, prints and writes it."""

from pathlib import Path
from typing import Annotated, Optional

import typer

from forebay.bench.files import flag_letters
from forebay.common.files.machine import LocalMachine
from forebay.common.files.records import RecordFiles
from forebay.common.files.safe_files import write_named
from forebay.common.model.errors import UsageError
from forebay.common.model.frozen import frozen
from forebay.common.model.newer_python import zip_of
from forebay.common.model.output_format import Format
from forebay.common.model.printable import printable_lines
from forebay.common.options import FormatOption, option
from forebay.common.report.output import json_pretty
from forebay_tuning.advise import SHORT_HELP
from forebay_tuning.advise.files.advice_file import advice_document, write_advice
from forebay_tuning.advise.files.rules_file import read_rules
from forebay_tuning.advise.model.advice import Advice, Lever
from forebay_tuning.advise.model.ready import (
    HINTS_NAME,
    SETTINGS_NAME,
    RenderedAdvice,
    chosen,
    ready,
)
from forebay_tuning.advise.model.rules import USUAL
from forebay_tuning.advise.report.page import AdvicePages
from forebay_tuning.advise.report.text import as_text
from forebay_tuning.advise.use_case import AdviseRequest, advise_on
from forebay_tuning.model.evidence import Workload, size
from forebay_tuning.model.point import Direction
from forebay_tuning.model.present import usual_nodes
from forebay_tuning.probe.files.portrait_file import read_portrait
from forebay_tuning.report.files.darshan_log import DarshanLogs
from forebay_tuning.report.use_case import Sources

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

OptionalPath = Optional[Path]
_Text = Optional[str]


def advise_command(
    portrait: Annotated[
        OptionalPath, option("--portrait", "FILE", "Portrait of the file system.")
    ] = None,
    darshan: Annotated[OptionalPath, option("--darshan", "LOG", "Its Darshan log.")] = None,
    record: Annotated[OptionalPath, option("--record", "FILE", "Record of a run.")] = None,
    command: Annotated[_Text, option("--command", "LINE", "Command line of ior or hpio.")] = None,
    ranks: Annotated[Optional[int], option("--ranks", "N", "The program's ranks.", min=1)] = None,
    nodes: Annotated[Optional[int], option("--nodes", "N", "Nodes of the ranks.", min=1)] = None,
    bytes_: Annotated[_Text, option("--bytes", "SIZE", "Bytes of all files together.")] = None,
    files: Annotated[int, option("--files", "N", "Files; 1: all ranks share it.", min=1)] = 1,
    transfer: Annotated[_Text, option("--transfer", "SIZE", "Bytes of one call.")] = None,
    read: Annotated[bool, option("--read", None, "It reads; else it writes.")] = False,
    same_bytes: Annotated[
        bool, option("--same-bytes", None, "Every rank reads all of the file.")
    ] = False,
    collective: Annotated[
        bool, option("--collective", None, "Its calls are collective MPI-IO.")
    ] = False,
    stripes: Annotated[Optional[int], option("--stripes", "N", "Stripes so far.", min=1)] = None,
    rules: Annotated[
        Optional[list[Path]], option("--rules", "FILE", "The site's own rules, TOML.")
    ] = None,
    may_change: Annotated[
        Optional[list[str]],
        option("--may-change", "WHAT", "`program`: also what its authors could change."),
    ] = None,
    directory: Annotated[_Text, option("--output-dir", "DIR", "Where its files go.")] = None,
    output: Annotated[OptionalPath, option("-o --output", "FILE", "File of the advice.")] = None,
    html: Annotated[OptionalPath, option("--html", "FILE", "A page with pictures.")] = None,
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
        nodes=nodes or usual_nodes(ranks or 1, known),
        file_bytes=max(1, size(bytes_ or "1", "--bytes") // files),
        files=files,
        shared=files == 1,
        transfer_bytes=None if transfer is None else size(transfer, "--transfer"),
        collective=collective,
        same_bytes=same_bytes,
        stripe_count=stripes,
    )
    request = AdviseRequest(
        words=words,
        log=darshan or record,
        command=command,
        ranks=ranks,
        nodes=nodes,
        directory=directory,
        stripes=stripes,
        portrait=known,
        rules=(*(one for path in rules or () for one in read_rules(path)), *USUAL),
        allowed=_allowed(may_change or []),
        letters=flag_letters(),
    )
    sources = Sources(logs=DarshanLogs(), records=RecordFiles())
    advice = advise_on(request, sources, LocalMachine())
    _give(advice, form, _Outputs(advice=output, ready=ready_in, html=html))


@frozen
class _Outputs:
    """The output files that the user asked for; None if not."""

    advice: Optional[Path]
    ready: Optional[Path]
    html: Optional[Path]


def _check_sources(*sources: object) -> None:
    given = sum(one is not None for one in sources)
    if given != 1:
        why = "it is said in several ways" if given else "nothing says it"
        raise UsageError(
            f"it is not known what the program does ({why}). Say it once, by --darshan, --record, "
            "--command, or --ranks with --bytes."
        )


def _give(advice: tuple[Advice, ...], form: Format, outputs: _Outputs) -> None:
    """Prints the advice and writes the requested files."""
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
        text = "\n\n".join(as_text(one, its) for one, its in zip_of(advice, made, strict=True))
        print(printable_lines(text))
    if outputs.html is not None:
        AdvicePages().write(advice, made, outputs.html)


def _launch(advice: Advice) -> str:
    return f"mpiexec -n {advice.workload.ranks} ./program"


def _allowed(words: list[str]) -> frozenset[Lever]:
    known = {one.value: one for one in Lever}
    for word in words:
        if word not in known:
            raise UsageError(
                f'--may-change cannot be "{word}" (there are {", ".join(known)}). Use one of them.'
            )
    return frozenset({Lever.LAYOUT, Lever.SETTINGS, *(known[word] for word in words)})


def _write_ready(made: list[RenderedAdvice], folder: Path) -> None:
    """Writes the settings and hints of the first advice that has some: a program has one file of
    each."""
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
    """Adds the subcommand `advise` to `app`."""
    app.command("advise", help=HELP, short_help=SHORT_HELP)(advise_command)
