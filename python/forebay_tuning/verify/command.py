"""`forebay verify`: parses the command line, runs pairs, prints the verdict."""

import sys
from pathlib import Path
from typing import Annotated, Optional

import typer

from forebay.bench.model.command_line import fraction
from forebay.bench.model.comparison import MARGIN
from forebay.common.model.errors import UsageError
from forebay.common.model.output_format import Format
from forebay.common.model.printable import printable_lines
from forebay.common.options import FormatOption, OutputFolder, option
from forebay.common.report.output import json_pretty
from forebay.world import real_world
from forebay_tuning.advise.files.advice_file import read_advice
from forebay_tuning.advise.model.ready import chosen
from forebay_tuning.apply.command import AdviceFile
from forebay_tuning.apply.files import RealFolders
from forebay_tuning.apply.use_case import PLACE, directory_of
from forebay_tuning.probe.world import simulated_system
from forebay_tuning.verify import SHORT_HELP
from forebay_tuning.verify.files import Timer
from forebay_tuning.verify.model import AdviceVerdict, Verification
from forebay_tuning.verify.report.page import VerificationPages
from forebay_tuning.verify.report.text import as_json, as_text
from forebay_tuning.verify.use_case.verify_advice import Verified, VerifyRequest, verify_advice
from forebay_tuning.verify.use_case.verify_simulated import verify_simulated

HELP = """Prove that advice helps, or find that it does not.

The program runs in pairs, as it is and with the advice, in random order within each pair, inside
one allocation. After 6, 8, 12, 16 and 20 pairs it decides whether enough is known; the level of 5 %
is spent over these decisions, so that deciding often makes no false claims.

\b
  forebay verify advice.json -- srun -n 64 ./program -o {out}/result.nc
  forebay verify advice.json --rate '^write +([0-9.]+)' -- \\
      mpiexec -n 4 forebay-ior -w -t 1m -b 64m -o {out}/f

{out} stands for a directory that is made for each run and removed after it. Without it the program
writes where it always does, in --output-dir: files that a run has made there are removed after it,
since an old file keeps its layout.

Where the advice is to keep everything and the program's calls are collective, the pairs are with
and without Forebay: what `forebay report` estimates of calls that Forebay would take over.

\b
  forebay verify advice.json --simulate lustre-96-ost

That runs the pairs on a simulated machine, whose seconds are virtual: a model, and no proof. Words
behind --, as nodes=4, change it as those of `forebay probe --simulate` do.

\b
Verdicts on the advice:
  improved      certainly faster: its layout stays on the output directory
  worse         certainly slower, or slow runs have become slower: rolled back
  equivalent    the difference is certainly below the margin: rolled back
  inconclusive  neither is certain after all pairs: rolled back
  not applied   nothing of the advice was seen to take effect: rolled back

\b
Exit status:
  0  improved, or equivalent
  1  the advice cannot be read, or it is to keep everything and no calls are collective
  2  wrong option
  3  worse
  4  inconclusive
  5  not applied
  125  what --html draws with is missing
  else that of a run that failed
"""
Words = Annotated[
    Optional[list[str]],
    typer.Argument(metavar="-- COMMAND...", help="The program with its launcher."),
]
_STATUS = {
    AdviceVerdict.IMPROVED: 0,
    AdviceVerdict.EQUIVALENT: 0,
    AdviceVerdict.WORSE: 3,
    AdviceVerdict.INCONCLUSIVE: 4,
    AdviceVerdict.NOT_APPLIED: 5,
}


def verify(
    advice: AdviceFile,
    command: Words = None,
    directory: OutputFolder = None,
    simulate: Annotated[
        Optional[str], option("--simulate", "PLATFORM", "A simulated machine; no COMMAND.")
    ] = None,
    drift: Annotated[str, option("--drift", "P", "Drift of the simulated machine.")] = "10%",
    pairs: Annotated[int, option("--pairs", "N", "Number of pairs at most.")] = 20,
    margin: Annotated[
        str, option("--margin", "P", "Differences below it do not matter.")
    ] = f"{MARGIN:.0%}",
    seed: Annotated[int, option("--seed", None, "Seed of the order.", min=0)] = 1,
    rate: Annotated[
        Optional[str], option("--rate", "REGEX", "A rate in its output, instead of seconds.")
    ] = None,
    time: Annotated[
        Optional[str], option("--time", "REGEX", "A time in its output, likewise.")
    ] = None,
    run_time: Annotated[
        int, option("--run-time", "SECONDS", "A run may take so long.", min=1)
    ] = 3600,
    html: Annotated[Optional[Path], option("--html", "FILE", "A page with all pairs.")] = None,
    form: FormatOption = Format.TEXT,
) -> None:
    """Runs the pairs and exits with the verdict's status."""
    if html is not None:
        VerificationPages().check(html)
    if rate is not None and time is not None:
        raise UsageError("--rate and --time exclude each other (both say what counts). Use one.")
    found = read_advice(advice)
    one = chosen(found)
    if one.keeps and (simulate is not None or not one.workload.collective):
        print(
            "forebay: there is nothing to verify (the advice is to keep everything).",
            file=sys.stderr,
        )
        raise typer.Exit(1)
    words = tuple(command or ())
    share = fraction("--margin", margin)

    def told(number: int, so_far: Verification) -> None:
        print(f"pair {number} of {pairs}: × {so_far.ratio.estimate:.3f}", file=sys.stderr)

    if simulate is not None:
        system = simulated_system(simulate, words, drift=fraction("--drift", drift), seed=seed)
        done = verify_simulated(found, system, pairs_max=pairs, margin=share, seed=seed, told=told)
        words = (PLACE,)  # makes as_text say that nothing on this machine was changed
    else:
        if not words:
            raise UsageError(
                "there is no program to run. Write `forebay verify ADVICE -- mpiexec -n 4 "
                "./program`."
            )
        world = real_world()
        request = VerifyRequest(
            advice=found,
            command=words,
            directory=directory_of(one, directory),
            pairs_max=pairs,
            margin=share,
            seed=seed,
            of_whole_runs=rate is None and time is None,
        )
        timed = Timer(world, rate, time, run_time)
        done = verify_advice(request, world, RealFolders(), timed=timed, told=told)
    _show(done, words, form)
    if html is not None:
        VerificationPages().write(done, words, html, platform=simulate)
    raise typer.Exit(status_of(done))


def _show(done: Verified, words: tuple[str, ...], form: Format) -> None:
    if form is Format.JSON:
        print(json_pretty(as_json(done)))
    else:
        print(printable_lines(as_text(done, words)))
    if done.trouble:
        print(f"forebay: {printable_lines(done.trouble)}", file=sys.stderr)


def status_of(done: Verified) -> int:
    """The exit status of the verdict."""
    found = done.verification
    if found is None:
        return 1
    return _STATUS[AdviceVerdict.NOT_APPLIED if done.not_applied else found.verdict]


def attach(app: typer.Typer) -> None:
    """Adds the subcommand `verify` to `app`."""
    app.command(
        "verify",
        help=HELP,
        short_help=SHORT_HELP,
    )(verify)
