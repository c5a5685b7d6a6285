"""The port System for a real file system: runs forebay-ior under the user's launcher. Each probe
has its own folder with the requested layout, and removes it."""

from __future__ import annotations

import contextlib
import json
import os
import platform as machine
import shlex
import shutil
import socket
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from forebay import __version__
from forebay.bench.model.command_line import Launch, Tool, ranks_asked
from forebay.bench.use_case.bench import BenchWorld, plan_bench, run_and_read
from forebay.common.files.records import RecordFiles
from forebay.common.model.errors import (
    ForebayError,
    HangError,
    LayoutError,
    ProbeError,
    StoppedError,
    UsageError,
)
from forebay.common.model.frozen import frozen
from forebay.common.model.known_launchers import Flavour
from forebay.common.model.launcher import find_launcher, with_ranks
from forebay.common.model.units import MIB, counted
from forebay.layout.model import Layout, WantedLayout
from forebay.ports import Captured
from forebay_tuning.model.metadata import FilesAsk, MetadataRates
from forebay_tuning.model.point import Point
from forebay_tuning.model.portrait import Identity
from forebay_tuning.model.sample import NextProbe, Passage, Sample
from forebay_tuning.probe.files.files_program import measure_files
from forebay_tuning.probe.files.patience import patiently
from forebay_tuning.probe.use_case.probe import PASSAGES, TARGET_FILES, Ground, Spent, Unknown

Result = TypeVar("Result")

PREFIX = "forebay-probe-"
_CACHE_FACTOR = 1.5
"""Reads are called cached if they are this many times as fast as the writes, and faster than
`_CACHE_RATE`."""
_CACHE_RATE = 1.5e9
"""Bytes per second of one process that only memory can deliver, and no storage."""
_ROOT_OPTION = "--allow-run-as-root"
_MEMORY_FILE_SYSTEMS = {"tmpfs", "ramfs"}
_TARGETS_UNKNOWN = 4
"""The assumed number of targets if a striped file system does not tell it."""
_PLACED_TARGETS_MAX = 256
_PLACED_FILES = TARGET_FILES - 1
"""Files on each target whose rates count; the first round only sets their size."""
_PILOT_BYTES = 64 << 10
"""Bytes of each rank in the pilot run."""
_PLACED_SLOWER = 8.0
"""The assumed slowdown of a round that comes after the first, small one, which a cache may have
taken in. It keeps the round within its time."""
_REMOVE_SECONDS_MAX = 20.0
_CLEAN_ROUNDS = 3
"""More than one, since ranks of a killed prober may create files after the first removal."""
_CLEAN_PAUSE_SECONDS = 0.2
_PLACED_AGAIN = 1.25
"""The assumed slowdown, as `_PLACED_SLOWER`, but after a round of full size."""


@frozen
class Where:
    """The system to probe, and how ranks are started. `folder` is the folder below `directory` with
    all our files. `targets` is the user's number of targets, None if not given."""

    directory: Path
    folder: str
    launch: Launch
    level: str
    seed: int
    date: str
    targets: int | None = None
    pilot_seconds_max: float = 60.0
    only_look: bool = False
    """Whether only an estimate is wanted: then nothing is started or created."""


class RealSystem:
    """The port System, over forebay-ior."""

    def __init__(self, where: Where, bench: BenchWorld) -> None:
        self._began = time.monotonic()
        self._where = where
        self._records = RecordFiles(where.folder)
        ours = replace(bench, world=replace(bench.world, records=self._records))
        self._bench = bench if where.only_look else ours
        self._layout: Layout | None = None
        self._nodes = 1
        self._memory = False
        self._ended: float | None = None
        self._hangs = False
        self.has_made_folder = False
        """Whether there may be files to clean up."""

    @property
    def directory(self) -> Path:
        """The directory that is probed."""
        return self._where.directory

    @property
    def _folder(self) -> Path:
        return self._where.directory / self._where.folder

    def ground(self) -> Ground:
        """The system's facts. Runs one small benchmark to see how many ranks take part, unless
        `only_look` is set. Raises ProbeError, BenchError or SetupError if that fails, and HangError
        if the file system does not answer."""
        where = self._where
        facts = self._patiently(lambda: self._bench.world.machine.directory(where.directory))
        if not facts.is_writable:
            raise ProbeError(
                f"cannot probe {where.directory} (it may not be written). Give a directory of "
                "your own on that file system."
            )
        layout = self._look_at_layout()
        self._layout = layout
        self._memory = facts.file_system in _MEMORY_FILE_SYSTEMS
        unknown: frozenset[Unknown] = frozenset()
        if where.only_look:
            nodes, ranks, unknown = self._look_at_launcher()
            targets = where.targets or _targets_at_a_glance(layout)
        else:
            try:
                nodes, ranks = self._pilot()
                targets = where.targets or self._count_targets(layout)
            finally:
                self.clean()
        self._nodes = nodes
        return Ground(
            identity=Identity(
                name=facts.mount_point.name or "root",
                directory=str(facts.path),
                file_system=facts.file_system,
                mount_point=str(facts.mount_point),
                source=facts.device,
                host=socket.gethostname(),
                client=f"{machine.system()} {machine.release()}",
                forebay=__version__,
                date=where.date,
                level=where.level,
                seed=where.seed,
                nodes=nodes,
                ranks_per_node=max(1, -(-ranks // nodes)),
                targets=targets,
                targets_source=_source_of_targets(where, layout),
                stripe_count=min(targets, layout.targets or targets) if layout else 1,
                stripe_bytes=layout.stripe_bytes if layout and layout.stripe_bytes else MIB,
            ),
            free_bytes=facts.free_bytes,
            quota=facts.quota,
            unknown=unknown,
            placeable=targets if _can_place(layout, targets) else 0,
            spent=Spent(
                seconds=time.monotonic() - self._began,
                bytes=ranks * _PILOT_BYTES,
                files=ranks + (layout is not None),
            ),
        )

    def clean(self) -> None:
        """Removes all our files, unless the file system is known to hang."""
        remove_results(self.results)
        if not self._hangs:
            self._remove(self._folder)

    @property
    def results(self) -> tuple[Path, ...]:
        """The folders in which ranks leave their results."""
        return self._records.temporary_folders()

    def _patiently(self, call: Callable[[], Result]) -> Result:
        try:
            return patiently(self._where.directory, call)
        except HangError:
            self._hangs = True
            raise

    def _remove(self, folder: Path) -> None:
        self._patiently(lambda: _remove_all(folder))

    def measure(self, ask: NextProbe, number: int, *, seconds_max: float) -> tuple[Sample, float]:
        """Writes, then reads. A failure is a sample that is discarded."""
        folder = self._folder / f"{number:04d}"
        started = time.monotonic()
        self._remove(folder)  # an earlier probing may have been killed in this probe
        try:
            self._patiently(lambda: folder.mkdir(parents=True))
            sample = self._probe(ask, folder, started + seconds_max)
        except StoppedError:
            self.clean()
            raise
        except HangError:
            raise
        except (ForebayError, OSError) as error:
            sample = Sample(ask=ask, discarded=_one_line(str(error)))
        self._remove(folder)
        self._ended, before = time.monotonic(), self._ended
        # Computing the next point counts, too, but not the time before a resumed run.
        return sample, self._ended - (before or started)

    def target_rates(self, *, bytes_max: int, seconds_max: float) -> Mapping[int, Sequence[float]]:
        """Rates of three files on each Lustre OST, which are written one after the other. A first
        round of small files, which does not count, determines how large they can be."""
        layout = self._layout
        targets = self._where.targets or (self._count_targets(layout) if layout else 1)
        if not _can_place(layout, targets):
            return {}
        files = targets * _PLACED_FILES
        most = min(16 * MIB, (bytes_max - targets * MIB) // files)
        if most < MIB:
            return {}
        deadline = time.monotonic() + seconds_max
        try:
            rounds = [self._round(targets, MIB, deadline)]
            # The small files may have fitted into a cache, so their rate says little.
            slower = _PLACED_SLOWER
            for left in range(_PLACED_FILES, 0, -1):
                if not rounds[-1]:
                    break
                seconds = max(deadline - time.monotonic(), 0.0) / left / slower
                fits = seconds / sum(1 / rate for rate in rounds[-1].values())
                each = max(MIB, int(min(most, fits)) // MIB * MIB)
                rounds.append(self._round(targets, each, deadline))
                slower = _PLACED_AGAIN
        finally:
            self.clean()
        return {
            target: [one[target] for one in rounds[1:] if target in one]
            for target in range(targets)
        }

    def _round(self, targets: int, each: int, deadline: float) -> Mapping[int, float]:
        """The rate of a file of `each` bytes on each target, until the deadline."""
        rates = {}
        for target in range(targets):
            if time.monotonic() > deadline:
                break
            rate = self._patiently(partial(self._on_target, target, each))
            if rate is not None:
                rates[target] = rate
        return rates

    def _on_target(self, target: int, count: int) -> float | None:
        folder = self._folder / "targets"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / str(target)
        try:
            change = self._bench.world.layouts.set(
                path, WantedLayout(stripe_count=1, first_ost=target)
            )
            if change.complaint:
                return None
            block = os.urandom(MIB)
            started = time.monotonic()
            with path.open("r+b", buffering=0) as file:
                for _ in range(count // MIB):
                    file.write(block)
                os.fsync(file.fileno())
            return count / (time.monotonic() - started)
        except (ForebayError, OSError):
            return None
        finally:
            # Unlinking may fail while the file system holds the file; the folder is removed later.
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)

    def file_rates(self, ask: FilesAsk) -> MetadataRates:
        """Rates of forebay-meta, with all ranks started. Raises ProbeError if it fails."""
        folder = self._folder / "files"
        try:
            self._patiently(lambda: folder.mkdir(parents=True, exist_ok=True))
            return measure_files(ask, folder, self._where.launch, self._bench)
        except (HangError, StoppedError):
            raise
        except (ForebayError, OSError, KeyError, ValueError) as error:
            raise ProbeError(_one_line(str(error))) from error
        finally:
            self.clean()

    def _look_at_layout(self) -> Layout | None:
        try:
            layout = self._patiently(lambda: self._bench.world.layouts.show(self._where.directory))
        except LayoutError:
            return None
        return layout if layout.is_known else None

    def _count_targets(self, layout: Layout | None) -> int:
        """The number of targets. On Lustre, it is that of a file striped over all OSTs; other file
        systems do not tell it."""
        if layout is None or layout.file_system != "lustre":
            return _targets_at_a_glance(layout)
        self._make(self._folder)
        wanted = WantedLayout(stripe_count=-1)
        try:
            change = self._patiently(
                lambda: self._bench.world.layouts.set(self._folder / "all", wanted)
            )
        except LayoutError:
            return layout.targets or 1
        return change.layout.targets or layout.targets or 1

    def _make(self, folder: Path) -> None:
        """Creates the folder. Raises ProbeError if that fails."""
        self.has_made_folder = True
        try:
            self._patiently(lambda: folder.mkdir(exist_ok=True))
        except OSError as error:
            raise ProbeError(
                f"cannot probe {self._where.directory} (no folder can be made in it: "
                f"{error.strerror}). Mend that, or give another directory on that file system."
            ) from error

    def _look_at_launcher(self) -> tuple[int, int, frozenset[Unknown]]:
        """The numbers of nodes and ranks as far as the command line shows them. Raises SetupError
        or BenchUsageError if the launcher or forebay-ior is missing."""
        launch = self._where.launch
        plan = plan_bench(Tool.IOR, (), launch, self._bench, read_by="forebay probe")
        self._bench.world.records.remove(plan.json)
        asked = ranks_asked(launch)
        if asked is None:
            return 1, 1, frozenset({Unknown.NODES, Unknown.RANKS})
        return 1, asked, frozenset({Unknown.NODES})

    def _pilot(self) -> tuple[int, int]:
        """The numbers of nodes and ranks that take part, by a small run."""
        self._make(self._folder)
        row = self._try_out("-w", "-F", "-t", "64k", "-b", str(_PILOT_BYTES), "-o")
        ranks = len(row["ranks"])
        asked = ranks_asked(self._where.launch)
        if asked is not None and asked != ranks:
            raise ProbeError(
                f"the launcher started {ranks} of {counted(asked, 'rank')} that work together "
                "(it has no "
                "more places, or is of another MPI than forebay-ior). Ask for as many as it has, "
                "or choose the MPI of forebay-ior by FOREBAY_MPI_FAMILY."
            )
        return max(1, len(row["nodes"])), ranks

    def _try_out(self, *words: str) -> Mapping[str, Any]:
        """Runs forebay-ior once. Raises ProbeError, with advice, if nothing can be probed."""
        where = self._where
        try:
            file = str(self._folder / "pilot")
            return self._ior((*words, file), where.launch, seconds_max=where.pilot_seconds_max)
        except _FailedError as error:
            if _ROOT_OPTION in error.said:
                raise ProbeError(
                    f"cannot probe {where.directory} (this Open MPI starts nothing as root unless "
                    f"it is told to). Add {_ROOT_OPTION} behind the launcher's name, or probe as "
                    "another user."
                ) from error
            alone = [*where.launch.words, *error.program, *words, str(where.directory / "pilot")]
            raise ProbeError(
                f"cannot probe {where.directory} ({error}). Run it alone to see more: "
                f"{shlex.join(alone)}"
            ) from error

    def _probe(self, ask: NextProbe, folder: Path, deadline: float) -> Sample:
        point = ask.point
        complaint = self._lay_out(folder, point)
        if complaint:
            return Sample(ask=ask, discarded=complaint)
        launch = self._launch(point)
        path = folder / "f"
        common = [
            "-t",
            str(point.transfer_bytes),
            "-b",
            str(_whole(point)),
            "-o",
            str(path),
            "-k",
            *([] if point.shared else ["-F"]),
        ]
        cut = max(1, int((deadline - time.monotonic()) / PASSAGES))
        write = self._passage(("-w", "-e", "-D", str(cut), *common), launch, point, deadline)
        there = self._patiently(lambda: sum(one.stat().st_size for one in folder.iterdir()))
        if there < _whole(point) * point.processes:
            return Sample(ask=ask, write=write)  # writing was cut off, so reading would hit its end
        self._patiently(lambda: _drop_pages(folder))
        away = ["-C"] if self._nodes > 1 else []
        read = self._passage(("-r", *away, "-D", str(cut), *common), launch, point, deadline)
        return Sample(ask=ask, write=write, read=read, cached=self._is_cached(point, write, read))

    def _is_cached(self, point: Point, write: Passage, read: Passage) -> bool:
        """Whether reads were as fast as memory and much faster than writes. On a file system in
        memory, that is normal."""
        if self._memory:
            return False
        fast = read.rate > _CACHE_RATE * min(point.processes, os.cpu_count() or 1)
        return fast and read.rate > _CACHE_FACTOR * write.rate

    def _launch(self, point: Point) -> Launch:
        words = self._where.launch.words
        at = find_launcher(words)
        facts = None if at is None else self._bench.world.launchers.inspect(words[at])
        flavour = Flavour.OTHER if facts is None else facts.flavour
        per_node = point.per_node if self._nodes > 1 else None
        return Launch(
            words=with_ranks(words, flavour=flavour, ranks=point.processes, per_node=per_node)
        )

    def _lay_out(self, folder: Path, point: Point) -> str:
        """Sets the folder's layout; returns why it did not take effect, or an empty text."""
        layout = self._layout
        if layout is None:
            return ""
        wanted = WantedLayout(stripe_count=point.stripe_count, stripe_bytes=point.stripe_bytes)
        change = self._patiently(lambda: self._bench.world.layouts.set(folder, wanted))
        return _one_line(change.complaint) if change.complaint else ""

    def _passage(
        self,
        words: Sequence[str],
        launch: Launch,
        point: Point,
        deadline: float,
    ) -> Passage:
        left = deadline - time.monotonic()
        row = self._ior(words, launch, seconds_max=max(1.0, left))
        if len(row["ranks"]) != point.processes:
            raise ProbeError(
                f"{len(row['ranks'])} of {counted(point.processes, 'rank')} took part "
                "(the launcher gave "
                "fewer). Ask it for as many as it has."
            )
        opening, closing = float(row["openTime"]), float(row["closeTime"])
        moving = max(float(row["totalTime"]) - opening - closing, float(row["wrRdTime"]), 1e-9)
        moved = int(row["bytes"])
        return Passage(
            rate=moved / moving, seconds_open=opening, seconds_close=closing, bytes=moved
        )

    def _ior(
        self, words: Sequence[str], launch: Launch, *, seconds_max: float
    ) -> Mapping[str, Any]:
        """Runs forebay-ior and returns the last row of its results."""
        bench = self._bench
        plan = plan_bench(Tool.IOR, words, launch, bench, read_by="forebay probe")

        def run() -> Captured:
            return bench.world.processes.capture(
                plan.words, environment=plan.environment, seconds_max=seconds_max
            )

        ended, left = run_and_read(plan, bench, run)
        if ended.status is None:
            raise ProbeError(
                f"a probe took longer than {seconds_max:.0f} s (the file system is slow, or "
                "hangs). Allow more by --seconds."
            )
        if ended.status != 0 or not left.text:
            said = left.complaint or ended.errors.strip() or ended.output.strip()
            raise _FailedError(
                f"forebay-ior failed with status {ended.status} ({_complaint(said)})",
                said=said,
                program=plan.program,
            )
        rows = [
            row
            for row in json.loads(left.text)["tests"][0]["Results"]
            if row.get("latency_of_transfers") is not None
        ]
        if not rows:
            raise ProbeError("forebay-ior measured nothing (its result has no row). Run it alone.")
        found: Mapping[str, Any] = rows[-1]
        return found


class _FailedError(ProbeError):
    """forebay-ior failed. `said` is the output of the program or its launcher, `program` its
    command."""

    def __init__(self, message: str, *, said: str, program: Sequence[str]) -> None:
        super().__init__(message)
        self.said = said
        self.program = program


def _source_of_targets(where: Where, layout: Layout | None) -> str:
    if where.targets:
        return "--targets"
    if layout is None:
        return "no layout is known: one"
    if layout.file_system == "lustre":
        return "the default layout" if where.only_look else "a file on all targets"
    return f"the default layout, at least {_TARGETS_UNKNOWN}: a guess"


def _can_place(layout: Layout | None, targets: int) -> bool:
    """Whether files can be placed on single targets, and the number of targets allows it."""
    placed = layout is not None and layout.file_system == "lustre"
    return placed and 3 <= targets <= _PLACED_TARGETS_MAX


def _targets_at_a_glance(layout: Layout | None) -> int:
    """The number of targets by the default layout. On Lustre, only a file on all targets shows
    more."""
    if layout is None:
        return 1
    if layout.file_system != "lustre":
        return max(_TARGETS_UNKNOWN, layout.targets or 1)
    return layout.targets or 1


def remove_folder(directory: Path, name: str) -> None:
    """Removes a folder of a probing. Raises UsageError if it is not one, HangError if the file
    system does not answer, and ProbeError if ranks keep creating files in it."""
    if not name.startswith(PREFIX) or "/" in name:
        raise UsageError(
            f'cannot remove "{name}" (no folder of a probing is called so). Was the journal '
            "changed by hand?"
        )
    for again in range(_CLEAN_ROUNDS):
        if again:
            time.sleep(_CLEAN_PAUSE_SECONDS)
        left = patiently(directory, lambda: _remove_all(directory / name))
        if left:
            raise ProbeError(
                f"cannot remove {directory / name} ({left}). End the ranks of the probing that "
                "still write there, and say --clean again."
            )


def remove_results(folders: Iterable[Path]) -> None:
    """Removes those of the folders that belong to a probing."""
    for folder in folders:
        if folder.name.removeprefix(".").startswith(PREFIX):
            shutil.rmtree(folder, ignore_errors=True)


def _remove_all(folder: Path) -> str:
    """Removes the folder, repeatedly if necessary: ranks outlive a launcher that was killed, and go
    on creating files. Returns an empty text, or why it is still there."""
    deadline = time.monotonic() + _REMOVE_SECONDS_MAX
    while folder.exists():
        try:
            shutil.rmtree(folder)
        except OSError as error:
            if folder.exists() and time.monotonic() > deadline:
                return error.strerror or "it cannot be removed"
    return ""


def _whole(point: Point) -> int:
    """Bytes per process, rounded to whole transfers as ior requires."""
    return max(1, point.process_bytes // point.transfer_bytes) * point.transfer_bytes


def _drop_pages(folder: Path) -> None:
    """Drops the files' pages from this node's page cache, so that reads come from storage."""
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            file = os.open(path, os.O_RDONLY)
            try:
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(file)


def _complaint(text: str) -> str:
    """The line of the output that tells the error. Launchers put it first, between rules of
    dashes."""
    lines = [line.strip() for line in text.splitlines() if any(map(str.isalpha, line))]
    errors = [line for line in lines if "rror" in line or "annot" in line]
    return (errors[-1:] or lines[:1] or ["it said nothing"])[0][:300]


def _one_line(text: str) -> str:
    return " ".join(text.split())[:400]
