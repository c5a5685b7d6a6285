"""Whether probes show a file system's rate, or that of a cache in front of it."""

import math
import random
import tomllib
from dataclasses import replace

import pytest

from forebay.common.model.units import MIB
from forebay_tuning.model.point import Direction, Point, Space, usual_space
from forebay_tuning.model.portrait import Identity, Portrait, kept_up
from forebay_tuning.model.response import Physical, Response, Storm, Surface
from forebay_tuning.model.sample import Choice, NextProbe, Passage, Purpose, Sample
from forebay_tuning.model.sustained import Moved, Sustained, sustained_of
from forebay_tuning.probe.files.portrait_file import _portrait, portrait_text
from forebay_tuning.probe.model.behind_cache import sustained_by
from forebay_tuning.probe.model.long_passages import grown, long_passages
from forebay_tuning.probe.report.text import as_json

CONTROL = Point(
    processes=2,
    per_node=2,
    stripe_count=1,
    stripe_bytes=MIB,
    transfer_bytes=MIB,
    process_bytes=16 * MIB,
)
RATE, BURST, CACHE = 200e6, 2e9, 10e6
SMALL = 8 * MIB


def limited(count: int) -> Moved:
    """A limited disk of 200 MB/s that lets 10 MB through at once."""
    taken_in = min(CACHE, count)
    return Moved(bytes=count, seconds=taken_in / BURST + (count - taken_in) / RATE)


def steady(count: int) -> Moved:
    return Moved(bytes=count, seconds=1e-3 + count / RATE)


def test_a_limited_disk_is_told_by_its_own_rate_and_not_by_its_caches() -> None:
    short = [limited(CONTROL.bytes)] * 5
    long = [limited(180 * MIB), limited(90 * MIB), limited(180 * MIB)]
    found = sustained_of(short, long, targets=1, alike=[limited(SMALL)] * 3 + [limited(MIB)])
    assert found is not None
    assert found.rate == pytest.approx(RATE, rel=0.1)
    assert found.low <= RATE * 1.01
    assert found.short_bytes == SMALL
    assert found.short_rate == pytest.approx(BURST)
    assert found.is_cached
    assert found.cache_bytes == pytest.approx(CACHE, rel=0.5)
    (told,) = kept_up(Direction.WRITE, found)
    assert "the cache's, not the file system's" in told


def test_single_slow_and_fast_passages_do_not_change_that() -> None:
    short = [limited(CONTROL.bytes)] * 3 + [replace(limited(CONTROL.bytes), seconds=1.0)]
    long = [limited(180 * MIB), replace(limited(90 * MIB), seconds=0.45), limited(180 * MIB)]
    found = sustained_of(short, long, targets=1)
    assert found is not None
    assert found.rate == pytest.approx(RATE, rel=0.1)
    assert found.low <= found.rate <= found.high


@pytest.mark.parametrize("seed", range(20))
def test_a_burst_that_is_there_or_not_does_not_hide_the_rate(seed: int) -> None:
    """The kernel lets up to 20 MB through at once, less where there was I/O just before: probes of
    53 MB moved 173 to 242 MB a second."""
    generator = random.Random(seed)

    def passage(count: int) -> Moved:
        taken_in = generator.uniform(0, 20e6)
        return Moved(bytes=count, seconds=taken_in / BURST + (count - taken_in) / RATE)

    short = [passage(CONTROL.bytes) for _ in range(8)]
    long = [passage(count * MIB) for count in (172, 86, 172)]
    found = sustained_of(short, long, targets=1, alike=[limited(SMALL)] * 2)
    assert found is not None
    assert found.rate == pytest.approx(RATE, rel=0.1)
    assert found.is_cached


def test_what_other_work_slows_down_is_not_called_a_cache() -> None:
    """As measured on a busy machine: as if there were a cache of 1.6 MiB, which does not explain
    that 8 MiB are quick."""

    def measured(mib: int, *rates: float) -> list[Moved]:
        return [Moved(bytes=mib * MIB, seconds=mib * MIB / (1e6 * one)) for one in rates]

    short = measured(32, 97.5, 203.2, 140.6, 238.8, 114.4)
    long = [*measured(172, 89.5), *measured(86, 177.2), *measured(172, 129.4)]
    found = sustained_of(short, long, targets=1, alike=measured(8, 192.7, 174.8, 192.3))
    assert found is not None
    assert found.short_rate > 1.5 * found.long_rate
    assert not found.is_cached


def test_without_a_cache_none_is_told() -> None:
    found = sustained_of([steady(CONTROL.bytes)], [steady(128 * MIB), steady(64 * MIB)], targets=1)
    assert found is not None
    assert not found.is_cached
    (told,) = kept_up(Direction.WRITE, found)
    assert "cache" not in told


@pytest.mark.parametrize(
    "long",
    [
        [],
        [Moved(bytes=40 * MIB, seconds=0.2)],  # hardly longer
        [Moved(bytes=128 * MIB, seconds=0.01)],  # quicker than the short ones
        [Moved(bytes=128 * MIB, seconds=0.3), Moved(bytes=64 * MIB, seconds=0.29)],
    ],
)
def test_what_passages_do_not_tell_is_not_told(long: list[Moved]) -> None:
    assert sustained_of([limited(CONTROL.bytes)], long, targets=1) is None


def answered(ask: NextProbe, *, moved: int | None = None) -> Sample:
    count = ask.point.bytes if moved is None else moved
    passage = Passage(rate=limited(count).rate, seconds_open=0, seconds_close=0, bytes=count)
    return Sample(ask=ask, write=passage, read=passage if moved is None else None)


def test_long_passages_are_four_two_and_four_times_a_probe() -> None:
    conversation = long_passages(CONTROL, 50 * MIB)
    asks = [next(conversation)]
    asks.append(conversation.send(answered(asks[-1])))
    asks.append(conversation.send(answered(asks[-1])))
    with pytest.raises(StopIteration) as end:
        conversation.send(answered(asks[-1]))
    assert [one.point.bytes // MIB for one in asks] == [200, 100, 200]
    assert {one.purpose for one in asks} == {Purpose.SUSTAIN}
    assert len(end.value.value) == 3


def test_where_the_first_is_cut_off_the_others_are_of_what_it_moved() -> None:
    conversation = long_passages(CONTROL, 1000 * MIB)
    first = next(conversation)
    assert first.point.bytes == 4000 * MIB
    second = conversation.send(answered(first, moved=400 * MIB))
    third = conversation.send(answered(second))
    assert [second.point.bytes, third.point.bytes] == [200 * MIB, 400 * MIB]


def test_a_long_passage_that_fails_is_the_last_one() -> None:
    conversation = long_passages(CONTROL, 50 * MIB)
    failed = Sample(ask=next(conversation), discarded="No space left on device")
    with pytest.raises(StopIteration) as end:
        conversation.send(failed)
    assert end.value.value == ()


def test_all_processes_grow_alike_and_by_whole_calls() -> None:
    point = grown(replace(CONTROL, processes=3), 100 * MIB)
    assert point.process_bytes == 33 * MIB
    assert grown(CONTROL, MIB).process_bytes == 0


SPACE = usual_space(nodes=1, ranks_per_node=2, targets=1, bytes_max=50 * MIB)


def response(found: Sustained | None) -> Response:
    physical = Physical(
        process_rate=BURST,
        call_time=1e-6,
        node_rate=BURST,
        target_rate=BURST,
        request_time=1e-5,
        interference_per_stream=1e-3,
        streams_free=16.0,
        system_rate=BURST,
    )
    surface = Surface(
        physical=physical,
        targets=1,
        coefficients=(0.0,) * 36,
        space=SPACE,
        spread=0.1,
        explained=0.9,
        doubt=0.1,
        probes=60,
        uncertain=(0.1,) * 8 + (2.0,),
    )
    storm = Storm(base=1.23456789e-3, each=0.0, power=1.0)
    return Response(
        direction=Direction.WRITE,
        surface=surface,
        opening=storm,
        closing=storm,
        sustained=found,
    )


def of_disk() -> Sustained:
    short, long = [limited(CONTROL.bytes)], [limited(400 * MIB)]
    found = sustained_of(short, long, targets=1, alike=[limited(SMALL)] * 2)
    assert found is not None
    return found


def test_a_program_that_writes_much_is_predicted_at_the_rate_behind_the_cache() -> None:
    """On the limited disk, 256 MiB were promised 5.7 times as fast by one process and larger calls:
    nothing gains there, since the disk is slower than all of them."""
    found = response(of_disk())
    program = replace(CONTROL, process_bytes=128 * MIB, transfer_bytes=65536)
    seconds = found.seconds_moving(program)
    assert seconds == pytest.approx((program.bytes - CACHE) / RATE, rel=0.1)
    other = replace(program, processes=1, per_node=1, process_bytes=256 * MIB, transfer_bytes=MIB)
    assert found.seconds_moving(other) / seconds == pytest.approx(1.0, rel=0.02)
    small = replace(CONTROL, process_bytes=MIB)
    assert found.seconds_moving(small) == response(None).seconds_moving(small)


def test_each_target_has_a_cache_and_a_rate_of_its_own() -> None:
    found = replace(of_disk(), targets=2)
    assert found.seconds(2 * 10**9, 4) == pytest.approx(
        replace(found, cache_bytes=0).seconds(2 * 10**9 - 2 * found.cache_bytes, 4)
    )
    assert found.seconds(10**9, 4) < found.seconds(10**9, 2) / 1.9


IDENTITY = Identity(
    name="disk",
    directory="/d",
    file_system="ext4",
    mount_point="/d",
    host="h",
    client="Linux",
    forebay="0.1.0",
    date="2026-11-27T00:00:00+00:00",
    level="quick",
    seed=1,
    nodes=1,
    ranks_per_node=2,
    targets=1,
    stripe_count=1,
    stripe_bytes=MIB,
)


def portrait(found: Sustained | None) -> Portrait:
    choice = Choice(
        response=response(found),
        best=CONTROL,
        gain=1.23456789,
        gain_low=1.1,
        gain_high=1.4,
        noise=0.0123456,
        drift=0.1,
    )
    long = NextProbe(point=grown(CONTROL, 200 * MIB), purpose=Purpose.SUSTAIN)
    return Portrait(
        identity=IDENTITY,
        space=Space(
            levels=SPACE.levels, sharing=(True, False), nodes=1, ranks_per_node=2,
            bytes_max=50 * MIB,
        ),
        control=CONTROL,
        choices={Direction.WRITE: choice},
        samples=(answered(long), answered(NextProbe(point=CONTROL, purpose=Purpose.CONTROL))),
    )  # fmt: skip


@pytest.mark.parametrize("found", [None, of_disk()], ids=["none", "a cache"])
def test_what_was_kept_up_comes_back_from_the_portrait(found: Sustained | None) -> None:
    back = _portrait(tomllib.loads(portrait_text(portrait(found))))
    kept = back.choices[Direction.WRITE].response.sustained
    if found is None:
        assert kept is None
        return
    assert kept is not None
    assert kept.rate == pytest.approx(found.rate, rel=0.005)
    bare = {"rate": 0, "low": 0, "high": 0, "short_rate": 0, "long_rate": 0}
    assert replace(kept, **bare) == replace(found, **bare)
    assert back.samples[0].write is not None
    assert back.samples[0].write.bytes == 200 * MIB


def test_a_portrait_has_three_digits_of_what_was_fitted() -> None:
    document = tomllib.loads(portrait_text(portrait(of_disk())))
    own = document["write"]
    spelled = [own["opening"]["base"], own["sustained"]["value"], own["process_rate"]["value"]]
    assert spelled[0] == "1.23 ms"
    assert all(len(one.split()[0].replace(".", "").lstrip("0")) <= 4 for one in spelled)
    assert (own["gain"]["value"], own["noise"]["value"]) == (1.23, 0.0123)
    assert "do not identify it" in own["lock_time"]["source"]


def test_json_names_the_numbers_that_probes_identify() -> None:
    own = as_json(portrait(of_disk()))["directions"]["write"]
    assert "process_rate" in own["identified"]
    assert "lock_time" not in own["identified"]
    assert own["sustained"]["rate"] == pytest.approx(RATE, rel=0.1)


def test_the_defaults_probes_are_the_short_ones() -> None:
    short = [answered(NextProbe(point=CONTROL, purpose=Purpose.CONTROL))]
    points = [grown(CONTROL, count * MIB) for count in (200, 100)]
    long = [answered(NextProbe(point=one, purpose=Purpose.SUSTAIN)) for one in points]
    found = sustained_by(CONTROL, 1, short, long, Direction.WRITE)
    assert found is not None
    assert math.isclose(found.rate, RATE, rel_tol=0.1)


def test_no_line_is_drawn_beyond_what_was_probed() -> None:
    """Long passages are of more bytes, but the fit has not seen them."""
    from forebay_tuning.probe.report.pictures import PICTURES, Reach

    probed = [CONTROL, replace(CONTROL, processes=1, per_node=1, process_bytes=4 * MIB)]
    samples = [answered(NextProbe(point=one, purpose=Purpose.SCREEN)) for one in probed]
    samples.append(answered(NextProbe(point=grown(CONTROL, 200 * MIB), purpose=Purpose.SUSTAIN)))
    samples.append(
        Sample(
            ask=NextProbe(point=replace(CONTROL, processes=8), purpose=Purpose.SCREEN),
            discarded="x",
        )
    )
    reach = Reach.of(samples, Direction.WRITE)
    assert all(reach.holds(one) for one in probed)
    assert not reach.holds(replace(CONTROL, processes=8))
    assert not reach.holds(grown(CONTROL, 200 * MIB))
    assert not reach.holds(replace(CONTROL, transfer_bytes=65536))
    assert Reach.of((), Direction.WRITE).bytes_max == 0
    assert all("<svg" in one.draw(portrait(of_disk())) for one in PICTURES)


def test_a_portrait_shows_nothing_twice_and_no_fit_where_none_was_found() -> None:
    pytest.importorskip("matplotlib")
    from forebay_tuning.probe.report.pictures import PICTURES

    found = portrait(of_disk())

    def titles(one: Portrait) -> set[str]:
        return {picture.title for picture in PICTURES if picture.shows(one)}

    levels = {**found.space.levels, "stripe_count": (1,)}
    plain = replace(found, space=replace(found.space, levels=levels))
    assert "Processes on a node" not in titles(plain), "on one node it is the number of processes"
    assert "Stripe count and size of the file" not in titles(plain), "it is that of bytes again"
    assert {"Bytes of a process", "Number of I/O processes"} <= titles(plain)
    several = replace(plain, identity=replace(plain.identity, nodes=4))
    assert "Processes on a node" in titles(several)
    (choice,) = plain.choices.values()
    flat = replace(choice.response.surface, explained=0.0)
    unfitted = replace(choice, response=replace(choice.response, surface=flat))
    bare = replace(plain, choices={Direction.WRITE: unfitted})
    assert "Bytes of a process" not in titles(bare)
    (transfer,) = (one for one in PICTURES if one.draw.__name__ == "draw_transfer")
    assert "no structure found" in transfer.draw(bare)
    fit = "stroke-width: 1.4"
    assert fit in transfer.draw(plain)
    assert fit not in transfer.draw(bare)
