"""`forebay bench`: words, plans, results, comparisons, in an imagined world."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from forebay.bench.compare_command import as_json, as_text
from forebay.bench.files import ResultFiles, decode_result, flag_letters
from forebay.bench.model.command_line import (
    LAUNCHING,
    SHOWING,
    Launch,
    Tool,
    fraction,
    ranks_asked,
    split,
    two_sides,
)
from forebay.bench.model.comparison import ComparedSide, ComparisonVerdict, Design
from forebay.bench.model.program_words import json_file
from forebay.bench.model.result import (
    Bar,
    BenchResult,
    Latency,
    Measurement,
    matched,
    merged,
    repeated_names,
)
from forebay.bench.report.page import HtmlPages
from forebay.bench.use_case.bench import (
    BenchPlan,
    BenchReport,
    BenchWorld,
    Left,
    carry_out_bench,
    plan_bench,
)
from forebay.bench.use_case.compare import compare
from forebay.common.model.errors import BenchError, BenchUsageError, SetupError
from forebay.common.model.program import Linkage, ProgramFacts
from forebay.machine_ports import World
from forebay.ports import Captured
from forebay.world import real_world

OURS = {**LAUNCHING, **SHOWING}


@pytest.mark.parametrize(
    ("line", "rest", "ours"),
    [
        ("-np 4 -t 1m -F", "-t 1m -F", {"np": "4"}),
        ("-t4k -b1m -i2 --html x.html", "-t4k -b1m -i2", {"html": "x.html"}),
        ("-t 1m --format=json -o a@b", "-t 1m -o a@b", {"format": "json"}),
        ("-O a=1,b=2 -n -p", "-O a=1,b=2 -n -p", {}),
        ("-h", "-h", {}),
    ],
)
def test_the_programs_words_are_left_alone(line: str, rest: str, ours: dict[str, str]) -> None:
    got = split(line.split(), OURS)
    assert (got.rest, dict(got.ours)) == (tuple(rest.split()), ours)


def _launch_and_form(line: str) -> tuple[Launch, bool]:
    got = split(line.split(" "), OURS)
    return got.launch, got.json


@pytest.mark.parametrize(
    "line", ["-np x", "-np 0", "-np 2 --launcher srun", "--format yaml", "--launcher '", "--html"]
)
def test_nonsense_ends_with_status_1(line: str) -> None:
    with pytest.raises(BenchUsageError) as raised:
        _ = _launch_and_form(line)
    assert raised.value.exit_code == 1


def test_two_sides() -> None:
    a, b = two_sides("ior -t 1m -- A=1 B=x=y forebay-ior -t 4m".split())
    assert (a.tool, a.words, a.variables) == (Tool.IOR, ("-t", "1m"), {})
    assert (b.tool, b.words, b.variables) == (Tool.IOR, ("-t", "4m"), {"A": "1", "B": "x=y"})
    assert b.text == "A=1 B=x=y ior -t 4m"
    for bad in ("ior -t 1m", "ior -- meta -- hpio", "-- ior", "fio -- ior", "A=1 -- ior"):
        with pytest.raises(BenchUsageError):
            two_sides(bad.split())


def test_fractions() -> None:
    assert fraction("--margin", "5%") == pytest.approx(0.05)
    assert fraction("--margin", "0.1") == pytest.approx(0.1)
    with pytest.raises(BenchUsageError):
        fraction("--margin", "much")


def result_of(rate: float, *, tool: str = "ior", name: str = "write") -> BenchResult:
    latency = Latency(
        bars=(Bar(seconds=0.001, count=90), Bar(seconds=0.1, count=10)), seconds_max=0.08
    )
    one = Measurement(
        name=name,
        unit="MiB/s",
        rates=(rate,),
        latency=latency,
        rank_seconds=(1.0, 3.0, 1.0),
        slowest_rank=1,
        slowest_host="node7",
    )
    return BenchResult(
        tool=tool,
        command=f"forebay-{tool} <x>",
        mpi="MPICH",
        host="node1",
        ranks=3,
        started="2026-11-21",
        measurements=(one,),
        warnings=("cached",),
        errors=(),
        status=0,
    )


def test_quantiles_of_bars() -> None:
    latency = result_of(1.0).measurements[0].latency
    assert latency.quantile(0.5) == pytest.approx(0.001)
    assert latency.quantile(0.99) == pytest.approx(0.08)
    both = merged([latency, latency])
    assert both.calls == 200
    assert both.quantile(0.9) == pytest.approx(0.001)
    assert merged([]).quantile(0.5) == 0


@dataclass
class ImaginedResults:
    """Rates in the order of the runs."""

    rates: list[float] = field(default_factory=lambda: [100.0])
    names: list[str] = field(default_factory=list)
    stamps: int = 0

    def stamp(self, path: Path) -> str:
        self.stamps += 1
        return str(self.stamps) if self.rates else ""

    def read(self, path: Path) -> tuple[BenchResult, str]:
        name = self.names.pop(0) if self.names else "write"
        return result_of(self.rates.pop(0), name=name), "{}"


@dataclass
class ImaginedPages:
    """Remembers what was drawn."""

    written: list[Path] = field(default_factory=list)

    def check(self, path: Path) -> None:
        pass

    def write(self, result: BenchResult, path: Path) -> None:
        self.written.append(path)


@dataclass
class Programs:
    """Only the programs of these families (folders) are there."""

    family: str = "openmpi"

    def locate(self, word: str) -> Path | None:
        return Path(word) if any(f"/{one}/" in word for one in self.family.split()) else None

    def inspect(self, path: Path) -> ProgramFacts:
        linkage = Linkage.SCRIPT if self.locate(str(path)) else Linkage.UNREADABLE
        return ProgramFacts(path=path, linkage=linkage)


MakeWorld = Callable[..., World]


def bench_world(world: World, results: ImaginedResults | None = None) -> BenchWorld:
    return BenchWorld(
        world=world,
        results=results or ImaginedResults(),
        pages=ImaginedPages(),
        letters=flag_letters(),
        is_root=True,
    )


def with_programs(world: World, family: str) -> World:
    return replace(world, programs=Programs(family))


def test_ranks_are_started_by_the_launcher_of_the_programs_mpi(make_world: MakeWorld) -> None:
    bench = bench_world(with_programs(make_world(), "openmpi"))
    plan = plan_bench(Tool.IOR, ("-t", "1m"), Launch(words=("mpirun", "-n", "4")), bench)
    assert plan.words[:4] == ("mpirun", "-n", "4", "/opt/forebay/openmpi/forebay-ior")
    assert plan.words[4:] == ("--result", str(plan.json), "-t", "1m")
    by_number = plan_bench(
        Tool.IOR, (), Launch(ranks=3), bench_world(with_programs(make_world(), "mpich"))
    )
    assert by_number.words[0] == "/usr/bin/mpiexec"
    assert by_number.words[1:3] == ("-n", "3")


def test_a_json_file_of_the_users_own_is_kept(make_world: MakeWorld) -> None:
    bench = bench_world(with_programs(make_world(), "mpich"))
    plan = plan_bench(Tool.META, ("--json", "mine.json"), Launch(), bench)
    assert (plan.json, plan.json_is_ours) == (Path("mine.json"), False)
    assert plan.words.count("--json") == 1


def test_json_on_standard_output_is_alone_there(make_world: MakeWorld) -> None:
    world = with_programs(make_world(processes={"status": 3}), "mpich")
    bench = bench_world(world)
    report = carry_out_bench(plan_bench(Tool.IOR, (), Launch(), bench), bench, quiet=True)
    assert report.status == 3
    assert world.processes.started[0][0][:3] == ("sh", "-c", 'exec "$@" >&2')


def run_real(words: Sequence[str], *, json_file: Path, example: Path) -> BenchReport:
    """Runs the words in place of a program that writes `example` to `json_file`."""
    bench = BenchWorld(
        world=real_world(),
        results=ResultFiles(),
        pages=HtmlPages(),
        letters=flag_letters(),
        is_root=False,
    )
    plan = BenchPlan(
        words=tuple(words),
        ranks=None,
        environment={**os.environ, "FROM": str(example), "TO": str(json_file)},
        json=json_file,
        json_is_ours=False,
    )
    return carry_out_bench(plan, bench, quiet=False)


WRITE = 'cp "$FROM" "$TO.new" && mv "$TO.new" "$TO"'


def test_the_result_of_an_earlier_run_is_not_taken_for_this_ones(
    root: Path, tmp_path: Path
) -> None:
    example = root / "schema" / "examples" / "bench-ior-1.json"
    file = tmp_path / "r.json"
    first = run_real(("sh", "-c", WRITE), json_file=file, example=example)
    assert first.left.result is not None
    assert first.left.text == example.read_text(encoding="utf-8")
    for status, script in ((0, "true"), (1, "exit 1")):
        again = run_real(("sh", "-c", script), json_file=file, example=example)
        assert (again.status, again.left) == (status, Left())
    assert file.read_text(encoding="utf-8") == first.left.text
    assert run_real(("sh", "-c", WRITE), json_file=file, example=example).left == first.left


def test_a_result_that_cannot_be_read_leaves_the_programs_status(
    root: Path, tmp_path: Path
) -> None:
    (tmp_path / "no.json").write_text("{")
    report = run_real(
        ("sh", "-c", f"{WRITE}; exit 3"),
        json_file=tmp_path / "r.json",
        example=tmp_path / "no.json",
    )
    assert (report.status, report.left.result) == (3, None)
    assert "Was the run complete?" in report.left.complaint


def test_what_was_written_to_no_file_is_not_waited_for() -> None:
    assert ResultFiles().stamp(Path("/dev/null")) == ""


def test_our_json_option_is_neither_hidden_nor_taken_for_a_value(make_world: MakeWorld) -> None:
    bench = bench_world(with_programs(make_world(), "mpich"))
    for words in (("-t",), ("-t", "1m", "--", "--json", "x")):
        plan = plan_bench(Tool.IOR, words, Launch(), bench)
        assert plan.words[3:] == (plan.words[3], "--result", str(plan.json), *words)


@pytest.mark.parametrize(
    ("tool", "line", "file"),
    [
        (Tool.META, "--json a --json=b", "b"),
        (Tool.META, "--json a -- --json b", "a"),
        (Tool.META, "-n 4 --json", None),
        (Tool.META, "-O json=a", None),
        (Tool.IOR, "-t 1m -O json=a", "a"),
        (Tool.IOR, "-wOapi=POSIX,json=a", "a"),
        (Tool.IOR, "-O=-JSON=a --json b", "b"),
        (Tool.IOR, "--JSON b -O json=a", "a"),
        (Tool.IOR, "-o /O/json=a -O csv=json", None),
        (Tool.HPIO, "-c 4 -o out", "out/hpio.json"),
        (Tool.HPIO, "-ko=out", "out/hpio.json"),
        (Tool.HPIO, "--output_dir=out --json a", "a"),
        (Tool.HPIO, "--json a --output_dir out", "out/hpio.json"),
        (Tool.HPIO, "-O 10 -d out", None),
    ],
)
def test_the_programs_own_json_file_is_known(tool: Tool, line: str, file: str | None) -> None:
    assert json_file(tool, line.split(), flag_letters()) == (None if file is None else Path(file))


def test_a_result_that_goes_to_no_file_is_refused_where_it_must_be_read(
    make_world: MakeWorld,
) -> None:
    bench = bench_world(with_programs(make_world(), "mpich"))
    assert plan_bench(Tool.IOR, ("--json", "-"), Launch(), bench).json == Path("-")
    for words in (("--json=-",), ("--json", "/dev/null"), ("-O", "json=/dev/full")):
        with pytest.raises(BenchUsageError, match=r"\(--html reads it"):
            plan_bench(Tool.IOR, words, Launch(), bench, read_by="--html")


def test_what_is_missing_is_named(make_world: MakeWorld) -> None:
    with pytest.raises(SetupError, match="forebay-hpio"):
        plan_bench(
            Tool.HPIO,
            (),
            Launch(words=("mpiexec",)),
            bench_world(with_programs(make_world(), "none")),
        )
    with pytest.raises(BenchUsageError, match="no launcher"):
        plan_bench(Tool.HPIO, (), Launch(words=("true",)), bench_world(make_world()))


def program_of(world: World, families: str, launcher: str) -> tuple[str, ...]:
    bench = bench_world(with_programs(world, families))
    plan = plan_bench(Tool.IOR, (), Launch(words=tuple(launcher.split())), bench)
    return plan.words[len(launcher.split()) : -2]


def test_srun_does_not_get_the_first_build_but_lets_the_rank_choose(make_world: MakeWorld) -> None:
    chosen = program_of(make_world(), "mpich openmpi bin", "srun -n 4")
    assert chosen == ("env", "FOREBAY_LIBDIR=/opt/forebay", "sh", "/opt/bin/forebay-ior")
    assert program_of(make_world(), "openmpi bin", "srun") == ("/opt/forebay/openmpi/forebay-ior",)
    with pytest.raises(BenchUsageError, match="Set FOREBAY_MPI_FAMILY to mpich or openmpi"):
        program_of(make_world(), "mpich openmpi", "srun -n 4")


@pytest.mark.parametrize("launcher", ["srun -n 4", "mpirun -n 4", "mpiexec -n 4"])
@pytest.mark.parametrize("family", ["mpich", "openmpi"])
def test_the_family_that_a_variable_names_is_started(
    make_world: MakeWorld, launcher: str, family: str
) -> None:
    world = make_world(environment={"FOREBAY_MPI_FAMILY": family})
    path = f"/opt/forebay/{family}/forebay-ior"
    assert program_of(world, "mpich openmpi bin", launcher) == (path,)


def test_the_launcher_is_of_the_family_that_a_variable_names(make_world: MakeWorld) -> None:
    for family, launcher in (("openmpi", "/usr/bin/mpirun"), ("mpich", "/usr/bin/mpiexec")):
        world = make_world(environment={"FOREBAY_MPI_FAMILY": family})
        bench = bench_world(with_programs(world, "mpich openmpi"))
        assert plan_bench(Tool.IOR, (), Launch(ranks=2), bench).words[0] == launcher
    unknown = bench_world(make_world(environment={"FOREBAY_MPI_FAMILY": "lam"}))
    with pytest.raises(BenchUsageError, match=r'cannot be "lam"'):
        plan_bench(Tool.IOR, (), Launch(ranks=2), unknown)


@pytest.mark.parametrize(
    ("words", "ranks"),
    [
        ("mpiexec -n 4", 4),
        ("srun -N 2 --ntasks=64", 64),
        ("srun -n64", 64),
        ("mpirun --oversubscribe --np 3 -n 8", 8),
        ("srun", None),
        ("srun --nodes=4 -c 2", None),
        ("mpiexec -n 2 : -n 3", None),
        ("mpiexec -n", None),
    ],
)
def test_ranks_that_were_asked_for(words: str, ranks: int | None) -> None:
    assert ranks_asked(Launch(words=tuple(words.split()))) == ranks


def test_ranks_that_ran_alone_are_warned_of(make_world: MakeWorld) -> None:
    bench = bench_world(with_programs(make_world(), "mpich"))
    assert ranks_asked(Launch()) == 1
    for asked, words, warns in ((3, (), False), (4, (), True), (4, ("-wN", "3"), False)):
        plan = plan_bench(Tool.IOR, words, Launch(ranks=asked), bench)
        bench.results.rates.append(1.0)  # type: ignore[attr-defined]
        report = carry_out_bench(plan, bench, quiet=False)
        assert ("3 of 4 ranks" in report.left.warning) is warns


def sides(text: str = "ior -- ior") -> Mapping[ComparedSide, Any]:
    a, b = two_sides(text.split())
    return {ComparedSide.A: a, ComparedSide.B: b}


def run_compare(
    world: World, results: ImaginedResults, design: Design, text: str = "ior -- X=1 ior"
) -> Any:
    return compare(
        sides(text),
        launch=Launch(ranks=2),
        design=design,
        seconds_max=10,
        bench=bench_world(with_programs(world, "mpich"), results),
        told=lambda pairs, findings: None,
    )


def rates_of(design: Design, *, a: float, b: float) -> list[float]:
    """In the order in which the comparison will run them, drifting."""
    runs: list[float] = []
    for pair, order in enumerate(design.order()):
        runs += [(a if side is ComparedSide.A else b) * (1 + pair / 10) for side in order]
    return runs


def test_a_comparison_interleaves_and_judges(make_world: MakeWorld) -> None:
    design = Design.fixed(pairs=12, margin=0.05, seed=3)
    world = make_world()
    got = run_compare(world, ImaginedResults(rates_of(design, a=100, b=130)), design)
    assert got.findings[0].verdict is ComparisonVerdict.BETTER
    assert got.findings[0].ratio.estimate == pytest.approx(1.3)
    started = world.processes.started
    assert len(started) == 24
    second = ["X" in environment for _, environment in started]
    assert all(second[at] != second[at + 1] for at in range(0, 24, 2))
    assert sum(second[::2]) == 6


def test_a_page_shows_a_comparison(make_world: MakeWorld, tmp_path: Path) -> None:
    design = Design.fixed(pairs=12, margin=0.05, seed=3)
    got = run_compare(make_world(), ImaginedResults(rates_of(design, a=100, b=130)), design)
    HtmlPages().write_comparison(got, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 2
    assert "<td>1.300</td>" in page
    assert "<td>better</td>" in page
    assert 'src="' not in page
    nothing = replace(got, findings=())
    with pytest.raises(BenchError, match="nothing to draw"):
        HtmlPages().write_comparison(nothing, tmp_path / "page.html")


def test_the_median_of_an_even_number_lies_between_the_two_in_the_middle(
    make_world: MakeWorld,
) -> None:
    design = Design.fixed(pairs=6, margin=0.05, seed=3)
    rates = [10.0 * pair for pair in range(1, 7) for _ in design.order()[0]]
    assert "35, 35 MiB/s" in as_text(run_compare(make_world(), ImaginedResults(rates), design))


def test_the_same_twice_is_equivalent_and_stops_early(make_world: MakeWorld) -> None:
    design = Design.sequential(pairs_max=20, margin=0.05, seed=3)
    got = run_compare(make_world(), ImaginedResults(rates_of(design, a=100, b=100)), design)
    assert got.findings[0].verdict is ComparisonVerdict.EQUIVALENT
    assert got.pairs == 8


def test_a_failed_run_ends_the_comparison_with_its_status(make_world: MakeWorld) -> None:
    failed = Captured(status=2, output="", errors="disk full")
    world = make_world(processes={"captured": failed})
    design = Design.fixed(pairs=6, margin=0.05, seed=1)
    with pytest.raises(BenchError, match="disk full") as raised:
        run_compare(world, ImaginedResults(), design, "ior -t 1m -- ior -t 1m")
    assert raised.value.exit_code == 2
    assert str(raised.value).endswith("to see more: forebay bench ior -t 1m")
    with pytest.raises(BenchError, match="measured nothing with status 0"):
        run_compare(make_world(), ImaginedResults(rates=[]), design)
    late = make_world(processes={"captured": Captured(status=None, output="", errors="")})
    with pytest.raises(BenchError, match="not done") as raised:
        run_compare(late, ImaginedResults(), design)
    assert raised.value.exit_code == 4


def test_a_failed_run_does_not_take_the_pairs_before_it_along(make_world: MakeWorld) -> None:
    design = Design.fixed(pairs=12, margin=0.05, seed=3)
    rates = rates_of(design, a=100, b=130)
    for missing, pairs in ((1, 11), (2, 11), (3, 10)):
        got = run_compare(make_world(), ImaginedResults(rates[:-missing]), design)
        assert (got.pairs, len(got.firsts)) == (pairs, pairs)
        assert got.findings[0].verdict is ComparisonVerdict.BETTER
        assert "measured nothing" in str(got.failure)
        assert as_json(got)["exit_status"] == 1
        assert f"{pairs} of 12 interleaved pairs" in as_text(got)
    with pytest.raises(BenchError, match="measured nothing"):
        run_compare(make_world(), ImaginedResults(rates[:1]), design)


def test_a_measurement_that_is_there_twice_is_refused(make_world: MakeWorld) -> None:
    class Twice(ImaginedResults):
        def read(self, path: Path) -> tuple[BenchResult, str]:
            result, text = super().read(path)
            return replace(result, measurements=result.measurements * 2), text

    design = Design.fixed(pairs=6, margin=0.05, seed=1)
    with pytest.raises(BenchError, match="measures write more than once"):
        run_compare(make_world(), Twice(rates_of(design, a=1, b=2)), design)


def test_a_note_that_differs_in_its_numbers_is_told_once(make_world: MakeWorld) -> None:
    class Notes(ImaginedResults):
        def read(self, path: Path) -> tuple[BenchResult, str]:
            result, text = super().read(path)
            return replace(result, warnings=(f"{len(self.rates)} % of 4.5 s", "cached")), text

    design = Design.fixed(pairs=6, margin=0.05, seed=1)
    got = run_compare(make_world(), Notes(rates_of(design, a=1, b=2)), design)
    (note,) = (one for one in got.warnings if "4.5 s" in one)
    assert note.endswith("% of 4.5 s (11 more like it, with other numbers)")
    assert got.warnings.count("cached") == 1


def test_what_is_not_compared_is_said(make_world: MakeWorld) -> None:
    class AlsoReads(ImaginedResults):
        def read(self, path: Path) -> tuple[BenchResult, str]:
            result, text = super().read(path)
            read = replace(result.measurements[0], name="read")
            more = (read,) if len(self.rates) % 2 else ()
            return replace(result, measurements=(*result.measurements, *more)), text

    design = Design.fixed(pairs=6, margin=0.05, seed=1)
    got = run_compare(make_world(), AlsoReads(rates_of(design, a=1, b=2)), design)
    assert [one.quantity for one in got.findings] == ["write"]
    assert "has read: it is not compared" in " ".join(got.warnings)


def test_points_that_sweeps_share_have_names_of_their_own(root: Path) -> None:
    text = (root / "schema" / "examples" / "bench-hpio-1.json").read_text(encoding="utf-8")
    document = json.loads(text)
    point = document["points"][0]
    document["points"] = [
        {**point, "test": test} for test in ("region_count", "region_size", "bandwidth_single")
    ]
    result = decode_result(json.dumps(document))
    plain = result.measurements[2].name
    assert [one.name for one in result.measurements] == [
        f"{plain} (region_count)",
        f"{plain} (region_size)",
        plain,
    ]
    assert repeated_names(result) == ()
    document["points"] *= 2
    assert len(repeated_names(decode_result(json.dumps(document)))) == 3


def test_other_points_are_compared_one_after_the_other(make_world: MakeWorld) -> None:
    design = Design.fixed(pairs=6, margin=0.05, seed=1)
    names = [f"write {side}" for order in design.order() for side in order]
    got = run_compare(make_world(), ImaginedResults(rates_of(design, a=1, b=2), names), design)
    assert [one.quantity for one in got.findings] == ["write A → write B"]
    assert got.findings[0].verdict is ComparisonVerdict.BETTER


def test_sides_without_anything_in_common() -> None:
    one, other = result_of(1.0, name="write"), result_of(1.0, name="read")
    assert matched(one, replace(other, measurements=other.measurements * 2)) == ()
    stats = replace(other.measurements[0], unit="ops/s")
    assert matched(one, replace(other, measurements=(stats,))) == ()


def test_the_page_holds_everything_itself() -> None:
    pytest.importorskip("matplotlib")
    from forebay.bench.report.page import render

    text = render(result_of(123.0))
    assert text.count("<svg") == 3
    assert "forebay-ior &lt;x&gt;" in text
    assert "1 on node7" in text
    assert "none (one run)" in text
    assert "(0%)" not in text
    one = result_of(123.0).measurements[0]
    twice = render(replace(result_of(123.0), measurements=(replace(one, rates=(1.0, 2.0)),)))
    assert "1\u00a0–\u2060\u00a02 (50%\u00a0sure)" in twice, "a line may end before the bracket"
    for outside in ("http-equiv", "<script", "<link", 'src="http', "url(http"):
        assert outside not in text


@pytest.mark.parametrize("tool", ["hpio", "meta", "ior"])
def test_examples_are_decoded(root: Path, tool: str) -> None:
    path = root / "schema" / "examples" / f"bench-{tool}-1.json"
    text = path.read_text(encoding="utf-8")
    result = decode_result(text)
    assert result.tool == tool
    assert result.status == 0
    assert result.measurements
    for one in result.measurements:
        assert one.spread.median > 0
        assert one.latency.calls > 0
        assert one.latency.quantile(0.5) <= one.latency.seconds_max
        assert len(one.rank_seconds) >= 1
    changed = {**json.loads(text), "schema": f"forebay.bench.{tool}/99"}
    from forebay.common.model.errors import RecordError

    with pytest.raises(RecordError, match="99"):
        decode_result(json.dumps(changed))
    with pytest.raises(RecordError):
        decode_result(json.dumps({"schema": f"forebay.bench.{tool}/1"}))
