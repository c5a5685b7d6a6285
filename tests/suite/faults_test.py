"""Faults around collective calls: full and failing disks, killed ranks, files that may not be
opened."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from suite import mpi as m
from suite.compare import RECORD, Output
from suite.file_systems import as_nobody, fuse_file_system, mounted_tmpfs, until
from suite.on import EACH, FULL, on
from suite.programs import VARIANTS
from suite.record import Record
from suite.verdict import ensure

NO_SPACE = "MPI_ERR_NO_SPACE"
SUCCESS = "MPI_SUCCESS"


def _left(name: str, mpi: m.Mpi) -> Sequence[pytest.MarkDecorator]:
    """`make test` runs what differs by MPI on both, and each way at least once."""
    once = {"bypass": m.MPICH, "posix": m.OPEN_MPI, "turns": m.MPICH, "nodes": m.OPEN_MPI}
    once |= {"plain": m.MPICH, "other": m.OPEN_MPI}
    return () if once.get(name, mpi) is mpi else (FULL,)


def _run(
    mpi: m.Mpi,
    folder: Path,
    ranks: int,
    mode: str,
    file: Path,
    *arguments: str,
    settings: dict[str, str] | None = None,
) -> m.Ended:
    program = m.build(mpi, "fault.c")
    return m.run(
        mpi,
        ranks,
        [program, folder, mode, file, *arguments],
        seconds_max=60,
        environment=m.forebay(folder / RECORD, **(settings or {})),
    )


def _told(folder: Path, mode: str) -> dict[str, dict[str, str]]:
    output = Output.read(folder)
    ensure(output.complete, "the program did not come to its end")
    ensure(not output.cases[mode].wrong, output.cases[mode].wrong)
    return output.info


NODES = {"ranks_per_node": "2"}
TURNS = VARIANTS["turns"]
FULL_DISKS: Sequence[tuple[str, int, int, dict[str, str]]] = (
    ("pieces", 4, 4096, {}),
    ("bypass", 2, 1 << 20, {}),
    ("nodes", 4, 4096, NODES),
    ("posix", 3, 4096, {"storage": "posix"}),
    ("turns", 4, 4096, TURNS),
)


def _disk_marks(name: str, mpi: m.Mpi) -> Sequence[pytest.MarkDecorator]:
    return [*_left(name, mpi), *([pytest.mark.sanitized] if name == "nodes" else [])]


@pytest.mark.parametrize(
    ("mpi", "ranks", "piece", "settings"),
    [
        *(
            pytest.param(
                *(mpi, *case),
                id=f"{name}-{mpi.name}",
                marks=[*_left(name, mpi), *([pytest.mark.sanitized] if name == "nodes" else [])],
            )
            for mpi in m.DEBIAN
            for name, *case in FULL_DISKS
        ),
        *(
            pytest.param(*(mpi, 3, 4096, {}), id=f"pieces-{mpi.name}", marks=FULL)
            for mpi in m.WHEELS
        ),
    ],
)
def test_full_disk(
    mpi: m.Mpi, ranks: int, piece: int, settings: dict[str, str], folder: Path
) -> None:
    with mounted_tmpfs(folder / "small", "12m") as small:
        file = small / "full.dat"
        (small / "full.dat.ballast").write_bytes(bytes(4 << 20))
        _run(mpi, folder, ranks, "full", file, str(piece), settings=settings).ensure_success()
        told = _told(folder, "full")
        ensure(told["first"]["class"] == NO_SPACE, f"the class is {told['first']['class']}")
        ensure(told["first"]["handler_calls"] == str(ranks), "not every rank's handler was called")
        ensure(told["again"]["class"] == SUCCESS, f"no write after it: {told['again']['class']}")
        ensure(told["close"]["class"] == SUCCESS, f"close failed: {told['close']['class']}")
    files = Record.read(folder / RECORD).of("full.dat")
    files.ensure_some_taken()
    ensure([error["class"] for error in files.errors] == [NO_SPACE], f"recorded {files.errors}")
    message = files.errors[0]["message"]
    ensure(str(file) in message and "pace" in message, f"the message is {message!r}")


@EACH
def test_full_disk_fatal(mpi: m.Mpi, folder: Path) -> None:
    with mounted_tmpfs(folder / "small", "8m") as small:
        ended = _run(mpi, folder, 3, "full_fatal", small / "full.dat")
        ensure(not ended.late, "a fatal error hangs")
        ensure(ended.status != 0, "a fatal error did not end the job")
        ensure("a fatal error came back" not in ended.text, "a fatal error came back")


@pytest.mark.parametrize(
    ("mpi", "settings"),
    [
        pytest.param(*(mpi, settings), id=f"{name}-{mpi.name}", marks=_left(name, mpi))
        for mpi in m.DEBIAN
        for name, settings in (
            ("pieces", {}),
            ("nodes", NODES),
            ("turns", TURNS),
            ("posix", {"storage": "posix"}),
        )
    ],
)
def test_failing_storage(mpi: m.Mpi, settings: dict[str, str], folder: Path) -> None:
    with fuse_file_system(folder, "failing_fs.c", str(5 << 20)) as mount:
        _run(mpi, folder, 4, "failing", mount / "failing.dat", settings=settings).ensure_success()
        told = _told(folder, "failing")
        for what in ("write", "read"):
            ensure(told[what]["class"] == "MPI_ERR_IO", f"{what}: {told[what]['class']}")
            ensure(told[what]["handler_calls"] == "4", f"{what}: not every handler was called")
        ensure(told["close"]["class"] == SUCCESS, f"close failed: {told['close']['class']}")
    files = Record.read(folder / RECORD).of("failing.dat")
    ensure([error["class"] for error in files.errors] == ["MPI_ERR_IO"] * 2, f"{files.errors}")


def _alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def _shared_memory() -> set[str]:
    """The files in /dev/shm that no living process has mapped: mapped ones may be those of other
    jobs."""
    mapped = ""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            mapped += (process / "maps").read_text()
    files = [entry for entry in Path("/dev/shm").iterdir() if entry.is_file()]
    return {entry.name for entry in files if f"/dev/shm/{entry.name}" not in mapped}


@pytest.mark.parametrize(
    ("mpi", "victim", "settings"),
    [
        pytest.param(*(mpi, victim, settings), id=f"{name}-{mpi.name}", marks=_left(name, mpi))
        for mpi in m.DEBIAN
        for name, victim, settings in (
            ("plain", 1, None),
            ("leader", 0, {}),
            ("other", 3, {}),
            ("nodes", 2, NODES),
            ("turns", 2, TURNS),
        )
    ],
)
def test_killed(mpi: m.Mpi, victim: int, settings: dict[str, str] | None, folder: Path) -> None:
    """`settings` None: without Forebay, to see what the MPI alone leaves behind."""
    before = _shared_memory()
    environment = {} if settings is None else m.forebay(None, verbose="true", **settings)
    program = m.build(mpi, "fault.c")
    command = [
        *mpi.start(4, {"TEST_SECONDS_MAX": "90", **environment}),
        program,
        folder,
        "endless",
        folder / "endless.dat",
    ]
    with (folder / "log").open("w") as log, m.started(command, log) as process:
        ensure(until((folder / "running").exists, 180), "no call was done")
        pids = [int((folder / f"pid.{rank}").read_text()) for rank in range(4)]
        os.kill(pids[victim], signal.SIGKILL)
        ended = until(lambda: process.poll() is not None, 120)
    ensure(settings is None or "taken over" in (folder / "log").read_text(), "Forebay did not run")
    ensure(ended, "the job goes on after a rank was killed")
    ensure(process.returncode != 0, "the job ended with success")
    ensure(until(lambda: not any(map(_alive, pids)), 60), f"processes are left: {pids}")
    # Jobs beside this one come and go: what is left stays.
    left = _shared_memory() - before

    def gone() -> bool:
        left.intersection_update(_shared_memory())
        return not left

    ensure(until(gone, 30), f"left in /dev/shm: {sorted(left)}")


@on(m.MPICH, full=[m.OPEN_MPI])
def test_settings_typo(mpi: m.Mpi, folder: Path) -> None:
    settings = folder / "forebay.toml"
    settings.write_text("verbose = false\n\ncb_nodez = 4\n")
    (folder / "data").write_bytes(b"x")
    program = m.build(mpi, "fault.c")
    ended = m.run(
        mpi,
        3,
        [program, folder, "open", folder / "data"],
        seconds_max=60,
        environment={**m.forebay(None), "FOREBAY_SETTINGS": str(settings)},
    )
    ended.ensure_success()
    told = _told(folder, "open")
    ensure(told["open"]["class"] != SUCCESS, "the file was opened")
    lines = [line for line in ended.text.splitlines() if "forebay" in line]
    ensure(len(lines) == 1, f"told {len(lines)} times:\n{ended.tail}")
    for word in (f"{settings}:3", "cb_nodez", "cb_nodes"):
        ensure(word in lines[0], f"{word!r} is not in the message {lines[0]!r}")


@on(m.MPICH, full=[m.OPEN_MPI])
def test_good_settings(mpi: m.Mpi, folder: Path) -> None:
    settings = folder / "forebay.toml"
    settings.write_text(f'cb_nodes = 1\nexclude = ["/nowhere", "{folder}/full.dat"]\n')
    program = m.build(mpi, "fault.c")
    for name in ("data", "full.dat"):
        environment = {**m.forebay(folder / RECORD), "FOREBAY_SETTINGS": str(settings)}
        m.run(
            mpi,
            2,
            [program, folder, "shut", folder / name],
            seconds_max=60,
            environment=environment,
        ).ensure_success()
    record = Record.read(folder / RECORD)
    record.of("data").ensure_taken(writes=1, reads=0)
    record.of("full.dat").ensure_all_left("path is excluded or not a plain file path")


@on(m.MPICH, full=[m.OPEN_MPI])
def test_denied(mpi: m.Mpi, folder: Path) -> None:
    prefix = as_nobody(folder)
    (folder / "data").write_bytes(b"x")
    (folder / "data").chmod(0)
    program = m.build(mpi, "fault.c")
    command = [*mpi.start(3, m.forebay(folder / RECORD)), str(program), str(folder), "open"]
    m.launch([*prefix, *command, str(folder / "data")], seconds_max=60).ensure_success()
    told = _told(folder, "open")
    ensure(told["open"]["class"] == "MPI_ERR_ACCESS", f"the class is {told['open']['class']}")


@on(m.MPICH, full=[m.OPEN_MPI])
def test_missing(mpi: m.Mpi, folder: Path) -> None:
    _run(mpi, folder, 3, "open", folder / "no" / "data").ensure_success()
    told = _told(folder, "open")
    ensure(told["open"]["class"] == "MPI_ERR_NO_SUCH_FILE", f"it is {told['open']['class']}")


@EACH
def test_shut(mpi: m.Mpi, folder: Path) -> None:
    prefix = as_nobody(folder)
    program = m.build(mpi, "fault.c")
    command = [*mpi.start(3, m.forebay(folder / RECORD)), str(program), str(folder), "shut"]
    m.launch([*prefix, *command, str(folder / "data")], seconds_max=60).ensure_success()
    _told(folder, "shut")
    files = Record.read(folder / RECORD).of("data")
    files.ensure_left("MPI_File_write_at_all", "file cannot be opened a second time by its name")


@EACH
def test_unclosed(mpi: m.Mpi, folder: Path) -> None:
    _run(mpi, folder, 2, "unclosed", folder / "open.dat")  # the MPI may object
    files = Record.read(folder / RECORD).of("open.dat")
    ensure([line.closed for line in files.lines] == [False], f"the record has {files.lines}")
    ensure((folder / "open.dat").read_bytes() == b"xx", "something else was written")
