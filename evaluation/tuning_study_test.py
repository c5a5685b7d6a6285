"""Tests the study's questions on machines whose answers are known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluation.tuning_study import (
    ASSUMED,
    PLATFORM,
    RECOMMENDATIONS,
    ROOT,
    STUDY,
    Line,
    writers_of,
)
from forebay.common.files.toml_file import read_toml
from forebay.common.model.errors import SimulationError
from forebay.common.model.frozen import frozen
from forebay.common.model.units import MIB
from forebay.simulate.files import simulator_keys
from forebay_tuning.model.point import Point
from forebay_tuning.model.quantity import parse_quantity
from forebay_tuning.probe.files.platform_file import read_platform

GIB = 1024 * MIB


@frozen
class AsTheStudySays:
    """A machine that agrees with the whole study."""

    def rate(self, point: Point) -> float:
        """Each coordinate has a bend where the study has it."""
        wanted = {1: 1, 16: 4, 256: 16}.get(point.processes, 16)
        return min(
            1.0,
            point.transfer_bytes / MIB,
            min(point.stripe_bytes, 2 * MIB) / MIB,
            point.process_bytes / (8 * MIB),
            point.per_node / 8 if point.processes == point.per_node else 1.0,
        ) * (1 if point.stripe_count <= wanted else 0.9)

    def stripes(self, size: int) -> int:
        """The study's number for the size."""
        return {256 * MIB: 1, 16 * GIB: 4, 256 * GIB: 16}[size]


@frozen
class Wide:
    """A machine that is best with many stripes, many processes and large calls."""

    def rate(self, point: Point) -> float:
        """A rate without any bend."""
        return point.transfer_bytes * point.stripe_count * point.processes

    def stripes(self, size: int) -> int:
        """The best number of stripes, which is all of them."""
        return 96


def test_a_machine_that_is_as_the_study_says_agrees_with_all_of_it() -> None:
    for one in RECOMMENDATIONS:
        said = one.ask(AsTheStudySays())
        assert said.within, one.name
        assert said.kept > 0.99 or "stripe count" in one.name


def test_a_machine_that_is_otherwise_does_not() -> None:
    transfer, _, _, per_node, stripes, processes = (one.ask(Wide()) for one in RECOMMENDATIONS)
    assert (transfer.text, transfer.within, transfer.kept) == ("16 MiB", False, 0.25)
    assert (per_node.text, per_node.kept) == ("32", 0.25)
    assert "96" in stripes.text
    assert stripes.kept == pytest.approx(1 / 96)
    assert not processes.within


def test_the_least_value_that_is_enough_counts() -> None:
    line = Line(rates={1: 10.0, 2: 96.0, 4: 100.0, 8: 99.0})
    assert line.enough == 2
    assert line.kept(1, 1) == 0.1
    assert line.kept(4, 8) == 1.0


def test_files_are_written_by_as_many_as_the_studys_bytes_imply() -> None:
    assert replace(STUDY, process_bytes=GIB) == writers_of(256 * GIB)
    small = writers_of(256 * MIB)
    assert (small.processes, small.per_node, small.process_bytes) == (1, 1, 256 * MIB)


def test_assumed_numbers_are_the_platforms() -> None:
    file = ROOT / "platforms" / f"{PLATFORM}.toml"
    document = read_toml(file, SimulationError, what="platform", remedy="")
    places = {
        "rpc_bytes": ("client", "rpc"),
        "dirty_bytes": ("client", "dirty"),
        "servers": ("server", "count"),
    }
    assert set(ASSUMED) <= {name for name, _ in simulator_keys().platform}
    for name, value in ASSUMED.items():
        sections = [places.get(name, (section, name)) for section in ("client", "target")]
        sections += [("target", name.removeprefix("target_")), ("metadata", name)]
        found = [document[a][b]["value"] for a, b in sections if b in document.get(a, {})]
        assert found, name
        number = parse_quantity(found[0]) if isinstance(found[0], str) else float(found[0])
        assert number == pytest.approx(value), name
    assert read_platform(file).targets == 96
