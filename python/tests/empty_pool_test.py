"""Tests the messages where nothing went through a pool: where the program wrote, or why that may
be."""

import json
import os
from collections.abc import Callable
from pathlib import Path

from forebay.common.files.record_file import read_record
from forebay.machine_ports import World
from forebay.pool.files.daemon_document import decode_status
from forebay.pool.model.pool import PoolEnd
from forebay.run.report.summary import as_text
from forebay.run.use_case.run_plan import RunRequest, plan_run
from forebay.run.use_case.run_program import carry_out
from forebay.run.use_case.run_report import RunReport
from forebay.settings.model.given import Override

MakeWorld = Callable[..., World]
FILE = {
    "path": "/scratch/out", "state": "closed", "reason": "", "error": 0, "error_text": "",
    "taken": 0, "drained": 0, "outstanding": 0, "window": 1, "high": 0, "extents": 0,
    "oldest_seconds": 0, "silent_seconds": 0, "waited_seconds": 0, "storage_seconds": 0,
    "storage_bytes": 0, "requests": 0, "rate": 0, "times": 1, "opening_seconds": 0,
    "syncing_seconds": 0, "draining_seconds": 0, "syncs": 0,
}  # fmt: skip
USUAL = {
    "schema": "forebay.pool/1", "process": 77, "uptime_seconds": 3, "ended": True, "closing": True,
    "cap": 1 << 30, "leased": 0, "high": 0, "read_ahead_held": 0, "read_ahead": 0, "lag": 0,
    "oldest_seconds": 0, "clients": [], "files_dropped": 0, "rescued": [],
    "read_from_nodes": 0, "passed_to_nodes": 0, "written_by_nodes": 0, "written_for_nodes": 0,
    "wait_bounds_seconds": [], "waits": [],
    "notes": [], "host": "n0", "memory": 0,
    "memory_limit_file": "", "durability_ended": "", "storage_seconds": 0, "clients_high": 0,
}  # fmt: skip


def why_empty(world: World, *words: str, pool: Path | None = None) -> RunReport:
    asked = RunRequest(command=words or ("./program",), pool=(pool or Path(),))
    return carry_out(plan_run(asked, world), world)


def test_an_empty_pool_is_explained_once(make_world: MakeWorld, tmp_path: Path) -> None:
    report = why_empty(make_world())
    assert report.reasons == (f"The program opened no file below {tmp_path}.",)
    text = as_text(report)
    assert "Nothing went through the pool. The program opened no file" in text
    assert "through the pool: 0 B" not in text


def test_only_what_may_have_left_a_pool_empty_is_named(make_world: MakeWorld) -> None:
    (static,) = why_empty(make_world(), "./static").reasons
    assert "statically linked" in static
    failed = why_empty(make_world(processes={"status": 3}))
    assert "failed (status 3), maybe before" in failed.reasons[0]
    for words in (("mpiexec", "./program"), ("./job.sh",), ("sh", "-c", "./program")):
        _, lost = why_empty(make_world(), *words).reasons
        assert "LD_PRELOAD" in lost


def ended(make_world: MakeWorld, **changes: int) -> World:
    """A pool of which one file was opened, and what else there is of it."""
    document = {**USUAL, "files": [{**FILE, "taken": changes.pop("taken", 0)}], **changes}
    end = PoolEnd(status=decode_status(json.dumps(document)), seconds=0.5)
    return make_world(pools={"end": end})


def test_a_pool_that_takes_nothing_more_is_itself_the_reason(make_world: MakeWorld) -> None:
    """It was said that a program is statically linked, whatever the daemon's own note was."""
    note = "There is no memory for one more process. From now on all is written through."
    status = decode_status(json.dumps({**USUAL, "files": [], "notes": ["other", note]}))
    world = make_world(pools={"end": PoolEnd(status=status, seconds=0.1)})
    assert why_empty(world, "./job.sh").reasons == (note,)


def test_a_pool_that_was_only_read_from_says_so(make_world: MakeWorld) -> None:
    (only_read,) = why_empty(ended(make_world)).reasons
    assert "nothing was written to them" in only_read
    assert why_empty(ended(make_world, taken=5)).reasons == ()
    assert why_empty(ended(make_world, read_ahead=5)).reasons == ()


def changed(path: Path) -> None:
    """As if it were written while the program runs."""
    path.parent.mkdir(exist_ok=True)
    path.write_text("x")
    os.utime(path, (1 << 40, 1 << 40))


def test_where_the_program_wrote_instead_of_the_pool_is_told(
    make_world: MakeWorld, tmp_path: Path
) -> None:
    (tmp_path / "pool").mkdir()
    changed(tmp_path / "out")
    (told,) = why_empty(make_world(), pool=Path("pool")).reasons
    assert f"{tmp_path}/out was written meanwhile" in told
    assert f"Say --pool {tmp_path} to have it" in told
    changed(tmp_path / "there" / "of=me")
    words = ("./program", "of=there/of=me")
    (told,) = why_empty(make_world(), *words, pool=Path("pool")).reasons
    assert "FOLDER, for each" in told
    changed(tmp_path / "pool" / "out")
    (told,) = why_empty(make_world(), "./program", "pool", pool=Path("pool")).reasons
    assert "by a program that the pool does not see" in told


def test_a_mount_is_not_said_to_miss_programs(make_world: MakeWorld, tmp_path: Path) -> None:
    """It leaves small files to the file system; it was said that their program is static."""
    changed(tmp_path / "pool" / "out")
    words = ("./static", "pool")
    overrides = (Override("pool_mount", "require"),)
    asked = RunRequest(command=words, pool=(Path("pool"),), overrides=overrides)
    world = make_world()
    (told,) = carry_out(plan_run(asked, world), world).reasons
    assert f"{tmp_path}/pool/out was written below {tmp_path}/pool, and a file goes into" in told
    (tmp_path / "pool" / "out").unlink()
    (told,) = carry_out(plan_run(asked, world), world).reasons
    assert told == f"The program wrote no file below {tmp_path}/pool."


def test_what_mpi_wrote_elsewhere_is_told_as_well(make_world: MakeWorld, root: Path) -> None:
    record = read_record(root / "schema" / "examples" / "record-1.jsonl")
    (told,) = why_empty(make_world(records={"record": record})).reasons
    assert "/scratch/ocean.nc was written meanwhile" in told
