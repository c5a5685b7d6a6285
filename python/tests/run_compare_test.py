"""What a comparison of runs without and with Forebay concludes, and what it refuses."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forebay.common.model.errors import StoppedError, UsageError
from forebay.common.model.interleaving import interleaved
from forebay.run.files import first_offset
from forebay.run.model import (
    Contrast,
    FileDifference,
    RunPair,
    Side,
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

MakeWorld = Callable[..., Any]


def pair(plain: float, forebay: float) -> RunPair:
    return RunPair(first=Side.PLAIN, plain_seconds=plain, forebay_seconds=forebay)


def other_bytes(name: str) -> FileDifference:
    return FileDifference(
        name=name, contrast=Contrast.BYTES, offset=7, first_bytes=9, other_bytes=9
    )


def only(name: str, contrast: Contrast) -> FileDifference:
    return FileDifference(name=name, contrast=contrast)


def test_a_single_pair_begins_without_forebay() -> None:
    assert run_order(1, seed=5) == ((Side.PLAIN, Side.FOREBAY),)


@pytest.mark.parametrize("pairs", [2, 6, 7])
def test_each_side_is_first_equally_often(pairs: int) -> None:
    order = run_order(pairs, seed=3)
    assert len(order) == pairs
    assert all(set(one) == set(Side) for one in order)
    firsts = [one[0] for one in order]
    assert abs(firsts.count(Side.PLAIN) - firsts.count(Side.FOREBAY)) <= 1


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
    failed = compared(pairs=(), failure=RunFailure(side=Side.FOREBAY, status=3))
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
    assert found.failure == RunFailure(side=Side.PLAIN, status=3)
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
