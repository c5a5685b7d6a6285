"""Rules, evidence, advice, and the forms in which it is used."""

import shlex
import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from tuning_scenes import portrait_of

from forebay.application import application
from forebay.bench.files import flag_letters
from forebay.common.model.errors import ProbeError, SettingsError, UsageError
from forebay.common.model.units import MIB
from forebay.settings.files.toml_settings import read_schema
from forebay_tuning.advise.files.advice_file import read_advice, write_advice
from forebay_tuning.advise.files.rules_file import read_rules
from forebay_tuning.advise.model.advice import Advice, Lever, Question, Settings, advise
from forebay_tuning.advise.model.candidates import Room, fewest_stripes
from forebay_tuning.advise.model.ready import ready
from forebay_tuning.advise.model.rules import ADVISED, CONDITIONS, USUAL, rule, term
from forebay_tuning.advise.report.text import as_text
from forebay_tuning.model.evidence import Workload, from_command
from forebay_tuning.model.point import Direction
from forebay_tuning.model.portrait import Portrait
from forebay_tuning.model.response import Storm
from forebay_tuning.model.sample import Choice
from forebay_tuning.probe.files.platform_file import read_platform
from forebay_tuning.probe.files.portrait_file import portrait_text, read_portrait, write_portrait
from forebay_tuning.probe.report.text import as_text as portrait_report

ROOT = Path(__file__).resolve().parents[2]
MACHINE = replace(
    read_platform(ROOT / "platforms" / "lustre-96-ost.toml"),
    nodes=8,
    ranks_per_node=16,
    targets=16,
    servers=4,
    target_rate=1.2e9,
    request_time=3e-4,
    interference_per_stream=0.0025,
)
GIB = 1024 * MIB
EVERYTHING = frozenset(Lever)


@cache
def portrait(targets: int = 16) -> Portrait:
    return portrait_of(replace(MACHINE, targets=targets, servers=max(1, targets // 4)))


def writers(**changes: object) -> Workload:
    usual = Workload(
        direction=Direction.WRITE, ranks=128, nodes=8, file_bytes=64 * GIB, stripe_count=1
    )
    return replace(usual, **changes)  # type: ignore[arg-type]


def advised(workload: Workload, **changes: object) -> Advice:
    question = Question(workload=workload, portrait=portrait(), allowed=EVERYTHING)
    return advise(replace(question, **changes))  # type: ignore[arg-type]


def test_a_shared_file_on_one_target_gets_more_stripes() -> None:
    advice = advised(writers())
    assert advice.settings.stripe_count is not None
    assert advice.settings.stripe_count > 4
    assert advice.gain is not None
    assert advice.gain_low is not None
    assert advice.gain > advice.gain_low > 1.05
    assert any("storage targets (servers' disk arrays) limit" in text for text in advice.reasons)


@pytest.mark.parametrize("collective", [False, True])
@pytest.mark.parametrize(("ranks", "nodes", "targets"), [(16, 1, 16), (128, 8, 96)])
@pytest.mark.parametrize("file_bytes", [2 * MIB, 8 * MIB])
def test_a_small_file_gets_no_more_stripes_than_it_has(
    file_bytes: int, ranks: int, nodes: int, targets: int, collective: bool
) -> None:
    """Probes wrote large ones, of which a small one was thought to be a part."""
    known = portrait(targets)
    work = writers(ranks=ranks, nodes=nodes, file_bytes=file_bytes, collective=collective)
    one = advise(Question(workload=work, portrait=known)).settings
    stripe_bytes = one.stripe_bytes or known.identity.stripe_bytes
    assert (one.stripe_count or 1) <= -(-file_bytes // stripe_bytes)


def test_other_processes_and_how_many_are_on_a_node_are_one_step() -> None:
    """One without the other was a point with more nodes than there are, and its gain made up."""
    items = advised(writers(file_bytes=64 * MIB, seconds=60.0)).items
    (item,) = [one for one in items if one.name.startswith("I/O processes")]
    assert (item.now, item.advised) == ("128 (16 on a node)", "16 (2 on a node)")


def test_what_is_advised_already_is_kept() -> None:
    first = advised(writers())
    own = first.settings
    again = advised(
        writers(stripe_count=own.stripe_count, stripe_bytes=own.stripe_bytes or MIB),
        allowed=frozenset({Lever.LAYOUT, Lever.SETTINGS}),
    )
    assert again.settings.stripe_count is None


def test_only_what_may_be_changed_is() -> None:
    alone = advised(writers(), allowed=frozenset({Lever.LAYOUT, Lever.SETTINGS}))
    assert alone.settings.processes is None
    assert alone.settings.transfer_bytes is None
    assert {one.lever for one in alone.items} <= {Lever.LAYOUT}
    assert any("--may-change program" in text for text in alone.notes)


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    """Writers of all sorts, as many on each node. A small file takes milliseconds, a part of which
    (the exchange between ranks) is not the file system's."""
    nodes, on_node = draw(st.sampled_from([1, 2, 8])), draw(st.sampled_from([1, 4, 16]))
    each = draw(st.sampled_from([GIB, 4 * GIB]))
    return writers(
        ranks=nodes * on_node,
        nodes=nodes,
        file_bytes=nodes * on_node * each,
        collective=draw(st.booleans()),
        stripe_count=draw(st.sampled_from([1, 4])),
        transfer_bytes=draw(st.sampled_from([None, 64 << 10, MIB])),
        seconds=1000.0,  # or what it could gain may be below a second
    )


@settings(max_examples=25, deadline=None)
@given(workload=workloads(), factor=st.floats(0.05, 20))
def test_scaling_all_rates_changes_no_advice(workload: Workload, factor: float) -> None:
    known = portrait()
    faster = replace(known, choices={Direction.WRITE: quickened(known, factor)})
    assert advised(workload, portrait=faster).settings == advised(workload).settings


def quickened(known: Portrait, factor: float) -> Choice:
    """So many times as fast in everything."""
    choice = known.choices[Direction.WRITE]
    physical = choice.response.surface.physical
    quick = replace(
        physical,
        call_time=physical.call_time / factor,
        request_time=physical.request_time / factor,
        lock_time=physical.lock_time / factor,
        **{
            name: getattr(physical, name) * factor
            for name in ("process_rate", "node_rate", "target_rate", "system_rate")
        },
    )

    def quicker(storm: Storm) -> Storm:
        return replace(storm, base=storm.base / factor, each=storm.each / factor)

    response = replace(
        choice.response,
        surface=replace(choice.response.surface, physical=quick),
        opening=quicker(choice.response.opening),
        closing=quicker(choice.response.closing),
    )
    return replace(choice, response=response)


@pytest.mark.parametrize(("here", "enough"), [(1, 4), (4, 4), (8, 8), (16, 16)])
def test_a_file_gets_the_fewest_stripes_that_are_nearly_as_fast(here: int, enough: int) -> None:
    """It never loses any that it has."""
    rates = {1: 5.0, 2: 10.0, 4: 19.5, 8: 20.0, 16: 20.1}
    now = writers().as_point(stripe_count=1, stripe_bytes=MIB)
    room = Room(workload=writers(collective=False), may={"stripe_count"})
    found = fewest_stripes(
        room,
        replace(now, stripe_count=here),
        replace(now, stripe_count=16),
        portrait().space,
        lambda one: 1 / rates[one.stripe_count],
        within=0.05,
    )
    assert found == replace(now, stripe_count=enough)


@settings(max_examples=15, deadline=None)
@given(workload=workloads())
def test_more_targets_never_lower_the_count_without_a_reason(workload: Workload) -> None:
    before = 0
    for targets in (4, 16, 64):
        advice = advised(workload, portrait=portrait(targets))
        count = advice.settings.stripe_count or workload.stripe_count or 1
        reasons = [text for one in advice.items for text in one.reasons] + list(advice.reasons)
        told = any("fastest: at most 5% slower" in text for text in reasons)
        assert count >= before or told, (before, count, reasons)
        assert all(any("predicted:" in text for text in one.reasons) for one in advice.items)
        before = count


def check_possible(one: Advice, targets: int) -> None:
    """No value contradicts another one, or the program."""
    own, work = one.settings, one.workload
    processes = own.processes or work.ranks
    assert 1 <= processes <= work.ranks
    assert 1 <= (own.per_node or 1) <= min(processes, work.ranks_per_node)
    if own.per_node is not None:
        assert own.per_node * work.nodes >= processes
    if own.stripe_count is not None and targets:
        assert 1 <= own.stripe_count <= targets
    if own.stripe_bytes is not None:
        assert own.stripe_bytes % 65536 == 0
    if own.transfer_bytes is not None:
        assert own.transfer_bytes <= max(1, work.bytes // processes)
    if one.keeps:
        assert own.is_empty
    names = [item.name for item in one.items]
    assert len(names) == len(set(names))


def test_a_file_that_all_read_is_read_by_one_of_each_node() -> None:
    advice = advised(
        writers(direction=Direction.READ, file_bytes=GIB, same_bytes=True), portrait=portrait()
    )
    assert advice.settings.one_reader_per_node
    assert advice.settings.processes == 8
    assert any("fetch the same bytes" in text for one in advice.items for text in one.reasons)


def test_a_file_that_all_read_by_themselves_may_be_fetched_by_one_node_for_all() -> None:
    read = writers(direction=Direction.READ, file_bytes=GIB, same_bytes=True, collective=False)

    def says(workload: Workload) -> bool:
        return any("pool_readers=1" in text for text in advised(workload).notes)

    assert says(read)
    assert not says(replace(read, collective=True))
    assert not says(replace(read, nodes=1))
    assert not says(replace(read, same_bytes=False))


def test_without_a_portrait_rules_decide_and_nothing_is_predicted() -> None:
    advice = advised(writers(file_bytes=512 * GIB, ranks=2048, nodes=64), portrait=None)
    assert advice.gain is None
    assert advice.settings.stripe_count == 16
    assert any("72" in text for text in advice.rivals)
    assert "no gain can be predicted" in advice.reasons[0]


def test_a_rule_of_the_site_with_more_weight_wins_over_the_usual_ones() -> None:
    site = rule("ours", "the site", 0.9, ["shared"], ["stripe_count = 32"])
    advice = advised(writers(file_bytes=512 * GIB), portrait=None, rules=(site, *USUAL))
    assert advice.settings.stripe_count == 32
    assert any("sixteen stripes" in text for text in advice.rivals)


def test_a_rule_of_two_bounds_is_judged_by_the_one_that_is_passed() -> None:
    """It was judged by its first bound: calls of 64 KiB where 128 KiB would do."""

    def told(*terms: str) -> str:
        named = rule("small calls", "a site", 0.1, [], terms)
        (text,) = advised(writers(transfer_bytes=MIB), rules=(named,)).rivals
        return text.rpartition("predicted")[2]

    assert told("transfer_bytes >= 64 KiB", "transfer_bytes <= 128 KiB") == told(
        "transfer_bytes <= 128 KiB"
    )


def with_surface(**change: float) -> Portrait:
    """The portrait with another surface for writes."""
    known = portrait()
    choice = known.choices[Direction.WRITE]
    surface = replace(choice.response.surface, **change)  # type: ignore[arg-type]
    response = replace(choice.response, surface=surface)
    return replace(known, choices={Direction.WRITE: replace(choice, response=response)})


def test_where_probing_found_no_structure_everything_is_kept() -> None:
    advice = advised(writers(), portrait=with_surface(explained=0.1))
    assert advice.keeps
    assert "no structure" in advice.reasons[0]


def test_large_doubt_keeps_everything() -> None:
    assert advised(writers(), portrait=with_surface(doubt=5.0)).keeps


@pytest.mark.parametrize(
    ("text", "facts", "holds"),
    [
        ("file_bytes < 1 GiB", {"file_bytes": MIB}, True),
        ("file_bytes < 1 GiB", {"file_bytes": GIB}, False),
        ("shared", {"shared": 1.0}, True),
        ("ranks > 256", {"ranks": 256}, False),
        ("ranks <= 2 * nodes", {"ranks": 16, "nodes": 8}, True),
        ("ranks = 16", {"ranks": 16}, True),
    ],
)
def test_conditions(text: str, facts: dict[str, float], holds: bool) -> None:
    assert term(text, of=CONDITIONS).holds(facts) is holds


@pytest.mark.parametrize(
    "text", ["colour = 3", "ranks", "ranks ~ 3", "ranks = many", "", "stripe_count = -1"]
)
def test_what_is_no_rule_is_refused(text: str) -> None:
    if text == "ranks":
        assert term(text, of=CONDITIONS).name == "ranks"
        return
    with pytest.raises(SettingsError):
        term(text, of=ADVISED)


def test_rules_of_a_site_are_read_and_strangers_refused(tmp_path: Path) -> None:
    path = tmp_path / "site.toml"
    path.write_text('[[rule]]\nname = "a"\nwhen = ["shared"]\nthen = ["per_node = 4"]\n')
    (one,) = read_rules(path)
    assert (one.name, one.prior, one.text) == ("a", 0.5, "per_node = 4")
    path.write_text('[[rule]]\nname = "a"\nthen = ["per_node = 4"]\nfi = 3\n')
    with pytest.raises(SettingsError, match="fi"):
        read_rules(path)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("mpiexec -n 64 ior -t 4m -b 1g -w", (64, 64 * GIB, 1, 4 * MIB, False)),
        ("srun --ntasks=8 /opt/ior -F -b 16m -s 4 -w", (8, 64 * MIB, 8, 256 * 1024, False)),
        ("mpirun -np 4 forebay-ior -a MPIIO -c -t1m -b8m -wk", (4, 32 * MIB, 1, MIB, True)),
        ("mpiexec -n 9 ior -N 4 -w -b 1m", (4, 4 * MIB, 1, 256 * 1024, False)),
        ("mpiexec -n 4 ior -a MPIIO -S -t 1m -b 8m -w", (4, 32 * MIB, 1, MIB, False)),
        ("mpiexec -n 4 hpio -m 01 -c 1024 -s 1k -d /x", (4, 4 * MIB, 1, 1024, True)),
    ],
)
def test_command_lines_of_benchmarks(line: str, expected: tuple[int, int, int, int, bool]) -> None:
    found = from_command(line, ranks=None, nodes=None, letters=flag_letters())[0]
    assert expected == (
        found.ranks,
        found.file_bytes,
        found.files,
        found.transfer_bytes,
        found.collective,
    )


def test_other_command_lines_are_refused_with_a_way_out() -> None:
    with pytest.raises(UsageError, match="--ranks, --bytes"):
        from_command("mpiexec -n 4 ./model", ranks=None, nodes=None, letters=flag_letters())
    with pytest.raises(UsageError, match="--ranks N"):
        from_command("ior -t 1m", ranks=None, nodes=None, letters=flag_letters())
    with pytest.raises(UsageError, match="no size"):
        from_command("mpiexec -n 4 ior -t quite", ranks=None, nodes=None, letters=flag_letters())


def test_settings_and_layout_commands_are_taken_by_forebay_itself() -> None:
    advice = replace(
        advised(writers(collective=True)),
        file_system="lustre",
        settings=Settings(
            stripe_count=8,
            stripe_bytes=4 * MIB,
            processes=16,
            per_node=2,
            transfer_bytes=8 * MIB,
            requests_in_flight=3,
        ),
    )
    made = ready(advice, directory="/scratch/my runs", command="mpiexec -n 128 ./program")
    table = read_schema(ROOT / "schema" / "settings.toml")
    given = tomllib.loads(made.settings)
    assert given["cb_nodes"] == 16
    assert "cb_config_list *:2\n" in made.hints
    assert {one.name for one in table.settings} >= set(given)
    command = typer.main.get_command(application())
    for line in (*made.layout[:1], *made.batch):
        words = shlex.split(line)
        if words[0] != "forebay":
            continue
        inner, words = command, words[1:]
        while hasattr(inner, "commands"):
            inner = inner.commands[words.pop(0)]
        inner.make_context("forebay", words)
    assert "'/scratch/my runs'" in made.composite
    assert made.composite.startswith("lfs setstripe -E 64M -c 1 ")


@pytest.mark.parametrize(
    ("stripe_count", "transfer_bytes", "processes"), [(16, 4 * MIB, 128), (16, 4 << 10, 8)]
)
def test_what_is_faster_is_taken_for_what_mpi_does(
    stripe_count: int, transfer_bytes: int, processes: int
) -> None:
    """Large calls are faster by each rank itself than by one aggregator on each node."""
    work = writers(collective=True, stripe_count=stripe_count, transfer_bytes=transfer_bytes)
    advice = advised(work, allowed=frozenset({Lever.LAYOUT, Lever.SETTINGS}))
    assert advice.now is not None
    assert advice.now.processes == processes
    assert any(f"I/O processes {processes}, " in text for text in advice.notes)


def test_collective_buffers_are_told_where_forebays_own_is_smaller() -> None:
    """Gains are over aggregators with ROMIO's buffers, of 16 MiB."""
    calls = writers(collective=True, transfer_bytes=16 * MIB)
    advice = advised(calls, allowed=frozenset({Lever.LAYOUT, Lever.SETTINGS}))
    assert advice.settings.stripe_count is not None
    assert advice.settings.transfer_bytes == 16 * MIB
    assert "cb_buffer_size 16777216\n" in ready(advice, directory="/x", command="srun p").hints


def test_hints_of_programs_that_write_alone_have_no_aggregators() -> None:
    made = ready(advised(writers()), directory="/x", command="srun ./program")
    assert "cb_nodes" not in made.hints
    assert "striping_factor" in made.hints


def test_advice_comes_back_from_its_file(tmp_path: Path) -> None:
    advice = (advised(writers(collective=True)),)
    write_advice(advice, tmp_path / "a.json")
    assert read_advice(tmp_path / "a.json") == advice
    (tmp_path / "b.json").write_text('{"schema": "forebay.advice/9"}')
    with pytest.raises(ProbeError, match=r"forebay\.advice/1"):
        read_advice(tmp_path / "b.json")


def test_a_portrait_comes_back_from_its_file(tmp_path: Path) -> None:
    known = portrait()
    write_portrait(known, tmp_path / "p.toml")
    back = read_portrait(tmp_path / "p.toml")
    assert back.identity == known.identity
    assert back.space == known.space
    assert back.samples[0].ask == known.samples[0].ask
    here = known.choices[Direction.WRITE].best
    was, now = (one.response(Direction.WRITE) for one in (known, back))
    assert was is not None
    assert now is not None
    assert now.seconds(here) == pytest.approx(was.seconds(here), rel=1e-2)  # three digits
    assert advised(writers(), portrait=back).settings == advised(writers()).settings


def test_every_number_of_a_portrait_has_source_interval_and_date() -> None:
    document = tomllib.loads(portrait_text(portrait()))
    for name in ("process_rate", "target_rate", "request_time", "streams_free"):
        assert set(document["write"][name]) == {"value", "low", "high", "source", "date"}
        assert document["write"][name]["date"] == "2026-11-22"


def test_a_number_that_probes_do_not_tell_is_not_called_a_fit() -> None:
    """The interference of a stream was the prior in eight fits "of 60 probes", with an interval of
    0.5 to 1005 GB/s beside six digits."""
    known = portrait()
    choice = known.choices[Direction.WRITE]
    surface = choice.response.surface
    vague = replace(surface, uncertain=tuple(2.0 for _ in surface.uncertain))
    there = replace(choice, response=replace(choice.response, surface=vague))
    unsure = replace(known, choices={Direction.WRITE: there})
    document = tomllib.loads(portrait_text(unsure))["write"]
    assert "do not identify it" in document["target_rate"]["source"]
    digits = document["target_rate"]["value"].split(" ")[0].replace(".", "").strip("0")
    assert len(digits) <= 3
    assert "not identified by these probes" in portrait_report(unsure, Path("p.toml"))
    sure = replace(surface, uncertain=tuple(0.1 for _ in surface.uncertain))
    there = replace(choice, response=replace(choice.response, surface=sure))
    told = portrait_report(replace(known, choices={Direction.WRITE: there}), Path("p.toml"))
    assert "not identified" not in told
    assert "fit to" in tomllib.loads(portrait_text(known))["write"]["process_rate"]["source"]


def test_a_portrait_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(portrait_text(portrait()).replace("portrait/2", "portrait/9"))
    with pytest.raises(ProbeError, match="probe again"):
        read_portrait(path)
    path.write_text(portrait_text(portrait()).replace("[write]", "[other]", 1))
    assert read_portrait(path).response(Direction.WRITE) is None
    path.write_text("schema = ")
    with pytest.raises(ProbeError, match="cannot read"):
        read_portrait(path)


def test_the_text_has_the_gain_its_interval_and_the_commands() -> None:
    advice = advised(writers())
    text = as_text(advice, ready(advice, directory="/out", command="srun ./program"))
    assert f"{advice.gain:.2f} × as fast, predicted" in text
    assert "forebay layout set -c" in text
    assert "a model" in text


def test_each_change_has_an_interval_and_reasons() -> None:
    advice = advised(writers(), allowed=EVERYTHING)
    predicted = [one for one in advice.items if one.gain is not None]
    assert predicted
    for one in predicted:
        assert (one.gain_low or 0) < (one.gain or 0) < (one.gain_high or 0)
        assert any("predicted: " in text for text in one.reasons)
    text = as_text(advice, ready(advice, directory="/out", command="srun ./program"))
    first = predicted[0]
    assert f"× {first.gain:.2f} ({first.gain_low:.2f} – {first.gain_high:.2f})" in text


def test_k_has_reasons() -> None:
    """Targets that one process cannot keep busy get more requests at a time."""
    physical = portrait().choices[Direction.WRITE].response.surface.physical
    target_rate, free = 5 * physical.process_rate, 8.0
    quick = replace(physical, target_rate=target_rate, streams_free=free)
    fast = with_surface(physical=quick, uncertain=())  # type: ignore[arg-type]
    advice = advised(writers(collective=True), portrait=fast)
    assert advice.settings.requests_in_flight not in (None, 2)
    vague = with_surface(physical=quick, uncertain=(2.0,) * 9)  # type: ignore[arg-type]
    unknown = advised(writers(collective=True), portrait=vague)
    assert unknown.settings.requests_in_flight is None
    assert not any("the rest could carry 1" in text for text in unknown.reasons)
    (item,) = [one for one in advice.items if one.name.startswith("k, ")]
    assert item.advised == str(advice.settings.requests_in_flight)
    assert "keep it busy" in item.reasons[0]
    assert item.gain is None


def test_settings_cannot_contradict_each_other() -> None:
    assert Settings().is_empty
    assert len(set(vars(Settings()))) == 7


def test_rules_of_thumb_do_not_touch_what_a_log_shows_to_be_well() -> None:
    """A well configured run on 24 targets was told to take 16."""
    workload = writers(file_bytes=2048 * GIB, ranks=2048, nodes=64, stripe_count=24)
    assert not advised(workload, portrait=None).keeps
    advice = advised(workload, portrait=None, untroubled=True)
    assert advice.keeps
    assert "nothing in the log" in advice.reasons[0]
