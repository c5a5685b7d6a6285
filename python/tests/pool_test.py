"""The pool as the command sees it: messages, documents, runs in an imagined world, rescue files."""

import base64
import dataclasses
import json
import os
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forebay.common.model.errors import PoolError, PoolStartError, UsageError
from forebay.machine_ports import World
from forebay.pool.files.daemon_document import decode_ready, decode_status
from forebay.pool.files.daemon_start import environment_of
from forebay.pool.files.fleet import put_together, together
from forebay.pool.files.message_table import pool_messages
from forebay.pool.files.pools import LocalPools
from forebay.pool.model.messages import MessageLayout, QuestionKind
from forebay.pool.model.place import PoolPlace
from forebay.pool.model.pool import Lost, PoolEnd, PoolFile, PoolStatus, Rescued
from forebay.pool.report.text import outcome_as_json, outcome_lines, status_lines
from forebay.pool.use_case.manage import StartRequest, socket_of, start_pool
from forebay.pool.use_case.run_pool import PoolOutcome, pool_paths
from forebay.run.report.summary import as_json, as_text
from forebay.run.use_case.run_plan import RunRequest, plan_run
from forebay.run.use_case.run_program import carry_out
from forebay.run.use_case.run_report import RunReport
from forebay.settings.model.given import Override

MakeWorld = Callable[..., World]
PRELOAD = "/opt/forebay/libforebay_mpi.so:/opt/forebay/libforebay_posix.so"


def status(**changes: Any) -> PoolStatus:
    usual: dict[str, Any] = {
        "process": 77, "uptime_seconds": 3.0, "ended": True, "closing": True,
        "cap": 1 << 30, "leased": 0, "high": 1 << 20, "read_ahead_held": 0,
        "read_ahead": 0, "lag": 0, "oldest_seconds": 0.0, "clients": (), "files": (),
        "files_dropped": 0, "rescued": (), "storage_seconds": 2.0, "clients_high": 1,
    }  # fmt: skip
    return PoolStatus(**{**usual, **changes})


def file(**changes: Any) -> PoolFile:
    usual: dict[str, Any] = {
        "path": "/scratch/out", "state": "closed", "reason": "", "error": 0, "error_text": "",
        "taken": 4 << 20, "drained": 4 << 20, "outstanding": 0, "window": 1 << 28, "high": 2 << 20,
        "extents": 0,
        "oldest_seconds": 0.0, "silent_seconds": 0.0, "waited_seconds": 0.5, "storage_seconds": 2.0,
        "opening_seconds": 0.0, "syncing_seconds": 0.0, "draining_seconds": 0.0, "syncs": 0,
        "storage_bytes": 4 << 20, "requests": 1, "rate": float(2 << 20), "times": 1,
    }  # fmt: skip
    return PoolFile(**{**usual, **changes})


FULL = Rescued(
    path="/scratch/out", error=28, error_text="No space left on device", bytes=3 << 20,
    file="/home/me/forebay-rescue-1-1/1-out", problem="",
)  # fmt: skip


def outcome(**changes: Any) -> PoolOutcome:
    usual: dict[str, Any] = {"status": status(files=(file(),)), "seconds": 0.5}
    return PoolOutcome(paths=(Path("/scratch"),), end=PoolEnd(**{**usual, **changes}))


# --- messages


LAYOUT_PROGRAM = """
#include "pool_protocol/messages.hpp"
#include <cstddef>
#include <cstdio>
using namespace forebay::protocol;
int main() {
    std::printf("%zu %zu\\n", sizeof(ClientQuestion), sizeof(DaemonReply));
    std::printf("%llx\\n", static_cast<unsigned long long>(forebay::pool::format));
LINES}
"""


def printed_layout(messages: tuple[tuple[str, MessageLayout], ...]) -> str:
    """C++ that says where each field lies, and how long it is."""
    return "".join(
        f'    std::printf("%zu %zu\\n", offsetof({kind}, {name}), sizeof({kind}::{name}));\n'
        for kind, layout in messages
        for name in layout.names
    )


def fields_of(layout: MessageLayout) -> list[str]:
    """The same as `struct` has them."""
    codes = re.findall(r"\d*[A-Za-z]", layout.form)
    sizes = [struct.calcsize("=" + code) for code in codes]
    return [f"{sum(sizes[:at])} {size}" for at, size in enumerate(sizes)]


def test_messages_lie_in_memory_as_the_compiler_has_them(root: Path, tmp_path: Path) -> None:
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        pytest.skip("no C++ compiler")
    table = pool_messages()
    messages = (("ClientQuestion", table.question_layout), ("DaemonReply", table.reply_layout))
    generator, toml = root / "tools" / "generate_messages.py", root / "schema/pool_messages.toml"
    subprocess.run([sys.executable, generator, toml, tmp_path / "pool_protocol"], check=True)
    (tmp_path / "layout.cpp").write_text(
        LAYOUT_PROGRAM.replace("LINES", printed_layout(messages)), encoding="utf-8"
    )
    line = [compiler, "-std=c++20", "-I.", "layout.cpp", "-o", "layout"]
    subprocess.run(line, check=True, cwd=tmp_path)
    done = subprocess.run([tmp_path / "layout"], check=True, capture_output=True, text=True)
    sizes, version, *fields = done.stdout.splitlines()
    assert sizes == " ".join(str(layout.length) for _, layout in messages)
    assert int(version, 16) == table.format
    assert fields == [line for _, layout in messages for line in fields_of(layout)]


def test_messages_have_the_numbers_that_they_were_given() -> None:
    table = pool_messages()
    assert (table.question_layout.form, table.reply_layout.form) == ("=QIIIIqQQ256s", "=QIiIIIIq")
    assert {ask: table.asks[ask] for ask in QuestionKind} == {
        QuestionKind.WATCH: 2, QuestionKind.STATUS: 9,
        QuestionKind.DRAIN: 10, QuestionKind.STOP: 11,
    }  # fmt: skip
    assert table.numbers_of(("pooled", "leaving")) == {1, 2}


def test_a_question_is_about_no_file() -> None:
    table = pool_messages()
    data = table.question(QuestionKind.DRAIN)
    assert len(data) == table.question_layout.length
    assert data[:8] == table.format.to_bytes(8, "little")
    assert data[8] == table.asks[QuestionKind.DRAIN]
    assert not any(data[9:])


def test_a_reply_of_another_version_or_length_is_none() -> None:
    table = pool_messages()
    data = table.format.to_bytes(8, "little") + bytes([10, 0, 0, 0, 28]) + bytes(27)
    said = table.reply(data)
    assert said is not None
    assert (said.ask, said.error) == (table.asks[QuestionKind.DRAIN], 28)
    assert table.reply(data[:-1]) is None
    assert table.reply(bytes(40)) is None


# --- documents


def document(**changes: Any) -> str:
    body = dataclasses.asdict(status(files=(file(),), rescued=(FULL,)))
    clients = [{"process": 5, "commits": 7}]
    return json.dumps({"schema": "forebay.pool/1", **body, "clients": clients, **changes})


def test_a_status_document_is_decoded() -> None:
    expected = status(files=(file(),), rescued=(FULL,), clients=(5,))
    assert decode_status(document(later_key=1)) == expected


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", document(schema="forebay.pool/2"), document(files=[{}])]
)
def test_what_is_no_status_is_told(text: str) -> None:
    with pytest.raises(PoolError, match="cannot understand"):
        decode_status(text)


def test_a_ready_line_has_the_shape_of_the_directory() -> None:
    shape = {
        "files": 4096, "files_max": 3, "file_bytes": 512, "state": 4, "taken": 8, "drained": 16,
        "path": 24, "path_bytes": 256, "more": 1,
    }  # fmt: skip
    line = {"schema": "forebay.pool.ready/1", "process": 9, "socket": "/x", "directory": shape}
    ready = decode_ready(json.dumps(line))
    assert ready.process == 9
    assert ready.directory.bytes == 4096 + 3 * 512
    with pytest.raises(PoolError):
        decode_ready(json.dumps({**line, "directory": {}}))


# --- what follows from a file's numbers


def test_hidden_is_what_the_file_system_took_and_nobody_waited_for() -> None:
    assert file().hidden == pytest.approx(0.75)
    assert file(waited_seconds=3.0).hidden == 0
    assert file(storage_seconds=0.0).hidden is None
    assert file(reason="mapped").past_the_pool == "mapped into memory (mmap)"
    assert file(reason="closing").past_the_pool is None
    assert file(reason="new one").past_the_pool == "new one"


# --- runs


def request(*paths: Path, **more: Any) -> RunRequest:
    return RunRequest(command=("./serial",), pool=paths, **more)


def test_the_program_gets_both_libraries_the_socket_and_absolute_paths(
    make_world: MakeWorld, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    world = make_world(environment={"LD_PRELOAD": "/u.so"})
    (tmp_path / "file").touch()
    plan = plan_run(request(Path(), Path("link"), Path("file")), world)
    assert plan.environment["LD_PRELOAD"] == f"{PRELOAD}:/u.so"
    assert plan.environment["FOREBAY_POOL_SOCKET"] == "/run/x/pool"
    assert plan.environment["FOREBAY_POOL_PATHS"] == f"{tmp_path},{tmp_path / 'file'}"


def test_without_a_path_nothing_is_started(make_world: MakeWorld) -> None:
    world = make_world()
    plan = plan_run(request(), world)
    assert plan.pool is None
    report = carry_out(plan, world)
    assert report.pool is None
    assert world.pools.log == []  # type: ignore[attr-defined]
    assert as_json(report)["pool"] is None


def test_paths_of_the_settings_go_through_the_pool_too(
    make_world: MakeWorld, tmp_path: Path
) -> None:
    folders = [tmp_path / name for name in ("a", "b")]
    for folder in folders:
        folder.mkdir()
    override = Override("pool_paths", "b")
    plan = plan_run(request(Path("a"), overrides=(override,)), make_world())
    assert plan.pool is not None
    assert plan.pool.paths == tuple(folders)


def test_a_pool_that_was_started_by_hand_is_used_and_no_other_is_started(
    make_world: MakeWorld, tmp_path: Path
) -> None:
    own = {"FOREBAY_POOL_SOCKET": "/s", "FOREBAY_POOL_PATHS": str(tmp_path)}
    plan = plan_run(request(), make_world(environment=own))
    assert plan.pool is None
    assert plan.environment["FOREBAY_POOL_SOCKET"] == "/s"
    plan = plan_run(request(tmp_path), make_world(environment=own))
    assert plan.environment["FOREBAY_POOL_SOCKET"] == "/run/x/pool"


def test_a_switched_off_forebay_starts_no_pool(make_world: MakeWorld) -> None:
    plan = plan_run(request(Path(), overrides=(Override("enabled", "false"),)), make_world())
    assert plan.pool is None


@pytest.mark.parametrize("name", ["none/file", "misspelt", "a,b"])
def test_a_path_that_cannot_be_pooled_is_a_usage_error(make_world: MakeWorld, name: str) -> None:
    world = make_world()
    with pytest.raises(UsageError, match="cannot pool"):
        plan_run(request(Path(name)), world)
    assert world.pools.log == []  # type: ignore[attr-defined]


def test_a_folder_that_is_not_there_can_be_made_by_the_command_that_is_named(
    make_world: MakeWorld, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as refused:
        plan_run(request(Path("my run")), make_world())
    assert f"mkdir -p '{tmp_path}/my run'" in str(refused.value)


@pytest.mark.parametrize("word", ["--", "--set"])
def test_a_pool_without_a_folder_says_that_it_wants_one(make_world: MakeWorld, word: str) -> None:
    with pytest.raises(UsageError, match=f'wants a folder .*"{word}".*--pool \\.'):
        plan_run(request(Path(word)), make_world())


def test_a_folder_with_a_hyphen_first_can_be_pooled(make_world: MakeWorld, tmp_path: Path) -> None:
    (tmp_path / "-run").mkdir()
    plan = plan_run(request(Path("-run")), make_world())
    assert plan.pool is not None
    assert plan.pool.paths == (tmp_path / "-run",)


def test_more_paths_than_programs_look_at_are_a_usage_error(
    make_world: MakeWorld, tmp_path: Path
) -> None:
    paths = [Path(f"f{number}") for number in range(17)]
    for path in paths:
        (tmp_path / path).touch()
    with pytest.raises(UsageError, match="16 are possible"):
        pool_paths(paths, (), make_world())


def test_the_daemon_is_finished_and_its_folder_removed(make_world: MakeWorld) -> None:
    world = make_world(pools={"end": outcome().end})
    report = carry_out(plan_run(request(Path()), world), world)
    log = world.pools.log  # type: ignore[attr-defined]
    assert log == ["room", "start", "program started", "finish", "remove"]
    assert (report.status, report.reasons) == (0, ())
    assert report.pool is not None


def test_the_daemon_is_told_that_the_job_ends(make_world: MakeWorld) -> None:
    world = make_world(pools={"end": outcome().end}, processes={"job_ends": True})
    carry_out(plan_run(request(Path()), world), world)
    log = world.pools.log  # type: ignore[attr-defined]
    assert log == ["room", "start", "program started", "close down", "finish", "remove"]


def test_a_daemon_that_does_not_start_starts_no_program(make_world: MakeWorld) -> None:
    world = make_world(pools={"refused": "cannot start"})
    plan = plan_run(request(Path()), world)
    with pytest.raises(PoolStartError):
        carry_out(plan, world)
    assert world.pools.log == ["room", "start", "remove"]  # type: ignore[attr-defined]
    assert world.processes.started == []  # type: ignore[attr-defined]


@pytest.mark.parametrize(("own", "expected"), [(0, 74), (3, 3)])
@pytest.mark.parametrize(
    "end",
    [
        outcome(status=status(rescued=(FULL,))).end,
        outcome(status=None, death="SIGKILL ended it", lost=(Lost(path="/x", bytes=9),)).end,
    ],
)
def test_bytes_that_did_not_arrive_change_a_status_of_0_only(
    make_world: MakeWorld, own: int, expected: int, end: PoolEnd
) -> None:
    world = make_world(processes={"status": own}, pools={"end": end})
    assert carry_out(plan_run(request(Path()), world), world).status == expected


def test_ranks_on_other_nodes_are_warned_about(make_world: MakeWorld) -> None:
    """Where it is not known which nodes these are, or somebody wants one daemon."""
    words = ("mpiexec", "-f", "no-such-file", "./program")
    plan = plan_run(RunRequest(command=words, pool=(Path(),)), make_world())
    assert any("on this node only" in warning for warning in plan.warnings)
    words = ("mpiexec", "-host", "a,b", "./program")
    one = (Override("pool_nodes", "1"),)
    plan = plan_run(RunRequest(command=words, pool=(Path(),), overrides=one), make_world())
    assert any("on this node only" in warning for warning in plan.warnings)


def test_a_job_of_one_node_is_not_warned_about_others(make_world: MakeWorld) -> None:
    """Every run by srun was."""
    for nodes, warned in (("1", False), ("no", True)):
        world = make_world(environment={"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": nodes})
        plan = plan_run(RunRequest(command=("srun", "./program"), pool=(Path(),)), world)
        assert any("on this node only" in warning for warning in plan.warnings) == warned


def test_the_launcher_of_the_program_starts_the_daemons(
    make_world: MakeWorld, tmp_path: Path
) -> None:
    (tmp_path / "hosts").write_text("a:2\nb:2\n")
    words = ("mpirun", "--hostfile", "hosts", "-n", "4", "./program")
    world = make_world()
    plan = plan_run(RunRequest(command=words, pool=(Path(),)), world)
    assert plan.pool is not None
    assert plan.pool.nodes == 2
    assert not any("on this node only" in warning for warning in plan.warnings)
    carry_out(plan, world)
    place = world.pools.places[0]  # type: ignore[attr-defined]
    assert place.starter[:6] == ("mpirun", "--hostfile", "hosts", "-n", "2", "--map-by")
    assert place.starter[-2:] == ("-x", "FOREBAY_RECORD")
    assert place.shared == tmp_path


@pytest.mark.parametrize(
    ("slurm", "told", "nodes"),
    [({}, "0", 1), ({"SLURM_JOB_NUM_NODES": "4"}, "0", 4), ({"SLURM_JOB_NUM_NODES": "4"}, "1", 1),
     ({"SLURM_NNODES": "3"}, "0", 3), ({"SLURM_NNODES": "no"}, "0", 1), ({}, "2", 2)],
)  # fmt: skip
def test_a_daemon_on_each_node_of_the_job(
    make_world: MakeWorld, slurm: dict[str, str], told: str, nodes: int
) -> None:
    said = {"pool_nodes": told, "pool_starter": "mpiexec,-n,2"}
    overrides = tuple(Override(name, text) for name, text in said.items())
    asked = RunRequest(command=("./a",), pool=(Path(),), overrides=overrides)
    plan = plan_run(asked, make_world(environment=slurm))
    assert plan.pool is not None
    assert (plan.pool.nodes, plan.pool.starter) == (nodes, ("mpiexec", "-n", "2"))


# --- what is said


def report(one: PoolOutcome) -> RunReport:
    return RunReport(
        status=0, seconds=1.0, command=("./a",), record=None, jobs=(), files=(), warnings=(),
        reasons=(), pool=one,
    )  # fmt: skip


def test_the_summary_has_a_line_for_each_file() -> None:
    none = {"taken": 0, "storage_seconds": 0.0, "waited_seconds": 0.0}
    files = (file(), file(path="/scratch/m\n", reason="mapped", **none))
    text = as_text(report(outcome(status=status(files=files))))
    assert "through the pool: 4.00 MiB of 1 file, drained 0.500 s after the program's end" in text
    assert "memory reserved: at most 1.00 MiB of 1.00 GiB" in text
    assert re.search(r"4\.00 MiB +2\.00 MiB +0\.500 s +2\.000 s +75 % +2\.0 +/scratch/out", text)
    assert "/scratch/m\\n  mapped into memory (mmap)" in text


def test_the_columns_are_explained_to_who_asks() -> None:
    one = report(outcome())
    explained = "seconds that processes waited, added up"
    assert explained not in as_text(one)
    assert as_text(one, with_legend=True).count(explained) == 1


def test_files_that_were_waited_for_come_first() -> None:
    """They were in the order of their names, and those with most bytes were shown."""
    waits = {"/scratch/a": 0.1, "/scratch/b": 0.3, "/scratch/c": 0.2, "/scratch/failed": 0.0}
    files = [file(path=path, waited_seconds=seconds) for path, seconds in waits.items()]
    files += [file(path=f"/scratch/{n}", waited_seconds=0.0, taken=1 << 30) for n in range(30)]
    files[3] = dataclasses.replace(files[3], error=28)
    text = "\n".join(outcome_lines(outcome(status=status(files=tuple(files)))))
    assert re.findall(r"/scratch/(\S+)$", text, re.MULTILINE)[:4] == ["failed", "b", "c", "a"]
    assert "and 14 more files" in text


def test_a_file_that_went_past_the_pool_is_named_once() -> None:
    """It was in the table, and in the list again."""
    files = (
        file(path="/scratch/both", reason="mapped"),
        file(path="/scratch/past", reason="append", taken=0),
    )
    text = "\n".join(outcome_lines(outcome(status=status(files=files))))
    assert text.count("/scratch/both") == text.count("/scratch/past") == 1
    assert "/scratch/both (went past the pool, too: mapped into memory (mmap))" in text
    assert "    /scratch/past  opened for appending" in text
    assert re.search(r"0 B .*/scratch/past", text) is None


def test_the_verdict_is_the_first_that_is_said_of_a_run() -> None:
    lines = as_text(report(outcome())).splitlines()
    verdict = "Your program waited 0.5 s for its files; without the pool about 2.0 s."
    assert lines[0] == f"── forebay: {verdict} (1.000 s, status 0)"


def test_json_has_the_verdict_in_numbers_and_in_words() -> None:
    verdict = as_json(report(outcome()))["pool"]["verdict"]
    assert (verdict["judgement"], verdict["cause"]) == ("fine", None)
    assert (verdict["waited_seconds"], verdict["without_seconds"]) == (0.5, 2.0)
    assert verdict["text"].startswith("Your program waited 0.5 s")


def test_what_went_past_the_pool_is_named_beside_many_files_that_did_not() -> None:
    """It gave nothing, and was left out with those that gave least."""
    many = tuple(file(path=f"/scratch/{number}") for number in range(30))
    past = tuple(file(path=f"/scratch/past{n}", taken=0, reason="append") for n in range(25))
    lines = list(outcome_lines(outcome(status=status(files=(*many, *past)))))
    at = lines.index("  went past the pool, from then on or all the time:")
    assert "/scratch/past0 " in lines[at + 1]
    assert "and 5 more files" in lines[-1]


def test_a_name_that_is_gone_is_marked(make_world: MakeWorld, tmp_path: Path) -> None:
    (tmp_path / "there").touch()
    names = (f"{tmp_path}/out.tmp", f"{tmp_path}/there", "end/of/a/long/name", "/no\ufffd")
    ended = outcome(status=status(files=tuple(file(path=name) for name in names))).end
    world = make_world(pools={"end": ended})
    done = carry_out(plan_run(request(Path()), world), world)
    marked = [line.split("  ")[-1] for line in as_text(done).splitlines() if "renamed" in line]
    assert marked == [f"{tmp_path}/out.tmp (renamed or removed since)"]
    assert as_json(done)["pool"]["gone"] == [f"{tmp_path}/out.tmp"]


def test_the_summary_names_what_did_not_arrive_and_the_command() -> None:
    lines = list(outcome_lines(outcome(status=status(rescued=(FULL,)))))
    assert any("3.00 MiB of /scratch/out (No space left on device)" in line for line in lines)
    assert lines[-1] == "  forebay pool rescue /home/me/forebay-rescue-1-1/1-out"
    nowhere = dataclasses.replace(FULL, file="", problem="no room")
    lines = list(outcome_lines(outcome(status=status(rescued=(nowhere,)))))
    assert any(line.startswith("LOST: 3.00 MiB") and "no room" in line for line in lines)


def test_the_summary_says_what_a_dead_daemon_took_along() -> None:
    lost = (Lost(path="/scratch/out", bytes=1 << 20),)
    one = outcome(status=None, death="SIGKILL ended it", lost=lost, messages=("oh",))
    text = "\n".join(outcome_lines(one))
    assert "SIGKILL ended it" in text
    assert "at least 1.00 MiB of /scratch/out" in text
    assert "it said: oh" in text
    told = outcome_as_json(one)
    assert (told["arrived"], told["lost"]) == (False, [{"path": "/scratch/out", "bytes": 1 << 20}])


def test_it_is_said_where_durability_ended_before_the_program() -> None:
    ended = status(durability_ended="cannot write the journal /j (No space left on device).")
    one = outcome(status=ended)
    (line,) = (line for line in outcome_lines(one) if "DURABILITY" in line)
    assert "cannot write the journal /j" in line
    assert one.end.arrived
    assert one.end.exit_status == 75
    assert outcome_as_json(one)["durability_ended"] == ended.durability_ended
    assert any("DURABILITY ENDED" in line for line in status_lines(ended, "/s"))
    assert outcome(status=status(rescued=(FULL,))).end.exit_status == 74
    assert outcome(status=status()).end.exit_status == 0


def test_json_has_what_follows_from_the_numbers() -> None:
    told = outcome_as_json(outcome(status=status(files=(file(),), rescued=(FULL,))))
    assert told["files"][0]["hidden"] == pytest.approx(0.75)
    assert told["rescued"][0]["command"] == ["forebay", "pool", "rescue", FULL.file]


def test_a_status_shows_files_that_wait_first() -> None:
    waits = file(path="/w", outstanding=1 << 20, oldest_seconds=2.0, state="pooled")
    fails = file(path="/f", error=28, error_text="full", outstanding=1)
    lines = list(status_lines(status(files=(file(), waits, fails), clients=(1, 2)), "/s"))
    assert "2 programs" in lines[1]
    assert any("1.00 MiB  2.000 s" in line and line.endswith("/w") for line in lines)
    assert any("closed, full" in line for line in lines)


# --- pools by hand


def test_a_pool_by_hand_exports_what_programs_need(make_world: MakeWorld, tmp_path: Path) -> None:
    world = make_world(environment={"LD_PRELOAD": "/u.so", "HOME": "/h"})
    override = Override("pool_window", "1GiB")
    started = start_pool(StartRequest(paths=(Path(),), overrides=(override,)), world)
    assert started.process == 77
    assert started.variables == {
        "FOREBAY_POOL_SOCKET": "/run/user/pool",
        "FOREBAY_POOL_PATHS": str(tmp_path),
        "LD_PRELOAD": f"{PRELOAD}:/u.so",
    }
    (place,) = world.pools.places  # type: ignore[attr-defined]
    assert place.environment["FOREBAY_POOL_WINDOW"] == "1GiB"
    assert place.environment["FOREBAY_POOL_PATHS"] == str(tmp_path)


def test_where_the_daemon_is(make_world: MakeWorld, tmp_path: Path) -> None:
    named = make_world(environment={"FOREBAY_POOL_SOCKET": "/named"})
    assert socket_of(None, make_world()) == Path("/run/user/pool")
    assert socket_of(None, named) == Path("/named")
    assert socket_of(None, named, started=False) == Path("/run/user/pool")
    assert socket_of(Path("s"), named) == tmp_path / "s"
    with pytest.raises(UsageError, match="at most 107 bytes"):
        socket_of(Path("s" * 108), named)


def test_a_socket_is_where_its_name_is_short(tmp_path: Path, make_world: MakeWorld) -> None:
    libraries = make_world().libraries
    room = LocalPools(libraries, environment={"XDG_RUNTIME_DIR": str(tmp_path)}).room()
    assert room.parent.stat().st_mode & 0o777 == 0o700
    deep = tmp_path / ("x" * 100)
    deep.mkdir()
    pools = LocalPools(libraries, environment={"XDG_RUNTIME_DIR": str(deep)})
    room = pools.room()
    assert room.parent.parent == Path("/tmp")
    pools.remove_room(room)
    assert not room.parent.exists()


def test_the_daemon_is_not_captured_itself() -> None:
    words = "/u.so:/x/libforebay_posix.so /x/libforebay_mpi.so"
    place = PoolPlace(socket=Path("/s"), environment={"LD_PRELOAD": words}, folder=Path("/"))
    assert environment_of(place) == {"LD_PRELOAD": "/u.so"}
    alone = {"LD_PRELOAD": "/x/libforebay_posix.so", "A": "b"}
    assert environment_of(dataclasses.replace(place, environment=alone)) == {"A": "b"}


def test_long_lines_of_several_daemons_are_put_together() -> None:
    def part(node: int, number: int, of: int, text: str) -> str:
        said = {"schema": "forebay.pool.part/1", "node": node, "part": number, "of": of}
        return json.dumps({**said, "base64": base64.b64encode(text.encode()).decode()})

    lines = [
        part(1, 1, 2, " two"),
        part(0, 0, 1, "whole"),
        "srun: something else",
        part(2, 0, 2, "not whole"),
        part(1, 0, 2, "one"),
    ]
    assert put_together(lines) == ["whole", "one two"]


def test_notes_of_several_daemons_say_where_they_are_of() -> None:
    one = status(host="n1", notes=("its journal was replayed",))
    other = status(host="n2", rescued=(FULL,))
    assert together([one, other]).notes == (
        "on n1: its journal was replayed",
        f"on n2: {FULL.file} is there",
    )
