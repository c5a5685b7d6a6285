"""Rescue files: bytes that a pool could not write to their file (schema/rescue.md)."""

import struct
from pathlib import Path
from typing import Optional

from forebay.common.model.frozen import frozen

SCHEMA = "forebay.rescue/1"
RUN_HEADER = struct.Struct("=QQII")


@frozen
class RescueHead:
    """The head of a rescue file: the file that its bytes belong to. `path` may be only the end of a
    long path; `kept_ns` is when the bytes were kept, in nanoseconds since the epoch."""

    path: str
    device: int
    """Device and inode identify the file, since another file may have its name by now."""
    inode: int
    error: int
    """The errno of the last attempt; 0 if the daemon was told to end before it tried."""
    runs: int
    """The number of runs in the rescue file."""
    bytes: int
    """The sum of all runs' lengths."""
    kept_ns: int

    @property
    def is_whole_path(self) -> bool:
        """Whether `path` is complete, so that it can be opened."""
        return self.path.startswith("/")


@frozen
class FoundFile:
    """The file that the bytes would be written to, as it is now."""

    device: int
    inode: int
    modified_ns: int


@frozen
class RunAt:
    """A contiguous run of bytes: `at` is its place in the rescue file, `offset` in the target."""

    at: int
    offset: int
    length: int
    checksum: int
    """The CRC-32 of its bytes, as zlib computes it."""


@frozen
class RescueOutcome:
    """The outcome for one rescue file. `written` bytes are in `target`; the rescue file is removed
    if these are all. `problem` says why they are not."""

    file: Path
    target: str
    bytes: int
    written: int = 0
    problem: Optional[str] = None
    is_removed: bool = False


def obstacle(head: RescueHead, found: Optional[FoundFile]) -> Optional[str]:
    """Why the bytes should not be written to the file that was found, or None if they may be."""
    if found is None:
        return "the file is not there any more"
    if (found.device, found.inode) != (head.device, head.inode):
        return "it is another file than the one that the bytes were written to"
    if found.modified_ns > head.kept_ns:
        return "it was changed after its bytes were kept"
    return None
