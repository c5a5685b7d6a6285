"""How a file lies over storage targets, from the extended attributes of Lustre and CephFS.
Source of the binary layout: lov_user_md_v1 and _v3 of Lustre's lustre_user.h (little-endian)."""

import struct
from dataclasses import dataclass

_V1, _V3, _COMPOSITE = 0x0BD10BD0, 0x0BD30BD0, 0x0BD60BD0
_HEADER = struct.Struct("<II16sIHH")
_ALL_TARGETS = 0xFFFF


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Stripes over `targets` targets, `stripe_bytes` each. `targets` None: all there are;
    stripe_bytes 0: the file system's default or none."""

    source: str
    targets: int | None = 1
    stripe_bytes: int = 0
    remark: str | None = None


ONE_TARGET = Layout(source="none", remark="the file system tells of no targets")


def parse_lustre(value: bytes) -> Layout | None:
    """The attribute `lustre.lov` of a file, or of a directory as the default for new files."""
    if len(value) < 4:
        return None
    magic = int.from_bytes(value[:4], "little")
    if magic == _COMPOSITE:
        return Layout(source="lustre", remark="a composite (progressive) layout")
    if magic not in {_V1, _V3} or len(value) < _HEADER.size:
        return None
    _, _, _, stripe_bytes, count, _ = _HEADER.unpack_from(value)
    if count == _ALL_TARGETS:
        return Layout(source="lustre", targets=None, stripe_bytes=stripe_bytes)
    return Layout(source="lustre", targets=count or 1, stripe_bytes=stripe_bytes)


def parse_ceph(value: bytes) -> Layout | None:
    """The attribute ceph.file.layout or ceph.dir.layout: `stripe_unit=… stripe_count=… …`."""
    words = value.decode("utf-8", "replace").rstrip("\0").split()
    fields = dict(word.split("=", 1) for word in words if "=" in word)
    try:
        unit, count = int(fields["stripe_unit"]), int(fields["stripe_count"])
        object_bytes = int(fields.get("object_size", unit))
    except (KeyError, ValueError):
        return None
    return Layout(
        source="ceph",
        targets=count,
        stripe_bytes=unit,
        remark=f"objects of {object_bytes} bytes; every object may be on another OSD",
    )
