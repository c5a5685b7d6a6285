"""`python -m demo`: the whole demo, from sources to page."""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from demo.cdf5 import open_cdf5
from demo.disk import DIRTY_MEBIBYTES, MEBIBYTES_PER_SECOND, LimitedDisk, limited_disk
from demo.errors import DemoError
from demo.experiment import Announce, Comparison, compare
from demo.map_picture import draw_map
from demo.model import Run
from demo.page import write_page
from demo.summary import most_telling_first
from demo.terminal import Announcer, show, show_files
from demo.timeline_picture import draw_timeline
from demo.timing_picture import draw_timings
from demo.workshop import HDF5, PNETCDF, Variant, Workshop
from forebay.common.model.errors import ForebayError
from forebay.common.model.frozen import frozen

_REPOSITORY = Path(__file__).resolve().parents[3]
SPIN_UP_STEPS, SPIN_UP_RANKS = 480, 2
STEPS_PER_RECORD = 3
HDF5_RECORDS = 3
OTHER_PARTS = 5  # build, mask, spin-up, second build, pictures


@frozen
class Options:
    """The command line."""

    folder: Path
    ranks: int
    pairs: int
    records: int
    hdf5_pairs: int
    pool_pairs: int


def parse(arguments: Sequence[str] | None = None) -> Options:
    """The command line as a value; ends the program if it is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m demo",
        description="Run an unmodified ocean model with and without Forebay, and compare.",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=_REPOSITORY / "build" / "demo",
        help="where it works, on the disk to be measured (%(default)s)",
    )
    parser.add_argument("--ranks", type=_count, default=4, help="ranks of the model (%(default)s)")
    parser.add_argument("--pairs", type=_count, default=5, help="pairs of runs (%(default)s)")
    parser.add_argument("--records", type=_count, default=20, help="records of a run (%(default)s)")
    parser.add_argument(
        "--hdf5-pairs", type=int, default=1, help="pairs with HDF5; 0: none (%(default)s)"
    )
    parser.add_argument(
        "--pool-pairs",
        type=int,
        default=3,
        help="pairs on a limited disk, through the pool; 0: none (%(default)s)",
    )
    given = parser.parse_args(arguments)
    return Options(
        folder=given.folder.resolve(),
        ranks=given.ranks,
        pairs=given.pairs,
        records=given.records,
        hdf5_pairs=max(0, given.hdf5_pairs),
        pool_pairs=max(0, given.pool_pairs),
    )


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is below 1")
    return value


def run_demo(options: Options, console: Console) -> list[tuple[str, Path]]:
    """Everything; returns what was left, with its paths."""
    workshop = Workshop(sources=_sources(), folder=options.folder)
    options.folder.mkdir(parents=True, exist_ok=True)
    parts = 2 * (options.pairs + options.hdf5_pairs + options.pool_pairs) + OTHER_PARTS
    comparisons = []
    with Announcer(console, parts=parts) as announce:
        comparisons.append(_pnetcdf(workshop, options, announce))
        if options.hdf5_pairs and _can_run(HDF5, console):
            comparisons.append(_hdf5(workshop, options, announce))
        if options.pool_pairs:
            comparisons += _on_limited_disk(workshop, options, announce, console)
        comparisons = most_telling_first(comparisons)
        announce("pictures and page")
        left = _leave(workshop, comparisons)
    for comparison in comparisons:
        show(console, comparison)
    return left


def _pnetcdf(workshop: Workshop, options: Options, announce: Announce) -> Comparison:
    announce("building the ocean model")
    workshop.build(PNETCDF)
    announce("land mask")
    spin_up = Run(steps=SPIN_UP_STEPS, restart_out="restart.nc")
    workshop.make_mask(spin_up)
    announce("spinning the ocean up (the first time only)")
    workshop.spin_up(spin_up, ranks=min(SPIN_UP_RANKS, options.ranks))
    return compare(
        workshop,
        PNETCDF,
        _run_of(options),
        ranks=options.ranks,
        pairs=options.pairs,
        announce=announce,
    )


def _run_of(options: Options) -> Run:
    return Run(
        steps=STEPS_PER_RECORD * options.records,
        output_every=STEPS_PER_RECORD,
        history=PNETCDF.history,
        restart_in="../spinup/restart.nc",
        restart_out="restart.nc",
    )


def _on_limited_disk(
    workshop: Workshop, options: Options, announce: Announce, console: Console
) -> list[Comparison]:
    """None, with the reason said, where there can be no such disk."""
    title = (
        f"PnetCDF through the pool, on a limited disk ({MEBIBYTES_PER_SECOND} MiB/s, at most "
        f"{DIRTY_MEBIBYTES} MiB in the page cache)"
    )
    with limited_disk(_REPOSITORY / "tools" / "limited_disk.sh") as disk:
        if not isinstance(disk, LimitedDisk):
            console.print(f"leaving out {title}: {disk}", style="yellow", highlight=False)
            return []
        return [
            compare(
                workshop.lend(disk.folder, disk.device),
                replace(PNETCDF, title=title),
                _run_of(options),
                ranks=options.ranks,
                pairs=options.pool_pairs,
                announce=announce,
            )
        ]


def _hdf5(workshop: Workshop, options: Options, announce: Announce) -> Comparison:
    announce("building the HDF5 variant")
    workshop.build(HDF5)
    run = Run(
        steps=HDF5_RECORDS,
        output_every=1,
        history=HDF5.history,
        restart_out="restart.h5",
    )
    return compare(
        workshop, HDF5, run, ranks=options.ranks, pairs=options.hdf5_pairs, announce=announce
    )


def _can_run(variant: Variant, console: Console) -> bool:
    tool = variant.missing_tool()
    if tool:
        console.print(f"leaving out {variant.title} ({tool} is not installed).", style="yellow")
    return tool is None


def _leave(workshop: Workshop, comparisons: Sequence[Comparison]) -> list[tuple[str, Path]]:
    """Draw the pictures and write the page."""
    folder = workshop.folder
    map_png, timings_png = folder / "ssh.png", folder / "timings.png"
    page = folder / "index.html"
    history = folder / f"{PNETCDF.target}-forebay" / PNETCDF.history
    mapped = next(one for one in comparisons if one.variant.target == PNETCDF.target)
    grid = mapped.run.grid
    draw_map(
        open_cdf5(history),
        map_png,
        subtitle=f"written by an unmodified model of {grid.columns} × {grid.rows} cells on "
        f"{mapped.ranks} ranks, through Forebay",
    )
    draw_timings(comparisons, timings_png)
    pictures = [("sea-surface height", map_png), ("timings", timings_png)]
    timelines: list[Path | None] = []
    for comparison in comparisons:
        last = comparison.pairs[-1]
        timelines.append(None)
        if last.plain.timeline:
            timeline = folder / f"timeline{len(timelines) - 1}.png"
            draw_timeline(last.plain, last.forebay, timeline)
            pictures.insert(0, ("compute, output, drain", timeline))
            timelines[-1] = timeline
    write_page(
        tuple(zip(comparisons, timelines, strict=True)),
        page,
        map_png=map_png,
        timings_png=timings_png,
    )
    return [("page", page), *pictures]


def _sources() -> Path:
    sources = _REPOSITORY / "examples" / "ocean"
    if not (sources / "Makefile").is_file():
        raise DemoError(
            f"cannot find the ocean model (no {sources}). Run the demo from a checkout: make demo."
        )
    return sources


def main() -> int:
    """Exit status: 0 if all bytes are the same, otherwise that of the error."""
    console = Console()
    options = parse()
    started = time.monotonic()
    cores = len(os.sched_getaffinity(0))
    try:
        left = run_demo(options, console)
    except ForebayError as error:
        Console(stderr=True).print(f"[bold red]error:[/] {error}", highlight=False)
        return error.exit_code
    if cores < options.ranks:
        console.print(
            f"{options.ranks} ranks share {cores} cores: trust the ratios, not the values.",
            style="dim",
            highlight=False,
        )
    show_files(console, left)
    console.print(f"{'done in':<20} {time.monotonic() - started:.0f} s", highlight=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
