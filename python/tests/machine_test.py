"""Mounts, layouts, and this machine."""

import struct
from pathlib import Path

import pytest

from forebay.adapters.machine import LocalMachine, mount_of
from forebay.domain.errors import UsageError
from forebay.domain.layout import parse_ceph, parse_lustre

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


def lov(magic: int, stripe_bytes: int, count: int) -> bytes:
    return struct.pack("<II16sIHH", magic, 1, b"", stripe_bytes, count, 0) + bytes(24)


def test_plain_lustre_layouts() -> None:
    for magic in (0x0BD10BD0, 0x0BD30BD0):
        layout = parse_lustre(lov(magic, 1 << 20, 4))
        assert layout is not None
        assert (layout.targets, layout.stripe_bytes) == (4, 1 << 20)


def test_lustre_over_all_targets_composite_and_damaged() -> None:
    everywhere = parse_lustre(lov(0x0BD10BD0, 1 << 20, 0xFFFF))
    assert everywhere is not None
    assert everywhere.targets is None
    composite = parse_lustre(lov(0x0BD60BD0, 0, 0))
    assert composite is not None
    assert "composite" in (composite.remark or "")
    assert parse_lustre(b"") is None
    assert parse_lustre(lov(0x0BD10BD0, 1, 1)[:20]) is None
    assert parse_lustre(bytes(64)) is None


def test_ceph_layouts() -> None:
    layout = parse_ceph(b"stripe_unit=4194304 stripe_count=2 object_size=8388608 pool=data\0")
    assert layout is not None
    assert (layout.targets, layout.stripe_bytes) == (2, 4 << 20)
    assert parse_ceph(b"stripe_unit=x stripe_count=1") is None
    assert parse_ceph(b"") is None


def test_this_machine(tmp_path: Path) -> None:
    facts = LocalMachine().directory(tmp_path)
    assert facts.is_writable
    assert facts.file_system != "unknown"
    assert LocalMachine().facts().cores >= 1
    with pytest.raises(UsageError, match="No such file"):
        LocalMachine().directory(tmp_path / "none")
