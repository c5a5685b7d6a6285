"""Layouts where files are created: the hints striping_factor and striping_unit, and `forebay
layout`, on a file system that says what Lustre says (tests/mpi/striped_fs.c)."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import struct
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bench import wheels

from suite import mpi as m
from suite.compare import RECORD, Output
from suite.faults import fuse_file_system
from suite.runner import Test, ensure

RANKS = 3
TARGETS = 3
UNIT = 65536
_COMMAND = [wheels.python_with_pip(), "-m", "forebay", "layout"]
_HEADER = struct.Struct("<II16sIHH")


@contextlib.contextmanager
def striped_file_system(folder: Path) -> Iterator[Path]:
    """Three targets."""
    with fuse_file_system(folder, "striped_fs.c", str(TARGETS)) as mount:
        yield mount


def layout(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """`forebay layout …` with the libraries under test."""
    return subprocess.run(
        [*_COMMAND, *(str(word) for word in words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
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


def _hints(mpi: m.Mpi, how: str, folder: Path) -> None:
    with striped_file_system(folder) as mount:
        told = write(mpi, folder, mount / "file", how=how)
        ensure(told["open"] == "MPI_SUCCESS" and told["amode"] == "as asked", f"told {told}")
        ensure_striped(folder, told)
        ensure(recorded(folder)[0]["warnings"] == [], f"{recorded(folder)[0]['warnings']}")
        found = shown(mount / "file")
        ensure((found["targets"], found["stripe_bytes"]) == (TARGETS, UNIT), f"shown {found}")
        ensure(found["components"][0]["osts"] == [0, 1, 2], f"shown {found}")


def _settings(mpi: m.Mpi, folder: Path) -> None:
    """Without a hint of the program."""
    with striped_file_system(folder) as mount:
        settings = m.forebay(folder / RECORD, striping_factor="2", striping_unit="128k")
        told = write(mpi, folder, mount / "file", factor=0, environment=settings)
        ensure_striped(folder, told, targets=2, unit=131072)


def _mismatch(mpi: m.Mpi, folder: Path) -> None:
    with striped_file_system(folder) as mount:
        told = write(mpi, folder, mount / "file", factor=8)
        ensure_striped(folder, told)
        (warning,) = recorded(folder)[0]["warnings"]
        ensure("3 stripes instead of 8 stripes" in warning, warning)


def _existing(mpi: m.Mpi, folder: Path) -> None:
    """A file with data keeps its layout; one that is only opened is none of the hints' business."""
    with striped_file_system(folder) as mount:
        write(mpi, folder, mount / "file", factor=1, unit=1 << 20)
        told = write(mpi, folder, mount / "file")
        ensure_striped(folder, told, targets=1, unit=1 << 20)
        warnings = recorded(folder)[1]["warnings"]
        ensure(len(warnings) == 1 and "bytes already" in warnings[0], f"{warnings}")
        write(mpi, folder, mount / "file", how="open")
        ensure(recorded(folder)[2]["warnings"] == [], f"{recorded(folder)[2]['warnings']}")


def _exclusive(mpi: m.Mpi, folder: Path) -> None:
    """MPI_MODE_EXCL on a file that is there fails as without Forebay, and leaves it alone."""
    with striped_file_system(folder) as mount:
        (mount / "file").write_bytes(b"")
        plain = write(mpi, folder, mount / "file", how="exclusive", environment={})
        told = write(mpi, folder, mount / "file", how="exclusive")
        ensure(plain["open"] != "MPI_SUCCESS", f"plain told {plain}")
        ensure(told["open"] == plain["open"], f"{told['open']} instead of {plain['open']}")
        ensure(shown(mount / "file")["targets"] == 1, "the file was given another layout")


def _broken(mpi: m.Mpi, folder: Path) -> None:
    """An attribute that is cut short: one target, and a warning."""
    with striped_file_system(folder) as mount:
        write(mpi, folder, mount / "broken", factor=0)
        line = recorded(folder)[0]
        ensure((line["targets"], line["stripe_bytes"]) == (1, 0), f"{line}")
        ensure("ends after 20 of 32 bytes" in line["warnings"][0], f"{line['warnings']}")


def _nothing_striped(mpi: m.Mpi, folder: Path) -> None:
    """Hints do nothing there, and this is said once."""
    told = write(mpi, folder, folder / "one")
    ensure(told["open"] == "MPI_SUCCESS", f"told {told}")
    line = recorded(folder)[0]
    ensure((line["targets"], line["stripe_bytes"]) == (TARGETS, UNIT), "hints divide the work")
    (warning,) = line["warnings"]
    ensure("has no layouts that can be set" in warning, warning)


def _disabled(mpi: m.Mpi, folder: Path) -> None:
    """Forebay that is switched off makes no file."""
    with striped_file_system(folder) as mount:
        settings = m.forebay(folder / RECORD, enabled="false", striping_factor="3")
        write(mpi, folder, mount / "file", factor=0, environment=settings)
        ensure(shown(mount / "file")["targets"] == 1, "the file was given a layout")


def _one_rank(mpi: m.Mpi, folder: Path) -> None:
    program = m.build(mpi, "striping.c")
    with striped_file_system(folder) as mount:
        words = [program, folder, mount / "file", "3", str(UNIT), "exclusive"]
        m.run(mpi, 1, words, environment=m.forebay(folder / RECORD)).ensure_success()
        ensure(Output.read(folder).info["striping"]["amode"] == "as asked", "amode")
        ensure(shown(mount / "file")["targets"] == TARGETS, "no layout was given")


def _command(folder: Path) -> None:
    """`forebay layout` makes files, changes none that has its layout, and explains itself."""
    with striped_file_system(folder) as mount:
        done = layout("set", "-c", "2", "-S", "64k", mount / "new")
        ensure(done.returncode == 0, done.stderr)
        ensure("2 targets, stripes of 64 KiB" in done.stdout, done.stdout)
        magic, _, _, unit, count, _ = _HEADER.unpack_from(os.getxattr(mount / "new", "lustre.lov"))
        ensure((magic, unit, count) == (0x0BD10BD0, UNIT, 2), f"the attribute has {count}, {unit}")
        again = layout("set", "-c", "3", mount / "new")
        ensure(again.returncode == 1, f"status {again.returncode}")
        ensure("2 stripes instead of 3 stripes" in again.stderr, again.stderr)
        (mount / "old").write_bytes(b"abc")
        full = layout("set", "-c", "3", mount / "old")
        ensure(full.returncode == 1 and "3 bytes already" in full.stderr, full.stderr)
        found = shown(mount)
        ensure((found["kind"], found["from"]) == ("directory", str(mount)), f"shown {found}")
    nowhere = layout("set", "-c", "3", folder / "none")
    ensure(nowhere.returncode == 1 and "no layouts that can be set" in nowhere.stderr, "none")
    ensure(not (folder / "none").exists(), "a file was made for nothing")
    ensure(shown(folder)["file_system"] == "none", "a folder here is striped?")


CASES: Mapping[str, Callable[[m.Mpi, Path], None]] = {
    "hints": functools.partial(_hints, how="create"),
    "hints-exclusive": functools.partial(_hints, how="exclusive"),
    "settings": _settings,
    "mismatch": _mismatch,
    "existing": _existing,
    "exclusive": _exclusive,
    "broken": _broken,
    "nothing": _nothing_striped,
    "disabled": _disabled,
    "one-rank": _one_rank,
}


def _run(case: Callable[[m.Mpi, Path], None], mpi: m.Mpi, folder: Path) -> None:
    case(mpi, folder=folder)  # type: ignore[call-arg]


def tests() -> Iterator[Test]:
    for mpi in m.DEBIAN:
        for name, case in CASES.items():
            yield Test(name=f"striping-{name}-{mpi.name}", run=functools.partial(_run, case, mpi))
    for mpi in m.WHEELS:
        yield Test(
            name=f"striping-hints-{mpi.name}",
            run=functools.partial(_run, CASES["hints-exclusive"], mpi),
        )
    yield Test(name="striping-command", run=_command)
