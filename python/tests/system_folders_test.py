"""A pool over a folder of the system is refused, with what to do instead."""

from pathlib import Path

import pytest

from forebay.common.model.errors import UsageError
from forebay.pool.model.system_folders import check_place


@pytest.mark.parametrize(
    "place",
    ["/", "/proc", "/proc/7", "/sys/fs/cgroup", "/etc", "/dev", "/dev/null", "/usr", "/usr/lib/a"],
)
def test_no_output_goes_to(place: str) -> None:
    with pytest.raises(UsageError, match=rf"^cannot pool {place} \(.+\)\. Name the folder .*"):
        check_place(Path(place))


@pytest.mark.parametrize(
    "place", ["/dev/shm", "/dev/shm/me", "/usr/workspace/me", "/proceedings", "/home/me", "/tmp"]
)
def test_output_may_go_to(place: str) -> None:
    check_place(Path(place))
