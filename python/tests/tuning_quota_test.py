"""Tests that probing keeps within the rest of a quota."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from forebay.common.files.quotas import directory_quotas, lfs_quota_left, subvolume_quota
from forebay.common.model.errors import ProbeError
from forebay.common.model.units import MIB
from forebay.machine_ports import QuotaLeft
from forebay.simulate.files import background_load
from forebay_tuning.model.modelled import Disturbances
from forebay_tuning.probe.files.platform_file import read_platform
from forebay_tuning.probe.use_case.modelled_system import ModelledSystem
from forebay_tuning.probe.use_case.probe import Budget, Ground, ProbePlan, ProbeRequest, plan_probe

ROOT = Path(__file__).resolve().parents[2]
QUOTA = QuotaLeft(bytes=100 * MIB, of="the user's quota")


class Limited(ModelledSystem):
    """A modelled system with so much space."""

    def __init__(self, free: int | None, quota: QuotaLeft | None) -> None:
        machine = read_platform(ROOT / "platforms" / "lustre-96-ost.toml")
        super().__init__(
            machine, disturbances=Disturbances(), load=background_load(), seed=1, date="2026-11-22"
        )
        self._space = free, quota

    def ground(self) -> Ground:
        free, quota = self._space
        return replace(super().ground(), free_bytes=free, quota=quota, placeable=0)


def planned(*, free: int | None, quota: QuotaLeft | None, wanted: int, share: float) -> ProbePlan:
    budget = Budget(seconds=1e5, bytes=wanted * MIB, files=10**6, share=share)
    return plan_probe(ProbeRequest(level="quick", budget=budget, seed=1), Limited(free, quota))


@pytest.mark.parametrize(
    ("free", "quota", "wanted", "mib", "name"),
    [
        (None, None, 600, 600, "--bytes"),
        (None, QUOTA, 600, 60, "--share, 80% of what is left of the user's quota (100 MiB)"),
        (1 << 40, QUOTA, 600, 60, "--share, 80% of what is left of the user's quota (100 MiB)"),
        (90 * MIB, QUOTA, 600, 60, "--share, 80% of free space (90.0 MiB)"),
        (1 << 40, QUOTA, 60, 60, "--bytes"),
    ],
)
def test_the_tightest_limit_holds_and_is_named(
    free: int | None, quota: QuotaLeft | None, wanted: int, mib: int, name: str
) -> None:
    estimate = planned(free=free, quota=quota, wanted=wanted, share=0.8).estimate
    assert (estimate.bytes, estimate.limit) == (mib * MIB, name)


def test_a_quota_that_is_too_small_says_so() -> None:
    with pytest.raises(ProbeError, match=r"left of the user's quota .* Raise --share, make room"):
        planned(free=1 << 40, quota=QUOTA, wanted=600, share=0.01)


@pytest.mark.parametrize(
    ("output", "left"),
    [
        ("   /lustre   1024  0  4096  -  1  0  0  -\n", 3 << 20),
        ("/lustre 1024 2048 4096 - 1 0 0 -", 1 << 20),
        ("/lustre 5120* 2048 4096 6d23h 1 0 0 -", 0),
        ("/lustre\n      [1024]  0  4096  -  1  0  0  -", 3 << 20),
        ("/lustre 1024 0 0 - 1 0 0 -", None),
        ("quotas are not enabled", None),
        ("/lustre", None),
    ],
)
def test_what_lfs_says(output: str, left: int | None) -> None:
    assert lfs_quota_left(output, "/lustre") == left


def ceph(attributes: dict[tuple[str, str], int]) -> Callable[[Path, str], bytes]:
    def attribute(folder: Path, name: str) -> bytes:
        try:
            return str(attributes[str(folder), name]).encode()
        except KeyError:
            raise OSError from None

    return attribute


def test_quotas_of_directories_above() -> None:
    attribute = ceph(
        {
            ("/m/a/b", "ceph.quota.max_bytes"): 100,
            ("/m/a/b", "ceph.dir.rbytes"): 10,
            ("/m", "ceph.quota.max_bytes"): 200,
            ("/m", "ceph.dir.rbytes"): 150,
            ("/", "ceph.quota.max_bytes"): 1,
            ("/", "ceph.dir.rbytes"): 1,
        }
    )
    found = directory_quotas(Path("/m/a/b"), Path("/m"), attribute)
    assert [(one.bytes, one.of) for one in found] == [
        (90, "the quota of /m/a/b"),
        (50, "the quota of /m"),
    ]


@pytest.mark.parametrize(("flags", "left"), [(0, []), (1, [70]), (2, [15]), (3, [70, 15])])
def test_quota_of_a_subvolume(tmp_path: Path, flags: int, left: list[int]) -> None:
    files = {"max_referenced": 100, "referenced": 30, "max_exclusive": 20, "exclusive": 5}
    for name, value in {**files, "limit_flags": flags}.items():
        (tmp_path / name).write_text(f"{value}\n")
    assert [one.bytes for one in subvolume_quota(tmp_path)] == left
