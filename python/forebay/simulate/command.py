"""`forebay simulate`: parses the command line, simulates, prints the results."""

import sys
from collections.abc import Iterator
from typing import Annotated, Optional

import typer
from rich.console import Console
from rich.table import Table

from forebay.common.model.errors import UsageError
from forebay.common.model.output_format import Format
from forebay.common.model.printable import printable, printable_lines
from forebay.common.model.units import counted, human_bytes, human_rate
from forebay.common.options import FormatOption, option
from forebay.common.report.output import json_pretty, plain
from forebay.simulate import SHORT_HELP
from forebay.simulate.files import NativeSimulator, simulator_keys
from forebay.simulate.model.io_ranks import OUTPUT_VARIANTS, OutputSimulation
from forebay.simulate.model.keys import Keys, SimulatorKeys
from forebay.simulate.model.simulation import VARIANTS, Simulation
from forebay.simulate.report.independent import show_independent_simulation
from forebay.simulate.report.io_ranks import show_output_simulations
from forebay.simulate.report.pool import show_pool_simulation
from forebay.simulate.use_case import (
    SimulateRequest,
    simulate,
    simulate_independent,
    simulate_output,
    simulate_pool,
)


def _listed(keys: Keys) -> str:
    return "\n".join(f"  {name:<25}{meaning}" for name, meaning in keys)


_HELP = """Run Forebay's engine on a simulated machine: thousands of ranks, a modelled Lustre.

PLATFORM is a file, or the name of one that comes with Forebay: tsubame-2.5-thin, lustre-96-ost,
tianhe-2, laptop. Times and amounts in the result are virtual: the machine's, not this one's.

The simulator, forebay_sim, is built where SimGrid is installed (Debian: libsimgrid-dev).

\b
KEY=VALUE changes the platform:
{platform}

\b
or a setting, the pattern, or the experiment:
{collective}

With --pool: a program that computes and puts out, again and again. All ranks meet before each
burst. Once the program waits until its output is with the file system, once it deposits it in its
node's pool, which drains while the program computes. Shown is how long it waits each time.

\b
KEY=VALUE then changes the platform, the program, or the pool:
{pool}

With --io-ranks: a program whose ranks hand over their patches of every burst, in the ways of
--variant: gather (rank 0 collects and writes), io-ranks (dedicated ranks collect a burst, and write
it while the program computes: the overlapped storage of 2019), pool (every rank writes into the
pool of its node), output (the output API transposes to a few writers a node, through the pool).

\b
KEY=VALUE then changes the platform, the program, its I/O ranks, or the pool:
{io_ranks}

With --independent: processes that read or write by themselves, as IOR does: each opens, makes one
call after the other, and closes. What they read and write goes through the file system's client
of their node.

\b
KEY=VALUE then changes the platform, or what the processes do:
{independent}

\b
Examples:
  forebay simulate laptop
  forebay simulate tsubame-2.5-thin nodes=8 targets=8 region_bytes=5992 region_count=500
  forebay simulate tsubame-2.5-thin --variant placement --variant "earth(wr,ex:2)" \\
      aggregators_per_target=12 region_bytes=5992 region_count=2977
  forebay simulate --pool lustre-96-ost nodes=8 burst_bytes=8GiB interval=30s
  forebay simulate --pool lustre-96-ost nodes=8 burst_bytes=64GiB interval=1s pool_window=64MiB
  forebay simulate --pool lustre-96-ost nodes=8 burst_bytes=4GiB files=3 writers=1 --format json
  forebay simulate --pool lustre-96-ost nodes=8 input_bytes=256MiB
  forebay simulate --io-ranks tianhe-2 ranks=6144 io_ranks=10 spread=10
  forebay simulate --independent lustre-96-ost processes=256 per_node=8 stripe_count=16
  forebay simulate --independent lustre-96-ost processes=256 read=1 same=1 process_bytes=128MiB

\b
Exit status:
  0    simulated
  1    verify=1 found wrong bytes
  2    wrong option, platform or key, or the experiment failed or got stuck
  125  Forebay is incomplete: its simulator or its platforms are missing
"""


def help_text(keys: SimulatorKeys) -> str:
    """The help of the command, with all keys."""
    return _HELP.format(
        platform=_listed(keys.platform),
        collective=_listed(keys.collective),
        pool=_listed(keys.pool),
        io_ranks=_listed(keys.io_ranks),
        independent=_listed(keys.independent),
    )


def simulate_command(
    platform: Annotated[str, typer.Argument(metavar="PLATFORM", help="A file or a name.")],
    settings: Annotated[
        Optional[list[str]],
        typer.Argument(metavar="[KEY=VALUE]...", help="Changes of the platform or the experiment."),
    ] = None,
    variant: Annotated[
        Optional[list[str]],
        option(
            "--variant",
            "NAME",
            f"One of {', '.join(VARIANTS)}; any k. With --io-ranks: {', '.join(OUTPUT_VARIANTS)}.",
        ),
    ] = None,
    pool: Annotated[
        bool, typer.Option("--pool", help="A program's output, without and with the pool.")
    ] = False,
    io_ranks: Annotated[
        bool, typer.Option("--io-ranks", help="A program's output, by I/O ranks and otherwise.")
    ] = False,
    independent: Annotated[
        bool, typer.Option("--independent", help="Processes that read or write by themselves.")
    ] = False,
    form: FormatOption = Format.TEXT,
) -> None:
    """Simulates each variant and prints the results."""
    _check(variant=bool(variant), pool=pool, io_ranks=io_ranks, independent=independent)
    if pool:
        show_pool_simulation(simulate_pool(platform, settings or [], NativeSimulator()), form)
        return
    if io_ranks:
        variants = variant or OUTPUT_VARIANTS
        asked = SimulateRequest(platform=platform, variants=variants, settings=settings or [])
        _simulate_output(asked, form)
        return
    if independent:
        found = simulate_independent(platform, settings or [], NativeSimulator())
        show_independent_simulation(found, form)
        if found.error:
            print(f"forebay: {printable_lines(found.error)}", file=sys.stderr)
        raise typer.Exit(2 if found.error else 0)
    request = SimulateRequest(
        platform=platform, variants=variant or ["forebay"], settings=settings or []
    )
    results: list[Simulation] = []
    try:
        results.extend(simulate(request, NativeSimulator()))
    finally:  # if a variant fails, print the results of those before it
        if results:
            show_simulations(results, form)
    for result in results:
        if result.problem:
            print(f"forebay: {printable_lines(result.problem)}", file=sys.stderr)
    raise typer.Exit(_status(results))


def _simulate_output(request: SimulateRequest, form: Format) -> None:
    """Shows each variant of a program's output. Raises UsageError if there is none of a name."""
    for one in request.variants:
        if one not in OUTPUT_VARIANTS:
            raise UsageError(
                f"cannot simulate --variant {one} with --io-ranks (its variants are: "
                f"{', '.join(OUTPUT_VARIANTS)}). Name one of them."
            )
    results: list[OutputSimulation] = []
    try:
        results.extend(simulate_output(request, NativeSimulator()))
    finally:  # if a variant fails, print the results of those before it
        if results:
            show_output_simulations(results, form)


def _check(*, variant: bool, pool: bool, io_ranks: bool, independent: bool) -> None:
    """Raises UsageError if options are given that exclude each other."""
    given = {
        "--variant": variant and not io_ranks,
        "--pool": pool,
        "--io-ranks": io_ranks,
        "--independent": independent,
    }
    both = [name for name, is_there in given.items() if is_there]
    if len(both) > 1:
        raise UsageError(
            f"cannot simulate {both[0]} with {both[1]} (variants are of collective calls and of "
            "--io-ranks, and the others are programs of their own). Leave one of them out."
        )


def _status(results: list[Simulation]) -> int:
    if any(result.wrong_bytes for result in results):
        return 1
    return 2 if any(result.error for result in results) else 0


def show_simulations(results: list[Simulation], form: Format) -> None:
    """Prints the results on standard output."""
    if form is Format.JSON:
        print(json_pretty({"schema": "forebay.simulations/1", "results": plain(results)}))
    else:
        _print(results)


def _print(results: list[Simulation]) -> None:
    table = Table(box=None)
    table.add_column("variant")
    for column in ("ranks", "bytes", "seconds", "rate", "of the bound", "messages", "requests"):
        table.add_column(column, justify="right", no_wrap=True)
    for one in results:
        table.add_row(
            printable(one.variant),
            str(one.ranks),
            human_bytes(one.bytes),
            f"{one.seconds:.3g}" if one.seconds < 1 else f"{one.seconds:.3f}",
            human_rate(one.rate),
            f"{100 * one.share_of_bound:.0f} %",
            str(one.messages),
            str(one.requests),
        )
    Console().print(table)
    for one in results:
        print(f"  {printable(one.variant)}: {', '.join(_details(one))}")
    print("bound: what the slowest of links, servers and targets can carry")


def _details(one: Simulation) -> Iterator[str]:
    yield f"opening {one.seconds_open:.6f} s"
    yield f"closing {one.seconds_close:.6f} s"
    yield f"messages of {human_bytes(one.message_bytes)} together"
    if one.slow_target is not None:
        found = one.slow_target_requests_in_flight
        yield f"target {one.slow_target} is slow" + (f" (k = {found})" if found else "")
    if one.wrong_bytes is not None:
        yield counted(one.wrong_bytes, "wrong byte")


def attach(app: typer.Typer) -> None:
    """Adds the subcommand `simulate` to `app`."""
    app.command(
        "simulate",
        help=help_text(simulator_keys()),
        short_help=SHORT_HELP,
    )(simulate_command)
