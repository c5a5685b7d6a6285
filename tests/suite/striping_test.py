"""Layouts where files are created: the hints striping_factor and striping_unit, and `forebay
layout`, on a file system that says what Lustre says (tests/mpi/striped_fs.c)."""

from __future__ import annotations

import os
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from suite import mpi as m
from suite.compare import RECORD, Output, first_difference
from suite.file_systems import until
from suite.on import FULL, on
from suite.record import Record
from suite.striping import (
    HEADER,
    IN_FLIGHT,
    PARALLEL_SINCE,
    TARGETS,
    UNIT,
    ensure_striped,
    layout,
    objects_of,
    recorded,
    shown,
    striped_file_system,
    striping_file_system,
    write,
)
from suite.verdict import ensure


@pytest.mark.parametrize(
    ("mpi", "how"),
    [
        *(
            pytest.param(mpi, how, id=f"{how}-{mpi.name}")
            for mpi in m.DEBIAN
            for how in ("create", "exclusive")
        ),
        *(
            pytest.param(mpi, "exclusive", id=f"exclusive-{mpi.name}", marks=FULL)
            for mpi in m.WHEELS
        ),
    ],
)
def test_hints(mpi: m.Mpi, how: str, folder: Path) -> None:
    with striped_file_system(folder) as mount:
        told = write(mpi, folder, mount / "file", how=how)
        ensure(told["open"] == "MPI_SUCCESS" and told["amode"] == "as asked", f"told {told}")
        ensure_striped(folder, told)
        ensure(recorded(folder)[0]["warnings"] == [], f"{recorded(folder)[0]['warnings']}")
        found = shown(mount / "file")
        ensure((found["targets"], found["stripe_bytes"]) == (TARGETS, UNIT), f"shown {found}")
        ensure(found["components"][0]["osts"] == [0, 1, 2], f"shown {found}")


@on(m.OPEN_MPI, full=[m.MPICH])
def test_settings(mpi: m.Mpi, folder: Path) -> None:
    """Without a hint of the program."""
    with striped_file_system(folder) as mount:
        settings = m.forebay(folder / RECORD, striping_factor="2", striping_unit="128k")
        told = write(mpi, folder, mount / "file", factor=0, environment=settings)
        ensure_striped(folder, told, targets=2, unit=131072)


@on(m.MPICH, full=[m.OPEN_MPI])
def test_mismatch(mpi: m.Mpi, folder: Path) -> None:
    with striped_file_system(folder) as mount:
        told = write(mpi, folder, mount / "file", factor=8)
        ensure_striped(folder, told)
        (warning,) = recorded(folder)[0]["warnings"]
        ensure("3 stripes instead of 8 stripes" in warning, warning)


@on(m.MPICH, full=[m.OPEN_MPI])
def test_existing(mpi: m.Mpi, folder: Path) -> None:
    """A file with data keeps its layout; one that is only opened is none of the hints' business."""
    with striped_file_system(folder) as mount:
        write(mpi, folder, mount / "file", factor=1, unit=1 << 20)
        told = write(mpi, folder, mount / "file")
        ensure_striped(folder, told, targets=1, unit=1 << 20)
        warnings = recorded(folder)[1]["warnings"]
        ensure(len(warnings) == 1 and "bytes already" in warnings[0], f"{warnings}")
        write(mpi, folder, mount / "file", how="open")
        ensure(recorded(folder)[2]["warnings"] == [], f"{recorded(folder)[2]['warnings']}")


@on(*m.DEBIAN)
def test_exclusive(mpi: m.Mpi, folder: Path) -> None:
    """MPI_MODE_EXCL on a file that is there fails as without Forebay, and leaves it alone."""
    with striped_file_system(folder) as mount:
        (mount / "file").write_bytes(b"")
        plain = write(mpi, folder, mount / "file", how="exclusive", environment={})
        told = write(mpi, folder, mount / "file", how="exclusive")
        ensure(plain["open"] != "MPI_SUCCESS", f"plain told {plain}")
        ensure(told["open"] == plain["open"], f"{told['open']} instead of {plain['open']}")
        ensure(shown(mount / "file")["targets"] == 1, "the file was given another layout")


@on(m.MPICH, full=[m.OPEN_MPI])
def test_broken(mpi: m.Mpi, folder: Path) -> None:
    """An attribute that is cut short: one target, and a warning."""
    with striped_file_system(folder) as mount:
        write(mpi, folder, mount / "broken", factor=0)
        line = recorded(folder)[0]
        ensure((line["targets"], line["stripe_bytes"]) == (1, 0), f"{line}")
        ensure("ends after 20 of 32 bytes" in line["warnings"][0], f"{line['warnings']}")


@on(m.OPEN_MPI, full=[m.MPICH])
def test_nothing_striped(mpi: m.Mpi, folder: Path) -> None:
    """Hints do nothing there, and this is said once."""
    told = write(mpi, folder, folder / "one")
    ensure(told["open"] == "MPI_SUCCESS", f"told {told}")
    line = recorded(folder)[0]
    ensure((line["targets"], line["stripe_bytes"]) == (TARGETS, UNIT), "hints divide the work")
    (warning,) = line["warnings"]
    ensure("has no layouts that can be set" in warning, warning)


@on(m.OPEN_MPI, full=[m.MPICH])
def test_disabled(mpi: m.Mpi, folder: Path) -> None:
    """Forebay that is switched off makes no file."""
    with striped_file_system(folder) as mount:
        settings = m.forebay(folder / RECORD, enabled="false", striping_factor="3")
        write(mpi, folder, mount / "file", factor=0, environment=settings)
        ensure(shown(mount / "file")["targets"] == 1, "the file was given a layout")


@on(m.MPICH, full=[m.OPEN_MPI])
def test_one_rank(mpi: m.Mpi, folder: Path) -> None:
    program = m.build(mpi, "striping.c")
    with striped_file_system(folder) as mount:
        words = [program, folder, mount / "file", "3", str(UNIT), "exclusive"]
        m.run(mpi, 1, words, environment=m.forebay(folder / RECORD)).ensure_success()
        ensure(Output.read(folder).info["striping"]["amode"] == "as asked", "amode")
        ensure(shown(mount / "file")["targets"] == TARGETS, "no layout was given")


@on(*m.DEBIAN)
def test_targets(mpi: m.Mpi, folder: Path) -> None:
    """The same bytes as plain, each stripe on its target, however many requests are in flight."""
    write(mpi, folder, folder / "plain", environment={})
    expected = objects_of((folder / "plain").read_bytes(), targets=TARGETS, unit=UNIT)
    with striping_file_system(folder) as (mount, targets):
        for limit in IN_FLIGHT:
            file = mount / f"file-{limit}"
            settings = m.forebay(folder / RECORD, requests_in_flight=limit, limits_cache="")
            told = write(mpi, folder, file, environment=settings)
            ensure_striped(folder, told)
            Record.read(folder / RECORD).of(file.name).ensure_taken(writes=1, reads=1)
            fault = first_difference(folder / "plain", file)
            ensure(not fault, fault)
            found = [(target / file.name).read_bytes() for target in targets]
            ensure(found == expected, f"the objects of {file} hold something else")


def _ensure_as(file: int, oracle: bytes | bytearray, at: int, length: int) -> None:
    ensure(os.fstat(file).st_size == len(oracle), f"{os.fstat(file).st_size} bytes")
    read = os.pread(file, length, at)
    ensure(read == oracle[at : at + length], f"{length} bytes from {at} on are others")


def _write_at_random(file: int, choice: random.Random) -> bytes:
    """Writes, holes, truncations and reads, all over and behind the file; what it must hold."""
    oracle = bytearray()
    for _ in range(400):
        at = choice.randrange(8 * UNIT)
        if choice.random() < 0.8:
            data = choice.randbytes(choice.choice((1, 100, UNIT, 3 * UNIT + 7)))
            ensure(os.pwrite(file, data, at) == len(data), "a short write")
            oracle.extend(bytes(max(0, at - len(oracle))))
            oracle[at : at + len(data)] = data
        else:
            os.ftruncate(file, at)
            oracle = oracle[:at] + bytes(max(0, at - len(oracle)))
        _ensure_as(file, oracle, choice.randrange(8 * UNIT), choice.choice((1, UNIT, 4 * UNIT)))
    return bytes(oracle)


def test_objects(folder: Path) -> None:
    """The file system itself: it is what other tests and evaluation/gate_on_loops.sh stand on."""
    with striping_file_system(folder) as (mount, targets):
        done = layout("set", "-c", str(TARGETS), "-S", "64k", mount / "file")
        ensure(done.returncode == 0, done.stderr)
        file = os.open(mount / "file", os.O_RDWR)
        try:
            oracle = _write_at_random(file, random.Random(4))
            os.fsync(file)
        finally:
            os.close(file)
        wanted = objects_of(oracle, targets=TARGETS, unit=UNIT)
        for target, object_wanted in zip(targets, wanted, strict=True):
            found = (target / "file").read_bytes()  # a hole at the end is not there
            ensure(found.ljust(len(object_wanted), b"\0") == object_wanted, f"{target} is wrong")
        (mount / "file").write_bytes(b"short")
        ensure((mount / "file").read_bytes() == b"short", "something is left of before")
        (mount / "file").unlink()
        ensure(not any((target / "file").exists() for target in targets), "objects are left")


def test_at_once(folder: Path) -> None:
    """While a target keeps a write waiting, another write of the file reaches another target."""
    kernel = tuple(int(part) for part in os.uname().release.split(".")[:2])
    if kernel < PARALLEL_SINCE:
        pytest.skip("this kernel does not let FUSE writes of a file run at the same time")
    with striping_file_system(folder) as (mount, targets):
        layout("set", "-c", str(TARGETS), "-S", "64k", mount / "file")
        os.truncate(mount / "file", 2 * UNIT)
        os.mkfifo(targets[1] / "file")  # opening it for writing waits for a reader
        file = os.open(mount / "file", os.O_WRONLY)
        with ThreadPoolExecutor() as threads:
            waiting = threads.submit(os.pwrite, file, b"x", UNIT)
            came = until(lambda: b"1" in os.getxattr(mount, "striped_fs.at_once"), 60)
            passing = threads.submit(os.pwrite, file, b"x", 0)
            passed = until(passing.done, 60)
            left = not waiting.done()
            os.close(os.open(targets[1] / "file", os.O_RDONLY))
            fault = waiting.exception()
        os.close(file)
        ensure(came and left, "the first write did not wait")
        ensure(passed, "the second write waited for the first")
        ensure(isinstance(fault, OSError), f"a pipe was written at an offset: {fault}")


def test_command(folder: Path) -> None:
    """`forebay layout` makes files, changes none that has its layout, and explains itself."""
    with striped_file_system(folder) as mount:
        done = layout("set", "-c", "2", "-S", "64k", mount / "new")
        ensure(done.returncode == 0, done.stderr)
        ensure("2 targets, stripes of 64 KiB" in done.stdout, done.stdout)
        magic, _, _, unit, count, _ = HEADER.unpack_from(os.getxattr(mount / "new", "lustre.lov"))
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
