"""Rescue files: bytes that a pool could not write to their file (schema/rescue.md)."""

import struct
from pathlib import Path

from forebay.common.model.frozen import frozen

SCHEMA = "forebay.rescue/1"
RUN_HEADER = struct.Struct("=QQII")


@frozen
class RescueHead:
    """The head of a rescue file: the file that its bytes are for. `path` may be only the end of a
    long one; `kept_ns` is when its bytes were kept, in nanoseconds since 1970."""

    path: str
    device: int
    """Which file it was, with the inode, as stat has them: the name may be another's now."""
    inode: int
    error: int
    """Errno of the last try; 0: the daemon was told to end before it had tried."""
    runs: int
    """How many follow in the file."""
    bytes: int
    """Sum over all runs."""
    kept_ns: int

    @property
    def is_whole_path(self) -> bool:
        """Whether `path` can be used as it is."""
        return self.path.startswith("/")


@frozen
class FoundFile:
    """The file that the bytes would be written to, as it is now."""

    device: int
    inode: int
    modified_ns: int


@frozen
class RunAt:
    """Bytes that belong together: where they are in the rescue file, and where they belong."""

    at: int
    offset: int
    length: int
    checksum: int
    """The crc32 of its bytes, as zlib computes it."""


@frozen
class Applied:
    """The outcome for a rescue file: `written` bytes are in `target`; it is removed if these are
    all. `problem`: why they are not."""

    file: Path
    target: str
    bytes: int
    written: int = 0
    problem: str | None = None
    is_removed: bool = False


def obstacle(head: RescueHead, found: FoundFile | None) -> str | None:
    """Why the bytes are better not written to the file that was found; None: they may be."""
    if found is None:
        return "the file is not there any more"
    if (found.device, found.inode) != (head.device, head.inode):
        return "it is another file than the one that the bytes were written to"
    if found.modified_ns > head.kept_ns:
        return "it was changed after its bytes were kept"
    return None
