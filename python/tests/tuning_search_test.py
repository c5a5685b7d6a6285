"""Points, fits and the search, on modelled systems whose truth is known."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forebay.common.model.units import MIB
from forebay.simulate.files import background_load
from forebay_tuning.model.modelled import SOFTNESS, Disturbances, Platform, expected
from forebay_tuning.model.point import (
    COORDINATES,
    Direction,
    Point,
    Space,
    scaled,
    spread_points,
    usual_space,
)
from forebay_tuning.model.response import NAMES, Physical, Seen, asked_of, fit_storm
from forebay_tuning.model.sample import Choice, NextProbe, Passage, Purpose, Sample
from forebay_tuning.model.targets import sick_targets
from forebay_tuning.probe.model.acquisition import most_contested, most_telling
from forebay_tuning.probe.model.belief import Belief, first_belief, further
from forebay_tuning.probe.model.fitting import asked_of_all, fit
from forebay_tuning.probe.model.grid import grid_of
from forebay_tuning.probe.model.search import conclude, drift_of, search
from forebay_tuning.probe.use_case.modelled_system import ModelledSystem

MACHINE = Platform(
    name="trial",
    nodes=8,
    ranks_per_node=16,
    link_rate=5e9,
    client_rate=1e9,
    call_time=2e-5,
    servers=4,
    server_link_rate=10e9,
    targets=16,
    target_rate=1e9,
    request_time=3e-4,
    interference_per_stream=0.01,
    streams_free=4,
    lock_time=1e-3,
    stripe_bytes=MIB,
    metadata_threads=8,
    open_time=1e-4,
    close_time=5e-5,
    crowding=0.002,
)
TRUTH = Physical(
    process_rate=8e8, call_time=2e-5, node_rate=4e9, target_rate=9e8, request_time=4e-4,
    interference_per_stream=0.01, streams_free=4.0, system_rate=2e10,
)  # fmt: skip


def space_of(machine: Platform = MACHINE) -> Space:
    return usual_space(
        nodes=machine.nodes,
        ranks_per_node=machine.ranks_per_node,
        targets=machine.targets,
        bytes_max=1 << 36,
        process_bytes_max=64 * MIB,
    )


def point(**changes: int) -> Point:
    usual = {
        "processes": 64,
        "per_node": 8,
        "stripe_count": 4,
        "stripe_bytes": MIB,
        "transfer_bytes": MIB,
        "process_bytes": 16 * MIB,
    }
    return Point(**{**usual, **changes})


@given(
    nodes=st.integers(1, 64),
    ranks=st.integers(1, 48),
    targets=st.integers(1, 100),
    of_one=st.integers(MIB, 1 << 40),
    count=st.integers(1, 20),
)
@settings(max_examples=60, deadline=None)
def test_every_point_of_a_design_is_allowed(
    nodes: int, ranks: int, targets: int, of_one: int, count: int
) -> None:
    space = usual_space(
        nodes=nodes,
        ranks_per_node=ranks,
        targets=targets,
        bytes_max=of_one,
        processes_max=max(1, of_one // MIB),
    )
    design = spread_points(space, count, seed=1, tries=2)
    assert len(design) == count
    assert all(space.allows(one) for one in design)
    assert all(getattr(one, name) in space.levels[name] for one in design for name in COORDINATES)


def test_a_design_goes_through_the_levels_of_each_coordinate() -> None:
    space = space_of()
    design = spread_points(space, 40, seed=3)
    for name in ("stripe_count", "stripe_bytes"):
        assert {getattr(one, name) for one in design} == set(space.levels[name])


def test_the_same_seed_gives_the_same_design() -> None:
    space = space_of()
    assert spread_points(space, 20, seed=5) == spread_points(space, 20, seed=5)
    assert spread_points(space, 20, seed=5) != spread_points(space, 20, seed=6)


def test_points_are_scaled_to_their_space() -> None:
    space = space_of()
    assert all(-1 <= one <= 1 for one in scaled(space.nearest(point()), space))


def test_a_fit_finds_the_numbers_that_the_rates_were_made_of() -> None:
    space = space_of()
    seen = [
        Seen(point=one, log_rate=math.log(TRUTH.rate(one, 16)), place=place)
        for place, one in enumerate(spread_points(space, 80, seed=2))
    ]
    surface = fit(seen, space, targets=16)
    assert surface.has_structure
    assert surface.physical.target_rate == pytest.approx(9e8, rel=0.25)
    assert surface.physical.process_rate == pytest.approx(8e8, rel=0.25)
    other = space.nearest(point(stripe_count=8, processes=32))
    assert surface.rate(other) == pytest.approx(TRUTH.rate(other, 16), rel=0.15)


def test_storms_have_the_power_that_they_were_made_with() -> None:
    storm = fit_storm([(n, 0.001 + 2e-6 * n**1.5) for n in (1, 4, 16, 64, 256, 1024)])
    assert storm.power == 1.5
    assert storm.seconds(4096) == pytest.approx(2e-6 * 4096**1.5, rel=0.1)
    assert fit_storm([]).seconds(100) == 0


def probed(
    disturbances: Disturbances, *, probes: int = 60, seed: int = 1, flat: bool = False
) -> Choice:
    space = space_of()
    control = space.nearest(point(stripe_count=1, processes=128, per_node=16))
    system = ModelledSystem(MACHINE, disturbances=disturbances, load=background_load(), seed=seed)
    conversation = search(
        space, control=control, priors=(), probes=probes, direction=Direction.WRITE, seed=seed
    )
    ask = next(conversation)
    taken: tuple[Sample, ...] = ()
    try:
        while True:
            sample, _ = system.measure(ask, 0, seconds_max=math.inf)
            if flat and sample.write is not None:
                rate = 1e9 * sample.write.rate / system.true_rate(ask.point, Direction.WRITE)
                sample = replace(sample, write=replace(sample.write, rate=rate))
            ask = conversation.send(sample)
    except StopIteration as end:
        taken = end.value
    assert len(taken) == probes
    choice = conclude(taken, space, control=control, direction=Direction.WRITE)
    assert choice is not None
    return choice


def test_the_best_is_found_under_drift_noise_and_stragglers() -> None:
    choice = probed(Disturbances(drift=0.25, noise=0.05, stragglers=0.08))
    rates = {
        one: one.bytes / expected(MACHINE, one, Direction.WRITE).seconds_moving
        for one in space_of().points()
    }
    assert rates[choice.best] >= 0.85 * max(rates.values())
    assert not choice.keeps
    assert choice.gain_low <= choice.gain <= choice.gain_high


@pytest.mark.parametrize("seed", range(4))
def test_where_nothing_matters_the_default_is_kept(seed: int) -> None:
    choice = probed(Disturbances(drift=0.2, noise=0.1, stragglers=0.05), seed=seed, flat=True)
    assert choice.keeps


def test_drift_is_what_the_controls_have_in_common() -> None:
    here = point()
    rates = [1e9, 1e9, 2e9, 2e9, 2e9, 2e9, 1e9, 1e9, 1e9]
    taken = [
        Sample(
            ask=NextProbe(point=here, purpose=Purpose.CONTROL),
            write=Passage(rate=rate, seconds_open=0, seconds_close=0),
        )
        for rate in rates
    ]
    drift = drift_of(taken, Direction.WRITE)
    assert drift[4] - drift[0] == pytest.approx(math.log(2))


def test_what_came_from_a_cache_or_was_discarded_does_not_count() -> None:
    passage = Passage(rate=1e9, seconds_open=0, seconds_close=0)
    ask = NextProbe(point=point(), purpose=Purpose.SCREEN)
    cached = Sample(ask=ask, write=passage, read=passage, cached=True)
    assert cached.passage(Direction.READ) is None
    assert cached.passage(Direction.WRITE) is passage
    assert Sample(ask=ask, write=passage, discarded="late").passage(Direction.WRITE) is None


def test_a_sick_target_is_named_and_a_healthy_system_names_none() -> None:
    healthy = {target: [1e8 * (1 + 0.01 * (target % 5))] * 3 for target in range(24)}
    assert sick_targets(healthy) == ()
    assert sick_targets({**healthy, 14: [2e6] * 150}) == ()  # many files share its rate
    (sick,) = sick_targets({**healthy, 14: [2e6, 2.2e6, 1.8e6]})
    assert (sick.target, sick.files) == (14, 3)
    assert sick.slower == pytest.approx(51, rel=0.1)


def test_few_files_or_few_targets_make_nobody_sick() -> None:
    assert sick_targets({0: [1e8] * 3, 1: [1e6] * 3}) == ()
    many = {target: [1e8] * 3 for target in range(8)}
    assert sick_targets({**many, 3: [1e6, 1e6]}) == ()


def test_coordinates_are_those_of_a_point() -> None:
    assert set(COORDINATES) | {"shared"} == set(vars(point()))


def test_a_space_with_fewer_points_than_probes_is_searched_to_the_end() -> None:
    """Refinement waited for ever for a point that was not measured yet."""
    space = usual_space(
        nodes=1, ranks_per_node=2, targets=1, bytes_max=3 * MIB, process_bytes_max=2 * MIB
    )
    assert len(list(space.points())) < 30
    control = space.nearest(point(processes=2, per_node=2, stripe_count=1))
    machine = replace(MACHINE, targets=1)
    system = ModelledSystem(
        machine, disturbances=Disturbances(noise=0.1), load=background_load(), seed=1
    )
    conversation = search(
        space, control=control, priors=(), probes=60, direction=Direction.WRITE, seed=1
    )
    asked = []
    ask: NextProbe | None = next(conversation)
    while ask is not None:
        asked.append(ask)
        sample, _ = system.measure(ask, 0, seconds_max=math.inf)
        try:
            ask = conversation.send(sample)
        except StopIteration:
            ask = None
    assert len(asked) == 60


def test_slopes_are_what_a_small_step_makes_of_the_rate() -> None:
    physical = replace(TRUTH, call_time=2e-4, lock_time=1e-3)
    for one in spread_points(space_of(), 40, seed=4, tries=1):
        here = math.log(physical.rate(one, 16))
        for name, slope in zip(NAMES, physical.slopes(asked_of(one, 16)), strict=True):
            stepped = replace(physical, **{name: getattr(physical, name) * math.exp(1e-6)})
            there = math.log(stepped.rate(one, 16))
            assert slope == pytest.approx((there - here) / 1e-6, abs=1e-4)


def test_the_physical_part_has_all_terms_of_the_modelled_machines() -> None:
    """But that a process is limited by its node's link sharply there, and softly here."""
    known = Physical(
        process_rate=MACHINE.client_rate,
        call_time=MACHINE.call_time,
        node_rate=MACHINE.link_rate,
        target_rate=MACHINE.target_rate,
        request_time=MACHINE.request_time,
        interference_per_stream=MACHINE.interference_per_stream,
        streams_free=MACHINE.streams_free,
        system_rate=MACHINE.servers * MACHINE.server_link_rate,
        lock_time=MACHINE.lock_time,
    )
    softened = 2 ** (1 / SOFTNESS)
    for one in spread_points(space_of(), 200, seed=5, tries=1):
        there = one.bytes / expected(MACHINE, one, Direction.WRITE).seconds_moving
        assert 1 <= there / known.rate(one, MACHINE.targets) * (1 + 1e-9) <= softened * (1 + 2e-9)


def test_a_grid_has_the_points_of_its_space_in_their_order() -> None:
    for space in (space_of(), replace(space_of(), bytes_max=64 * MIB, sharing=(True,))):
        grid = grid_of(space)
        points = list(space.points())
        assert [grid.point(at) for at in range(len(grid.cells))] == points
        assert grid.places(points).tolist() == list(range(len(points)))
        assert grid.places([]).tolist() == []


def test_what_a_grid_asks_is_what_its_points_ask() -> None:
    grid = grid_of(space_of())
    at = np.arange(0, len(grid.cells), 37)
    asked = asked_of_all([grid.point(one) for one in at.tolist()], grid.targets)
    for name in vars(asked):
        assert np.array_equal(getattr(grid.asked_at(at), name), getattr(asked, name))


def test_sums_over_a_grid_are_those_over_pairs_of_its_points() -> None:
    grid = grid_of(space_of())
    at = np.array([3, 170, 170, 2000, len(grid.cells) - 1])
    weights = np.array([1.0, -0.5, 0.25, 2.0, 0.7])
    everywhere = np.arange(len(grid.cells))
    for found, alike in zip(grid.summed(at, weights), grid.alike(everywhere, at), strict=True):
        assert found == pytest.approx(alike @ weights)


def seen_of_machine(slowed: int | None = None, level: float = 0.0) -> list[Seen]:
    """Probes without noise of MACHINE; the later half of them has another `level`."""
    seen = []
    for place, one in enumerate(spread_points(space_of(), 40, seed=6, tries=5)):
        rate = one.bytes / expected(MACHINE, one, Direction.WRITE).seconds_moving
        shift = level if place >= 20 else 0.0
        shift -= math.log(2.5) if place == slowed else 0.0
        seen.append(Seen(point=one, log_rate=math.log(rate) + shift, place=place))
    return seen


def believed(seen: list[Seen]) -> Belief:
    found = first_belief(seen, grid_of(space_of()), drift=[0.0] * len(seen))
    return further(found, seen, sought=True)


def test_what_is_believed_of_probes_is_near_what_they_said() -> None:
    seen = seen_of_machine()
    belief = believed(seen)
    off = np.abs(belief.means()[belief.at] - [one.log_rate for one in seen])
    assert np.median(off) < 0.1
    probed = seen[0].point
    other = replace(probed, shared=not probed.shared)
    at = belief.grid.places([probed, other])
    here, there = belief.variances(at)
    assert 0 < here < there
    assert np.diag(belief.view(at, 40).covariances) == pytest.approx([here, there])


def test_a_probe_tells_most_of_its_own_point() -> None:
    belief = believed(seen_of_machine())
    tilts = belief.view(belief.at[:8], 40).tilts
    assert (np.diag(tilts) > 0).all()
    assert (np.argmax(np.abs(tilts), axis=0) == range(8)).mean() > 0.6


def test_the_end_races_the_best_and_its_rival_in_turn() -> None:
    """Nearly all of the last probes went to one point, whose rivals had been probed once each."""
    belief = believed(seen_of_machine())
    times: Counter[Point] = Counter()
    for _ in range(6):
        found = most_contested(belief, 40, times=times, besides=(), without=())
        assert found is not None
        times[found] += 1
    assert sorted(times.values()) == [3, 3]
    best = belief.grid.point(int(np.argmax(belief.means())))
    assert best in times
    other = most_contested(belief, 40, times={}, besides=(), without=set(times))
    assert other not in times


def test_where_nothing_can_be_probed_nothing_is_asked_for() -> None:
    belief = believed(seen_of_machine())
    everything = list(space_of().points())
    draws = np.random.default_rng(1)
    assert most_telling(belief, 40, draws, besides=(), without=everything) is None
    assert most_contested(belief, 40, times={}, besides=(), without=everything) is None


def test_a_probe_that_was_slowed_down_is_not_believed() -> None:
    trust = believed(seen_of_machine(slowed=12)).trust
    assert trust[12] < 0.1
    assert np.median(trust) > 0.9


def test_a_level_that_changes_in_time_is_drift() -> None:
    belief = believed(seen_of_machine(level=0.5))
    assert belief.drift(32) - belief.drift(8) == pytest.approx(0.5, abs=0.2)


def test_what_could_not_be_probed_is_not_asked_for_again() -> None:
    """The most promising point would be asked for until so many failures in a row end it all."""
    space = space_of()
    control = space.nearest(point(stripe_count=1, processes=128, per_node=16))
    system = ModelledSystem(
        MACHINE, disturbances=Disturbances(noise=0.05), load=background_load(), seed=2
    )
    conversation = search(
        space, control=control, priors=(), probes=40, direction=Direction.WRITE, seed=2
    )
    failed: list[Point] = []
    ask: NextProbe | None = next(conversation)
    while ask is not None:
        assert ask.point not in failed
        sample, _ = system.measure(ask, 0, seconds_max=math.inf)
        if ask.purpose is Purpose.REFINE:
            failed.append(ask.point)
            sample = Sample(ask=ask, discarded="it took too long")
        try:
            ask = conversation.send(sample)
        except StopIteration:
            ask = None
    assert failed
