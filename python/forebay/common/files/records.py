"""The port Records: where a run's record lies. What is in it is read and written at the end
(`record_file`), and imported only then, since programs wait for what is imported before them."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.common.files.own_folders import make_folder, remove_stale
from forebay.common.files.safe_files import make_private
from forebay.common.model.errors import RecordError
from forebay.ports import CutWorld

if TYPE_CHECKING:
    from forebay.common.model.record import Record, RunRecord

_PREFIX = "forebay-run-"


class RecordFiles:
    """The port Records, over real files. With `name`, temporary records are in folders of that
    name, so that they can be found from outside."""

    def __init__(self, name: str = "") -> None:
        self._name = name

    def temporary_folders(self) -> tuple[Path, Path]:
        """The folders for temporary records with a `name`: one that other nodes see, and a local
        one."""
        return Path.cwd() / f".{self._name}", Path(tempfile.gettempdir()) / self._name

    def end(self, path: Path) -> int:
        """The present length of the file in bytes; 0 if there is none."""
        try:
            return path.stat().st_size
        except OSError:
            return 0

    def read(self, path: Path, *, offset: int) -> Record:
        """The record from byte `offset` on; empty if there is no file."""
        from forebay.common.files.record_file import read_record_if_any

        return read_record_if_any(path, offset=offset)

    def cut_worlds(self, path: Path) -> Sequence[CutWorld]:
        """The worlds in the file `record`.io-ranks (src/io_ranks/preload/process.cpp writes it),
        which is removed. Lines that are none are left out."""
        note = path.with_name(path.name + ".io-ranks")
        try:
            lines = note.read_text(encoding="ascii", errors="replace").splitlines()
            note.unlink()
        except OSError:
            return ()
        numbers = [line.split() for line in lines]
        return tuple(
            CutWorld(ranks=int(words[0]), io_ranks=int(words[1]))
            for words in numbers
            if len(words) == 2 and all(word.isdecimal() for word in words)
        )

    def append(self, path: Path, run: RunRecord) -> None:
        """Appends the line of the run after those of its ranks, which have ended. Raises
        RecordError if the file cannot be written."""
        from forebay.common.files.record_file import append_run

        append_run(path, run)

    def temporary(self, *, shared: bool) -> Path:
        """A path in a new folder; if `shared`, it is under the working directory if possible."""
        if self._name:
            shared_folder, own = self.temporary_folders()
            with contextlib.suppress(OSError):
                return _inside(shared_folder if shared else own)
            try:
                return _inside(own)
            except OSError as error:
                raise RecordError(
                    f"cannot make the folder {own} ({error.strerror}). Set TMPDIR to a folder of "
                    "your own."
                ) from error
        if shared:
            try:
                here = Path.cwd()
                remove_stale("." + _PREFIX, here)
                return make_folder("." + _PREFIX, here) / "record"
            except OSError:
                pass  # the working directory is read-only, so use this node's /tmp
        remove_stale(_PREFIX, Path(tempfile.gettempdir()))
        return make_folder(_PREFIX) / "record"

    def remove(self, path: Path) -> None:
        """Removes the record and its folder."""
        shutil.rmtree(path.parent, ignore_errors=True)


def _inside(folder: Path) -> Path:
    """A path in a new folder inside `folder`. Raises OSError if `folder` is not this user's alone:
    its name can be guessed, so somebody else may have made it."""
    make_private(folder)
    return Path(tempfile.mkdtemp(dir=folder)) / "record"
