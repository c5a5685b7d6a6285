"""Tests the conclusions and refusals of a comparison of runs without and with Forebay."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forebay.common.model.errors import StoppedError, UsageError
from forebay.common.model.interleaving import interleaved
from forebay.pool.model.pool import PoolEnd, PoolFile, PoolStatus, Rescued
from forebay.pool.use_case.run_pool import PoolOutcome
from forebay.run import files
from forebay.run.files import OutputAside, RunCopies, first_offset
from forebay.run.model import (
    Contrast,
    FileDifference,
    RunPair,
    RunSide,
    WrittenFiles,
    is_cheap,
    run_order,
    speed_ratio,
    unexplained,
    wait_without,
)
from forebay.run.report.comparison import comparison_as_text, comparison_sentence
from forebay.run.use_case.compare_runs import (
    RunComparison,
    RunFailure,
    check_comparison,
    compare_runs,
    environment_without,
    request_in,
)
from forebay.run.use_case.run_plan import RunRequest
from forebay.run.use_case.run_report import RunReport

MakeWorld = Callable[..., Any]


def pair(plain: float, forebay: float) -> RunPair:
    return RunPair(first=RunSide.PLAIN, plain_seconds=plain, forebay_seconds=forebay)


def other_bytes(name: str) -> FileDifference:
    return FileDifference(
        name=name, contrast=Contrast.BYTES, offset=7, first_bytes=9, other_bytes=9
    )


def only(name: str, contrast: Contrast) -> FileDifference:
    return FileDifference(name=name, contrast=contrast)


def test_a_single_pair_begins_without_forebay() -> None:
    assert run_order(1, seed=5) == ((RunSide.PLAIN, RunSide.FOREBAY),)


@pytest.mark.parametrize("pairs", [2, 6, 7])
def test_each_side_is_first_equally_often(pairs: int) -> None:
    order = run_order(pairs, seed=3)
    assert len(order) == pairs
    assert all(set(one) == set(RunSide) for one in order)
    firsts = [one[0] for one in order]
    assert abs(firsts.count(RunSide.PLAIN) - firsts.count(RunSide.FOREBAY)) <= 1


def test_the_order_depends_on_the_seed() -> None:
    assert len({interleaved("a", "b", pairs=12, seed=seed) for seed in range(9)}) > 1


def test_a_difference_that_is_there_without_forebay_too_is_explained() -> None:
    differences = [other_bytes("data"), other_bytes("log")]
    assert unexplained(differences, None) == tuple(differences)
    assert unexplained(differences, []) == tuple(differences)
    assert unexplained(differences, [other_bytes("log")]) == (other_bytes("data"),)


def test_names_that_differ_by_themselves_tell_nothing_but_bytes_do() -> None:
    differences = [
        only("out.17", Contrast.MISSING), only("out.18", Contrast.ADDED), other_bytes("data"),
    ]  # fmt: skip
    own = [only("out.17", Contrast.MISSING), only("out.19", Contrast.ADDED)]
    assert unexplained(differences, own) == (other_bytes("data"),)


def test_a_minute_is_cheap() -> None:
    assert is_cheap([pair(59, 700)])
    assert not is_cheap([pair(61, 1)])


def test_a_wait_without_the_pool_is_what_the_run_took_longer_and_waited_with_it() -> None:
    assert wait_without([pair(24, 12.5)], waited=0.5, processes=1) == pytest.approx(12)
    assert wait_without([pair(24, 12.5)], waited=0.5, processes=2) is None
    assert wait_without([pair(12.6, 12.5)], waited=0.5, processes=1) is None
    assert wait_without([pair(12, 13)], waited=0.5, processes=1) is None


def test_an_interval_takes_six_pairs() -> None:
    assert speed_ratio([pair(2, 1)] * 5).low is None
    ratio = speed_ratio([pair(2, 1)] * 6)
    assert ratio.low == ratio.high == pytest.approx(2)


def test_a_run_that_took_no_time_is_no_error() -> None:
    assert speed_ratio([pair(0, 0)]).estimate == pytest.approx(1)


def compared(**more: object) -> RunComparison:
    usual = RunComparison(
        pairs=(pair(24, 12),), reports=(), written=WrittenFiles(files=2, bytes=2048), differences=()
    )
    return replace(usual, **more)  # type: ignore[arg-type]


def test_the_sentence_says_times_and_bytes() -> None:
    assert comparison_sentence(compared()) == (
        "Your program took 24 s without Forebay, 12 s with it; same bytes in 2 files (2.00 KiB)."
    )


def report(*pooled: PoolFile, reasons: tuple[str, ...] = (), **changes: Any) -> RunReport:
    """A run of 12 s through a pool that had these files."""
    usual: dict[str, Any] = {
        "process": 7, "uptime_seconds": 3.0, "ended": True, "closing": True, "cap": 1 << 30,
        "leased": 0, "high": 1 << 20, "read_ahead_held": 0, "read_ahead": 0, "lag": 0,
        "oldest_seconds": 0.0, "clients": (), "files": pooled, "files_dropped": 0, "rescued": (),
        "storage_seconds": 11.0, "clients_high": 1,
    }  # fmt: skip
    status = PoolStatus(**{**usual, **changes})
    return RunReport(
        status=0, seconds=12.0, command=("./program",), record=None, jobs=(), files=(),
        warnings=(), reasons=reasons,
        pool=PoolOutcome(paths=(), end=PoolEnd(status=status, seconds=0.5)),
    )  # fmt: skip


def pool_file(**changes: Any) -> PoolFile:
    usual: dict[str, Any] = {
        "path": "/out", "state": "closed", "reason": "", "error": 0, "error_text": "",
        "taken": 1 << 26, "drained": 1 << 26, "outstanding": 0, "window": 1 << 28, "high": 1 << 20,
        "extents": 0, "oldest_seconds": 0.0, "silent_seconds": 0.0, "waited_seconds": 0.4,
        "opening_seconds": 0.0, "syncing_seconds": 0.0, "draining_seconds": 0.0, "syncs": 0,
        "storage_seconds": 11.0, "storage_bytes": 1 << 26, "requests": 16, "rate": 1.0, "times": 1,
    }  # fmt: skip
    return PoolFile(**{**usual, **changes})


def test_the_sentence_says_waits_where_they_are_known() -> None:
    sentence = comparison_sentence(compared(reports=(report(pool_file()),)))
    assert sentence == (
        "Your program waited about 12 s for its files, 0.4 s with the pool; "
        "same bytes in 2 files (2.00 KiB)."
    )


def test_an_estimate_does_not_contradict_what_was_measured() -> None:
    """The pool's own numbers say that it won nothing, and the runs that it halved the time."""
    full = pool_file(waited_seconds=10.5, high=1 << 28)
    for processes in (1, 2):
        reports = (report(full, clients_high=processes, storage_seconds=5.0),)
        assert "won nothing" not in comparison_as_text(compared(reports=reports))
        slower = compared(reports=reports, pairs=(pair(12, 12),))
        assert "The pool won nothing" in comparison_as_text(slower)


def test_of_several_processes_elapsed_times_are_compared() -> None:
    text = comparison_as_text(compared(reports=(report(pool_file(), clients_high=4),)))
    assert "Your program took 24 s without Forebay, 12 s with the pool;" in text
    assert "waited 0.4 s for its files, all its processes together; how long" in text


def test_a_pool_that_had_nothing_is_not_praised() -> None:
    text = comparison_as_text(compared(reports=(report(reasons=("It opened no file.",)),)))
    assert "Forebay changed nothing, as far as is known (nothing went through the pool):" in text
    assert "  - It opened no file." in text
    assert "waited about" not in text


def test_what_did_not_arrive_is_named_and_nobody_is_sent_to_rescue_a_trial() -> None:
    lost = Rescued(
        path="/out", error=28, error_text="No space left", bytes=1 << 20, file="/r", problem=""
    )
    failure = RunFailure(side=RunSide.FOREBAY, status=74)
    text = comparison_as_text(
        compared(pairs=(), failure=failure, reports=(report(pool_file(), rescued=(lost,)),))
    )
    assert "Not all that your program wrote through the pool arrived (status 74)." in text
    assert "did not arrive: 1.00 MiB of /out (No space left)" in text
    assert "forebay pool rescue" not in text


def test_nothing_written_is_not_called_the_same() -> None:
    text = comparison_as_text(compared(written=WrittenFiles(files=0, bytes=0)))
    assert "wrote no file there" in text
    assert "--output-dir DIR" in text
    assert "same bytes" not in text


def test_a_difference_is_named_with_its_offset() -> None:
    found = compared(differences=(other_bytes("data"),), kept=Path("/k"))
    text = comparison_as_text(found)
    assert found.status == 76
    assert "1 file DIFFERS" in text
    assert "data: differs from byte 7 on; both have 9 bytes" in text
    assert "--pairs 2" in text
    assert "/k" in text


def test_a_difference_that_is_its_own_is_no_failure() -> None:
    found = compared(differences=(other_bytes("log"),), own=(other_bytes("log"),))
    assert found.status == 0
    assert "1 file differs, as it does without Forebay, too" in comparison_as_text(found)


def test_a_failure_has_the_programs_status() -> None:
    failed = compared(pairs=(), failure=RunFailure(side=RunSide.FOREBAY, status=3))
    assert failed.status == 3
    assert comparison_sentence(failed) == (
        "Your program failed with Forebay (status 3), and not without it."
    )


def test_the_first_offset(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(bytes(3 << 20))
    other.write_bytes(bytes(3 << 20))
    assert first_offset(one, other) is None
    other.write_bytes(bytes(2 << 20) + b"\1" + bytes((1 << 20) - 1))
    assert first_offset(one, other) == 2 << 20
    other.write_bytes(bytes(5))
    assert first_offset(one, other) == 5


def test_the_run_without_forebay_preloads_all_but_forebay() -> None:
    given = {"LD_PRELOAD": "/f/libforebay_mpi.so:/x/libx.so /f/libforebay_posix.so", "A": "b"}
    assert environment_without(given) == {"LD_PRELOAD": "/x/libx.so", "A": "b"}
    assert environment_without({"A": "b"}) == {"A": "b"}


class Folders:
    """Remembers what was done; every run writes two files."""

    def __init__(self, folder: Path, differences: Mapping[str, Sequence[FileDifference]]) -> None:
        self.run_folder = folder
        self.there: list[str] = []
        self.is_kept = False
        self._differences = differences

    def begin_run(self) -> None:
        pass

    def end_run(self, name: str) -> WrittenFiles:
        self.there.append(name)
        return WrittenFiles(files=2, bytes=10)

    def differences(self, first: str, other: str) -> Sequence[FileDifference]:
        return self._differences.get(other.partition("-")[2], ())

    def discard(self, name: str) -> None:
        self.there.remove(name)

    def keep(self) -> Path:
        self.is_kept = True
        return Path("/kept")


def compare(world: Any, folders: Folders, *, pairs: int = 1) -> RunComparison:
    request = RunRequest(command=("./program", "x"))
    return compare_runs(request, world, folders, pairs=pairs, told=lambda *_: None)


def test_runs_are_started_with_and_without_and_nothing_is_left(make_world: MakeWorld) -> None:
    world = make_world()
    folders = Folders(world.folder, {})
    found = compare(world, folders, pairs=3)
    assert [one.first for one in found.pairs] == [one[0] for one in run_order(3, seed=3)]
    preloaded = [bool(environment.get("LD_PRELOAD")) for _, environment in world.processes.started]
    assert preloaded.count(True) == preloaded.count(False) == 3
    assert all(env["PWD"] == str(world.folder) for _, env in world.processes.started)
    assert (found.own, found.differences, found.status) == ((), (), 0)
    assert not folders.is_kept
    assert len(folders.there) == 1  # the first run without Forebay, with which all are compared


def test_a_difference_is_tried_once_more_without_forebay(make_world: MakeWorld) -> None:
    world = make_world()
    folders = Folders(world.folder, {"forebay": [other_bytes("log")]})
    found = compare(world, folders)
    assert len(world.processes.started) == 3
    assert (found.own, found.status, found.kept) == ((), 76, Path("/kept"))
    own = Folders(world.folder, {one: [other_bytes("log")] for one in ("forebay", "plain")})
    found = compare(world, own)
    assert (found.status, found.kept, own.is_kept) == (0, None, False)


def test_no_run_follows_one_that_failed(make_world: MakeWorld) -> None:
    world = make_world(processes={"status": 3})
    found = compare(world, Folders(world.folder, {}), pairs=1)
    assert len(world.processes.started) == 1
    assert found.failure == RunFailure(side=RunSide.PLAIN, status=3)
    assert found.status == 3


def test_no_run_follows_the_end_of_the_job(make_world: MakeWorld) -> None:
    world = make_world(processes={"job_ends": True})
    with pytest.raises(StoppedError) as stopped:
        compare(world, Folders(world.folder, {}))
    assert stopped.value.exit_code == 143
    assert len(world.processes.started) == 1


def test_the_pools_paths_go_with_the_program_and_other_files_do_not(
    make_world: MakeWorld, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    request = RunRequest(
        command=("./program",),
        settings_file=Path("s.toml"),
        record=Path("r.jsonl"),
        pool=(Path("out"), Path(), tmp_path.parent),
    )
    copy = tmp_path / ".forebay-compare-x" / "run"
    made = request_in(copy, request, make_world())
    assert made.pool == (copy / "out", copy, copy)
    assert (made.settings_file, made.record) == (tmp_path / "s.toml", tmp_path / "r.jsonl")
    here = request_in(tmp_path, request, make_world())
    assert here.pool == (tmp_path / "out", tmp_path, tmp_path.parent)


@pytest.mark.parametrize("word", ["../in", "--file=../in", "{folder}/in", "-o{folder}/in"])
def test_names_that_lead_out_of_the_copy_are_refused(
    word: str, make_world: MakeWorld, tmp_path: Path
) -> None:
    request = RunRequest(command=("./program", word.format(folder=tmp_path)))
    with pytest.raises(UsageError, match=r"--output-dir \.$"):
        check_comparison(request, make_world(), output=None)
    check_comparison(request, make_world(), output=tmp_path)


def test_a_pool_elsewhere_is_to_be_named(make_world: MakeWorld, tmp_path: Path) -> None:
    (tmp_path.parent / "elsewhere").mkdir(exist_ok=True)
    request = RunRequest(command=("./program",), pool=(Path("../elsewhere"),))
    with pytest.raises(UsageError, match=r"Name it: --output-dir \.\./elsewhere$"):
        check_comparison(request, make_world(), output=None)


def test_what_cannot_be_compared_is_refused(make_world: MakeWorld, tmp_path: Path) -> None:
    request = RunRequest(command=("./program",))
    inside = make_world(environment={"PMI_SIZE": "4", "PMI_RANK": "0"})
    with pytest.raises(UsageError, match="in front of the launcher"):
        check_comparison(request, inside, output=None)
    off = make_world(environment={"FOREBAY_ENABLED": "false"})
    with pytest.raises(UsageError, match="--set enabled=true"):
        check_comparison(request, off, output=None)
    with pytest.raises(UsageError, match="Name a file elsewhere"):
        check_comparison(replace(request, record=Path("r.jsonl")), make_world(), output=tmp_path)


def test_a_link_to_where_all_runs_would_write_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    (here / "in").mkdir(parents=True)
    elsewhere.mkdir()
    monkeypatch.chdir(here)
    (here / "latest").symlink_to("in")
    (here / "table").symlink_to("/etc/passwd")
    with RunCopies(here) as runs:
        runs.begin_run()
        assert Path.cwd() == runs.run_folder
        assert Path("latest").resolve() == runs.run_folder / "in"
    (here / "out").symlink_to(elsewhere)
    with pytest.raises(UsageError, match=f"--output-dir {here}/out"), RunCopies(here):
        pass
    assert {one.name for one in here.iterdir()} == {"in", "latest", "table", "out"}


def test_a_folder_with_too_much_in_it_is_not_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").write_bytes(bytes(100))
    monkeypatch.setattr(files, "COPIED_BYTES_MAX", 99)
    with pytest.raises(UsageError, match="more than 99 B"), RunCopies(tmp_path):
        pass


def test_a_folder_that_another_comparison_has_moved_aside_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that ended last would have removed what the other one had put back."""
    monkeypatch.chdir(tmp_path)
    output = tmp_path / "out"
    output.mkdir()
    (output / "data").write_text("mine")
    with OutputAside(output, tmp_path) as runs:
        with (
            pytest.raises(UsageError, match="another comparison runs, or was killed"),
            OutputAside(output, tmp_path),
        ):
            pass
        runs.begin_run()
        (output / "data").write_text("of a run")
        (output / "new").write_text("of a run")
        assert runs.end_run("1") == WrittenFiles(files=2, bytes=16)
        runs.begin_run()
        (output / "data").write_text("of another one")
    assert [one.name for one in output.iterdir()] == ["data"]
    assert (output / "data").read_text() == "mine"
    assert [one.name for one in tmp_path.iterdir()] == ["out"]


def test_an_output_folder_that_was_not_there_is_gone_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with OutputAside(tmp_path / "out", tmp_path) as runs:
        for name, text in (("1", "one"), ("2", "two")):
            runs.begin_run()
            Path("out/data").write_text(text)
            runs.end_run(name)
        (difference,) = runs.differences("1", "2")
        assert (difference.name, difference.offset) == ("data", 0)
        runs.discard("2")
        assert runs.keep() == runs.keep()
    (kept,) = tmp_path.iterdir()
    assert {one.name for one in kept.iterdir()} == {"1"}


@pytest.mark.parametrize(
    ("left", "contrast"),
    [
        ({}, Contrast.MISSING),
        ({"new": "text"}, None),
        ({"new": "tex"}, Contrast.BYTES),
        ({"new": "text", "more": ""}, Contrast.ADDED),
        ({"new/below": "text"}, Contrast.KIND),
    ],
)
def test_what_two_runs_have_left_is_compared(
    left: Mapping[str, str], contrast: Contrast | None, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old").write_text("old")
    with RunCopies(tmp_path) as runs:
        for name, texts in (("1", {"new": "text"}), ("2", left)):
            runs.begin_run()
            for one, text in texts.items():
                Path(one).parent.mkdir(exist_ok=True)
                Path(one).write_text(text)
            runs.end_run(name)
        found = runs.differences("1", "2")
    assert [one.contrast for one in found][:1] == ([contrast] if contrast else [])
    assert (tmp_path / "old").read_text() == "old"
