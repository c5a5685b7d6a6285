"""Layouts where files are created: the hints striping_factor and striping_unit, and `forebay
layout`, on a file system that says what Lustre says (tests/mpi/striped_fs.c)."""

from __future__ import annotations

import contextlib
import json
import struct
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation import wheels

from suite import mpi as m
from suite.compare import RECORD, Output
from suite.file_systems import fuse_file_system, limited_disk
from suite.verdict import ensure

RANKS = 3
TARGETS = 3
UNIT = 65536
PARALLEL_SINCE = (6, 2)
IN_FLIGHT = ("1", "2", "4096", "0")
_COMMAND = [wheels.python_with_pip(), "-m", "forebay", "layout"]
HEADER = struct.Struct("<II16sIHH")


@contextlib.contextmanager
def striped_file_system(folder: Path) -> Iterator[Path]:
    """Three targets."""
    with fuse_file_system(folder, "striped_fs.c", str(TARGETS)) as mount:
        yield mount


@contextlib.contextmanager
def striping_file_system(folder: Path) -> Iterator[tuple[Path, list[Path]]]:
    """Its mount point, and the folders of three targets that files are really striped over."""
    targets = [folder / f"target.{i}" for i in range(TARGETS)]
    for target in targets:
        target.mkdir()
    with fuse_file_system(folder, "striped_fs.c", *targets) as mount:
        yield mount, targets


@contextlib.contextmanager
def limited_targets(folder: Path, rates: Sequence[int]) -> Iterator[Path]:
    """A file system that is striped over as many disks, each of so many bytes a second."""
    with contextlib.ExitStack() as stack:
        disks = [
            stack.enter_context(limited_disk(folder / f"disk.{i}", rate))
            for i, rate in enumerate(rates)
        ]
        targets = [disk / "objects" for disk in disks]
        for target in targets:
            target.mkdir()
        yield stack.enter_context(fuse_file_system(folder, "striped_fs.c", *targets, "-r"))


def objects_of(data: bytes, *, targets: int, unit: int) -> list[bytes]:
    """The bytes of a file on each target: its stripes, one behind the other."""
    stripes = [data[at : at + unit] for at in range(0, len(data), unit)]
    return [b"".join(stripes[i::targets]) for i in range(targets)]


def layout(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """`forebay layout …` with the libraries under test."""
    return subprocess.run(
        [*_COMMAND, *(str(word) for word in words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
        env={
            **m.clean_environment(),
            "FOREBAY_LIBDIR": str(m.LIBRARIES),
            "PYTHONPATH": str(m.ROOT / "python"),
        },
    )


def shown(path: Path) -> dict[str, Any]:
    """`forebay layout show --format json`."""
    done = layout("show", path, "--format", "json")
    ensure(done.returncode == 0, f"layout show {path}: {done.stderr}")
    found = json.loads(done.stdout)
    ensure(isinstance(found, dict), "no JSON object")
    return dict(found)


def write(
    mpi: m.Mpi,
    folder: Path,
    file: Path,
    *,
    factor: int = TARGETS,
    unit: int = UNIT,
    how: str = "create",
    environment: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Runs tests/mpi/striping.c; what it told."""
    program = m.build(mpi, "striping.c")
    settings = m.forebay(folder / RECORD) if environment is None else environment
    words = [program, folder, file, str(factor), str(unit), how]
    m.run(mpi, RANKS, words, environment=settings, seconds_max=60).ensure_success()
    output = Output.read(folder)
    ensure(output.complete, "the program did not come to its end")
    ensure(not output.cases["striping"].wrong, output.cases["striping"].wrong)
    return output.info["striping"]


def recorded(folder: Path) -> list[dict[str, Any]]:
    """The lines of files, in order."""
    lines = [json.loads(line) for line in (folder / RECORD).read_text().splitlines()]
    return [line for line in lines if line["kind"] == "file"]


def ensure_striped(
    folder: Path, told: Mapping[str, str], *, targets: int = TARGETS, unit: int = UNIT
) -> None:
    """The program was told, and the engine divided its work so."""
    ensure(told["striping_factor"] == str(targets), f"told {told}")
    ensure(told["striping_unit"] == str(unit), f"told {told}")
    line = recorded(folder)[-1]
    ensure(
        (line["targets"], line["stripe_bytes"]) == (targets, unit),
        f"{line['targets']} targets of {line['stripe_bytes']} bytes in the record",
    )
