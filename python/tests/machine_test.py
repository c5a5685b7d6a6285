"""Mounts, and this machine."""

from pathlib import Path

import pytest

from forebay.common.files.machine import LocalMachine, mount_of, other_names
from forebay.common.model.errors import UsageError

MOUNTINFO = r"""22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:26 / /scratch rw shared:7 - lustre 10.0.0.1@tcp:/fs rw
31 30 0:27 / /scratch/ceph rw - ceph 10.0.0.2:/ rw
32 22 0:28 / /with\040blank rw shared:8 master:1 - tmpfs tmpfs rw
33 22 0:29 / /over rw - autofs auto rw
34 22 0:30 / /over rw - nfs4 server:/over rw
damaged line
"""


@pytest.mark.parametrize(
    ("path", "file_system"),
    [
        ("/", "ext4"),
        ("/scratch", "lustre"),
        ("/scratch/me/run", "lustre"),
        ("/scratchy", "ext4"),
        ("/scratch/ceph/a", "ceph"),
        ("/with blank/a", "tmpfs"),
        ("/over/a", "nfs4"),
    ],
)
def test_mount_of_a_path(path: str, file_system: str) -> None:
    assert mount_of(Path(path), MOUNTINFO).file_system == file_system


TWICE = r"""22 1 254:0 / / rw - ext4 /dev/vda rw
30 22 0:26 / /scratch rw - lustre 10.0.0.1@tcp:/fs rw
31 22 0:26 /me /home/me/scratch rw - lustre 10.0.0.1@tcp:/fs rw
32 22 0:26 /me/run/out /out rw - lustre 10.0.0.1@tcp:/fs rw
33 22 0:26 /other /other rw - lustre 10.0.0.1@tcp:/fs rw
34 22 0:26 / /hidden rw - lustre 10.0.0.1@tcp:/fs rw
35 22 0:27 / /hidden rw - tmpfs tmpfs rw
36 30 0:26 /me/run/in /scratch/me/run/also rw - lustre 10.0.0.1@tcp:/fs rw
"""


def test_other_names_of_a_path() -> None:
    found = set(other_names(Path("/scratch/me/run"), TWICE))
    assert found == {Path("/home/me/scratch/run"), Path("/out")}
    assert list(other_names(Path("/home/me"), TWICE)) == []


def test_this_machine(tmp_path: Path) -> None:
    facts = LocalMachine().directory(tmp_path)
    assert facts.is_writable
    assert facts.file_system != "unknown"
    assert LocalMachine().facts().cores >= 1
    with pytest.raises(UsageError, match="No such file"):
        LocalMachine().directory(tmp_path / "none")
