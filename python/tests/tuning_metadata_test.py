"""The price of files: how many are created and opened in a second, what a portrait keeps of that,
and what advice makes of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tuning_scenes import (
    ONE_FILE_EACH,
    files_rate,
    launcher,
    metadata_response,
    priced_portrait,
)

from forebay.bench.model.command_line import Launch
from forebay.bench.world import real_bench_world
from forebay.common.model.errors import ProbeError
from forebay.simulate.files import background_load
from forebay_tuning.advise.model.worth import price_of_files
from forebay_tuning.model.evidence import Workload
from forebay_tuning.model.metadata import (
    FileRate,
    FilesAsk,
    MetadataRates,
    files_a_second,
    files_ask,
    rate_of_rounds,
    spell_files,
)
from forebay_tuning.model.modelled import Disturbances, expected, storm_seconds
from forebay_tuning.model.point import Direction, Point
from forebay_tuning.model.response import Storm
from forebay_tuning.probe.files.journal import NoJournal
from forebay_tuning.probe.files.measuring_program import PREFIX, RealSystem, Where
from forebay_tuning.probe.files.platform_file import read_platform
from forebay_tuning.probe.files.portrait_file import portrait_text, read_portrait
from forebay_tuning.probe.use_case.modelled_system import ModelledSystem
from forebay_tuning.probe.use_case.probe import (
    Budget,
    ProbeRequest,
    carry_out_probe,
    plan_probe,
)
from forebay_tuning.probe.use_case.virtual_probe import one_small_file_each

KIB = 1024
MACHINE = read_platform(Path(__file__).resolve().parents[2] / "platforms" / "lustre-96-ost.toml")
RATES = (files_rate(1, 500.0), files_rate(8, 2000.0), files_rate(64, 2000.0))


@pytest.mark.parametrize(
    ("processes", "expected_rate"),
    [(1, 500.0), (2, 793.7), (8, 2000.0), (20, 2000.0), (64, 2000.0), (5000, 2000.0)],
)
def test_rates_lie_between_those_that_were_measured(processes: int, expected_rate: float) -> None:
    assert files_a_second(RATES, processes) == pytest.approx(expected_rate, rel=1e-3)


def test_more_processes_than_were_measured_are_no_faster_and_fewer_no_slower() -> None:
    assert files_a_second((files_rate(4, 10.0),), 1) == 10.0
    assert files_a_second((files_rate(4, 10.0),), 400) == 10.0
    assert files_a_second((files_rate(1, 10.0), files_rate(4, 5.0)), 400) == 5.0


@pytest.mark.parametrize(
    ("ranks", "files", "levels", "each"),
    [
        (64, 10_000, (1, 8, 64), 45),
        (1, 10_000, (1,), 1000),
        (2, 10_000, (1, 2), 1000),
        (2, 100, (1, 2), 11),
        (8192, 10_000, (1, 23, 512), 6),
        (64, 200, (1, 3, 8), 5),
        (64, 12, (1,), 4),
    ],
)
def test_as_many_ranks_are_asked_as_have_enough_files(
    ranks: int, files: int, levels: tuple[int, ...], each: int
) -> None:
    ask = files_ask(ranks, files=files, seconds=5.0)
    assert ask is not None
    assert (ask.levels, ask.files_each) == (levels, each)
    assert ask.files <= files


@pytest.mark.parametrize("files", [-5, 0, 11])
def test_nothing_is_measured_with_too_few_files(files: int) -> None:
    assert files_ask(64, files=files, seconds=5.0) is None


def test_a_rate_is_the_median_of_its_rounds_with_their_range() -> None:
    assert rate_of_rounds(4, [30.0, 10.0, 20.0]) == FileRate(
        processes=4, value=20.0, low=10.0, high=30.0
    )
    assert [spell_files(one) for one in (12345.6, 0.5249, 9.996)] == ["12300", "0.525", "10"]


@pytest.mark.parametrize(
    ("files", "rates", "shared", "seconds"),
    [
        (64, (), False, 0.01),  # one storm
        (6400, (), False, 1.0),  # a hundred of them
        (6401, (), False, 1.01),
        (6400, RATES, False, 3.2),  # 2000 a second
        (6400, (files_rate(64, 1e6),), False, 1.0),  # more than the storms let through
        (8, RATES, False, 64 / 2000),  # each process has a file at least
        (1, RATES, True, 0.01),  # a shared file is created once
        (1000, RATES, True, 2.0),  # by one process at a time
    ],
)
def test_files_take_as_long_as_their_storms_and_no_less_than_their_rate(
    files: int, rates: tuple[FileRate, ...], shared: bool, seconds: float
) -> None:
    one = metadata_response(files=files, file_rates=rates)
    point = replace(ONE_FILE_EACH, shared=shared)
    assert one.seconds_files(point) == pytest.approx(seconds)
    assert one.seconds(point) == pytest.approx(seconds + one.seconds_moving(point))


def test_writers_that_make_more_files_pay_for_them() -> None:
    """Sixteen writers with a file each are not faster than one with one, where files are dear."""
    dear = metadata_response(file_rates=(files_rate(1, 1.0),))
    one, many = (replace(ONE_FILE_EACH, processes=count, per_node=1) for count in (1, 8))
    assert dear.seconds(many) > 7 * dear.seconds(one)


WORK = Workload(
    direction=Direction.WRITE, ranks=64, nodes=8, file_bytes=4 * KIB, files=6400, shared=False
)


def test_the_seconds_of_many_files_are_told() -> None:
    (note,) = price_of_files(WORK, ONE_FILE_EACH, metadata_response(files=6400, file_rates=RATES))
    assert "creating and closing 6400 files takes 3.2 s of the 3.2 s" in note
    assert "64 processes create 2000 a second" in note
    many = replace(WORK, files=64_000)
    storms = metadata_response(files=64_000, file_rates=(files_rate(64, 1e6),))
    (note,) = price_of_files(many, ONE_FILE_EACH, storms)
    assert "takes 10 s of the 10 s that are predicted (64 processes at a time)" in note
    assert price_of_files(WORK, ONE_FILE_EACH, metadata_response(files=6400)) == ()
    cheap = metadata_response(
        files=6400, file_rates=(files_rate(1, 1e6),), opening=Storm(base=0.0, each=0.0, power=1.0)
    )
    assert price_of_files(WORK, ONE_FILE_EACH, cheap) == ()


PRICED = MetadataRates(creates=RATES, opens=(files_rate(1, 1000.0),))


def test_a_portrait_keeps_the_price_of_files(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(portrait_text(priced_portrait(PRICED)))
    found = read_portrait(path)
    assert found.metadata == PRICED
    write = found.response(Direction.WRITE)
    assert write is not None
    assert write.file_rates == RATES


def test_portraits_without_a_price_of_files_are_read(root: Path, tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(portrait_text(priced_portrait(None)))
    assert "[metadata]" not in path.read_text()
    for one in (path, root / "docs" / "performance" / "portraits" / "disk.toml"):
        found = read_portrait(one)
        assert found.metadata is None
        write = found.response(Direction.WRITE)
        assert write is not None
        assert write.file_rates == ()


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("processes = 8", "processes = 1"),
        ("processes = 1, ", "processes = 0, "),
        ("value = 2000,", "value = 0,"),
        ("value = 2000,", "value = inf,"),
        ("value = 2000,", 'value = "fast",'),
    ],
)
def test_rates_that_make_no_sense_are_refused(tmp_path: Path, was: str, becomes: str) -> None:
    path = tmp_path / "p.toml"
    text = portrait_text(priced_portrait(PRICED))
    assert was in text
    path.write_text(text.replace(was, becomes, 1))
    with pytest.raises(ProbeError, match="Was it changed by hand"):
        read_portrait(path)


def test_a_modelled_machine_has_the_rates_of_its_formulas() -> None:
    system = ModelledSystem(MACHINE, disturbances=Disturbances(), load=background_load(), seed=1)
    found = system.file_rates(FilesAsk(levels=(1, 8, 512), files_each=10, seconds=1.0))
    close = MACHINE.close_time
    create = MACHINE.open_time + MACHINE.object_time
    assert found.creates[0].value == pytest.approx(1 / (create + close))
    assert found.opens[0].value == pytest.approx(1 / (MACHINE.open_time + close))
    storm = storm_seconds(MACHINE, 512, create) + storm_seconds(MACHINE, 512, close)
    assert found.creates[2].value == pytest.approx(512 / storm)


def test_creating_takes_longer_for_each_stripe_and_a_shared_file_is_created_once() -> None:
    each = MACHINE.object_time
    assert each > 0
    own = replace(one_small_file_each(MACHINE, 64), stripe_count=4)

    def opening(point: Point, direction: Direction) -> float:
        return expected(MACHINE, point, direction).seconds_open

    read = opening(own, Direction.READ)
    assert read == pytest.approx(storm_seconds(MACHINE, 64, MACHINE.open_time))
    creating = storm_seconds(MACHINE, 64, MACHINE.open_time + 4 * each)
    assert opening(own, Direction.WRITE) == pytest.approx(creating)
    shared = opening(replace(own, shared=True), Direction.WRITE)
    assert shared == pytest.approx(read + 4 * each)


class Unpriced(ModelledSystem):
    """A machine on which no small files can be created."""

    def file_rates(self, ask: FilesAsk) -> MetadataRates:
        raise ProbeError("no inodes are left")


@pytest.mark.parametrize(
    ("kind", "files", "levels", "told"),
    [
        (ModelledSystem, 100_000, [1, 6, 32], "files a second: by 1 process"),
        (ModelledSystem, 80, [], "was not measured (too few --files for that)"),
        (Unpriced, 100_000, [], "was not measured (no inodes are left)"),
    ],
)
def test_a_portrait_has_the_price_of_files_or_says_why_not(
    kind: type[ModelledSystem], files: int, levels: list[int], told: str
) -> None:
    small = replace(MACHINE, nodes=4, ranks_per_node=8, targets=8, servers=2)
    system = kind(
        small, disturbances=Disturbances(), load=background_load(), seed=1, date="2026-11-22"
    )
    budget = Budget(seconds=1e5, bytes=1 << 40, files=files)
    plan = plan_probe(ProbeRequest(level="quick", budget=budget, seed=1), system)
    assert plan.estimate.files <= files
    found = carry_out_probe(plan, system, NoJournal(), told=lambda *_: None)
    creates = () if found.metadata is None else found.metadata.creates
    assert [one.processes for one in creates] == levels
    assert any(told in text for text in found.findings)


def system(where: Path, *, ranks: int) -> RealSystem:
    name = launcher()
    as_root = ("--allow-run-as-root",) if "openmpi" in name else ()
    words = (name, *as_root, "-n", str(ranks))
    return RealSystem(
        Where(
            directory=where,
            folder=PREFIX + "files",
            launch=Launch(words=words),
            level="quick",
            seed=1,
            date="2026-11-22T10:00:00+00:00",
        ),
        real_bench_world(),
    )


def test_real_ranks_create_and_open_files_and_leave_none(tmp_path: Path) -> None:
    ask = FilesAsk(levels=(1, 2), files_each=5, seconds=120.0)
    found = system(tmp_path, ranks=2).file_rates(ask)
    for rates in (found.creates, found.opens):
        assert [one.processes for one in rates] == [1, 2]
        assert all(0 < one.low <= one.value <= one.high for one in rates)
    assert list(tmp_path.iterdir()) == []


def test_files_that_cannot_be_made_by_real_ranks_are_told(tmp_path: Path) -> None:
    ask = FilesAsk(levels=(1, 8), files_each=5, seconds=120.0)
    with pytest.raises(ProbeError, match="forebay-meta"):
        system(tmp_path, ranks=1).file_rates(ask)
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_forebay_meta_would_split_is_not_given_to_it(tmp_path: Path) -> None:
    """Files would have been made in other directories."""
    where = tmp_path / f"a@{tmp_path.name}"
    where.mkdir()
    ask = FilesAsk(levels=(1,), files_each=5, seconds=120.0)
    with pytest.raises(ProbeError, match='an "@"'):
        system(where, ranks=1).file_rates(ask)
    assert list(where.iterdir()) == []
