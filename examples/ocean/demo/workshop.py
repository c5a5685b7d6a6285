"""Does things in the world for the demo: builds the model, runs it, compares files."""

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from demo.disk import DiskMeter, Written
from demo.errors import DemoError
from demo.model import ModelTimes, Run, Span, parse_spans, parse_times
from forebay.common.files.record_file import read_record
from forebay.common.model.frozen import frozen
from forebay.common.model.known_launchers import Flavour
from forebay.common.model.launcher import start
from forebay.common.model.record import FileSummary, summarise

RUN_SECONDS_MAX = 240
BUILD_SECONDS_MAX = 300
_BLOCK_BYTES = 1 << 20
_TAIL_LINES = 15


@frozen
class Variant:
    """The model with one output library, and how its MPI starts it."""

    title: str
    target: str
    executable: str
    history: str
    launcher: str
    flavour: Flavour

    def missing_tool(self) -> str | None:
        """The launcher, if this machine has none; None if all is well."""
        return None if shutil.which(self.launcher) else self.launcher


PNETCDF = Variant(
    title="PnetCDF on Open MPI",
    target="pnetcdf",
    executable="ocean",
    history="ocean.nc",
    launcher="mpirun.openmpi",
    flavour=Flavour.OPEN_MPI,
)
HDF5 = Variant(
    title="HDF5 on MPICH",
    target="hdf5",
    executable="ocean_hdf5",
    history="ocean.h5",
    launcher="mpiexec.mpich",
    flavour=Flavour.HYDRA,
)


@frozen
class Outcome:
    """One finished run: the model's times, its file's digests, and what Forebay recorded of the
    history file (None: it ran plain)."""

    times: ModelTimes
    digests: dict[str, str]
    record: FileSummary | None
    command: str
    spans: tuple[Span, ...] = ()
    timeline: Written | None = None
    """Bytes on the disk over time, until all were there; only for a run on a limited disk."""


@frozen
class Workshop:
    """The folders of the demo and the model in them."""

    sources: Path
    folder: Path
    built_in: Path | None = None
    """The folder of a workshop whose model is used; None: it builds its own."""
    pool: bool = False
    """Through Forebay means through the pool as well."""
    device: str = ""
    """Name in /sys/block of the limited disk that all runs are on."""

    @property
    def model(self) -> Path:
        """Where the model is built."""
        return (self.built_in or self.folder) / "model"

    def build(self, variant: Variant) -> None:
        """Make the executable of a variant, out of the source tree."""
        _call(
            ["make", "-C", str(self.sources), f"BUILD={self.model}", variant.target],
            cwd=self.sources,
            seconds_max=BUILD_SECONDS_MAX,
            what=f"build the ocean model ({variant.title})",
        )

    def lend(self, folder: Path, device: str) -> "Workshop":
        """A workshop on a limited disk, with this one's model, mask and spun-up ocean. Its runs
        go through the pool."""
        for name in ("mask.bin", "spinup"):
            (folder / name).symlink_to(self.folder / name)
        return Workshop(
            sources=self.sources, folder=folder, built_in=self.folder, pool=True, device=device
        )

    def make_mask(self, run: Run) -> None:
        """The land mask, once."""
        mask = self.folder / "mask.bin"
        grid = run.grid
        if mask.exists() and mask.stat().st_size == grid.columns * grid.rows:
            return
        sizes = [f"--columns={grid.columns}", f"--rows={grid.rows}"]
        edges = [f"--south={grid.south}", f"--north={grid.north}"]
        _call(
            [sys.executable, str(self.sources / "mask.py"), str(mask), *sizes, *edges],
            cwd=self.folder,
            seconds_max=BUILD_SECONDS_MAX,
            what="make the land mask",
        )

    def spin_up(self, run: Run, *, ranks: int) -> bool:
        """The restart that the pairs start from. Kept, as long as model and namelist stay the
        same; False if it was there."""
        folder = self.folder / "spinup"
        stamp = folder / "made-of"
        want = _digest_of(self.model / PNETCDF.executable) + run.namelist()
        if stamp.exists() and stamp.read_text(encoding="utf-8") == want:
            return False
        self.run(PNETCDF, run, folder="spinup", ranks=ranks, through_forebay=False, compare=())
        stamp.write_text(want, encoding="utf-8")
        return True

    def run(
        self,
        variant: Variant,
        run: Run,
        *,
        folder: str,
        ranks: int,
        through_forebay: bool,
        compare: Sequence[str],
    ) -> Outcome:
        """Run the model in a fresh folder; `compare` names the files to take digests of."""
        place = self.folder / folder
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        (place / "namelist").write_text(run.namelist(), encoding="utf-8")
        os.sync()  # what the run before left behind is not this one's to write
        launcher = start(
            variant.launcher, flavour=variant.flavour, ranks=ranks, root=os.geteuid() == 0
        )
        program = [*launcher, str(self.model / variant.executable), "namelist"]
        record = place / "record.jsonl"
        front = _forebay(record, pool=self.pool) if through_forebay else []
        with DiskMeter(self.device) as meter:
            printed = _call(
                [*front, *program],
                cwd=place,
                seconds_max=RUN_SECONDS_MAX,
                what="run the ocean model" + (" through Forebay" if through_forebay else ""),
            )
            if self.device:
                os.sync()
        (place / "printed.txt").write_text(printed, encoding="utf-8")
        return Outcome(
            times=parse_times(printed),
            digests={name: _digest_of(place / name) for name in compare},
            record=_recorded(record, variant.history) if through_forebay else None,
            command=shlex.join(["forebay", *front[3:], *program] if front else program),
            spans=parse_spans(printed),
            timeline=meter.written() if self.device else None,
        )


def same_bytes(one: Path, other: Path) -> bool:
    """Byte by byte, so that nobody has to believe in a digest."""
    with one.open("rb") as first, other.open("rb") as second:
        while True:
            here, there = first.read(_BLOCK_BYTES), second.read(_BLOCK_BYTES)
            if here != there:
                return False
            if not here:
                return True


def _forebay(record: Path, *, pool: bool) -> list[str]:
    options = ["--record", record.name, *(["--pool", "."] if pool else [])]
    return [sys.executable, "-m", "forebay", "run", *options, "--"]


def _recorded(path: Path, history: str) -> FileSummary:
    """Forebay's summary of the history file; DemoError if Forebay never saw the file."""
    for summary in summarise(read_record(path).files) if path.exists() else ():
        if Path(summary.path).name == history:
            return summary
    raise DemoError(
        f"Forebay took no part in writing {history} (its record does not name the file). "
        "Run `forebay doctor` to see why."
    )


def _digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _call(command: Sequence[str], *, cwd: Path, seconds_max: int, what: str) -> str:
    """Standard output of a command; DemoError with its last lines if it fails."""
    try:
        done = subprocess.run(
            command, cwd=cwd, capture_output=True, text=True, timeout=seconds_max, check=False
        )
    except FileNotFoundError as error:
        raise DemoError(
            f"cannot {what} ({command[0]} is not installed). Run `make demo` in the repository: "
            "it installs what is missing."
        ) from error
    except subprocess.TimeoutExpired as error:
        raise DemoError(
            f"cannot {what} (not done after {seconds_max} s). "
            f"Try it by hand: cd {cwd} && {shlex.join(command)}"
        ) from error
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-_TAIL_LINES:])
        raise DemoError(
            f"cannot {what} (exit status {done.returncode}):\n{tail}\n"
            f"Try it by hand: cd {cwd} && {shlex.join(command)}"
        )
    return done.stdout
