"""Writes the bundle of `forebay doctor --site`, and looks up what it has."""

from __future__ import annotations

import io
import json
import os
import pwd
import socket
import tarfile
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from forebay.common.files.safe_files import open_named, refused
from forebay.common.report.output import json_line, json_pretty
from forebay.doctor.use_case.bundle import Person

_FOLDER = "forebay-site"
_ABOUT = """\
What `forebay doctor --site --bundle` found on a node:
  versions.json   of Forebay and of the system
  doctor.json     all findings, as `forebay doctor --site --format json` prints them
  settings.json   all settings: value, and where it comes from
  records.jsonl   the last lines of the record that the settings name, if there is one
Names of users and hosts, addresses, and names of folders and files were replaced by numbers; what
is below /usr, /etc and other folders of the system was not.
Look at it before you give it to anybody.
"""


class LocalBundle:
    """The port BundleSource, over this machine."""

    def person(self) -> Person:
        """Names of the user, of his home folder, and of this host."""
        users = [os.environ.get(name, "") for name in ("USER", "LOGNAME", "SUDO_USER")]
        homes = [os.environ.get("HOME", "")]
        try:
            entry = pwd.getpwuid(os.getuid())
        except KeyError:
            pass
        else:
            users += [entry.pw_name, *entry.pw_gecos.split(",")[:1]]
            homes.append(entry.pw_dir)
        users += [Path(home).name for home in homes]
        return Person(
            users=tuple(dict.fromkeys(one for one in users if one)),
            hosts=tuple(dict.fromkeys((socket.gethostname(), socket.getfqdn()))),
        )

    def last_lines(self, path: str, count: int) -> Sequence[Any]:
        """The last lines of a record, as JSON values."""
        try:
            with Path(path).open(encoding="utf-8", errors="replace") as file:
                lines = deque(file, maxlen=count)
        except OSError:
            return ()
        found = []
        for line in lines:
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
        return found


def write_bundle(path: Path, files: Mapping[str, Any]) -> None:
    """Writes a tar file, compressed by gzip. Raises UsageError if it cannot be written."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w:gz") as archive:
        _add(archive, "README.txt", _ABOUT)
        for name, value in files.items():
            if name.endswith("jsonl"):
                _add(archive, name, "".join(f"{json_line(one)}\n" for one in value))
            else:
                _add(archive, name, json_pretty(value) + "\n")
    try:
        with open_named(path, os.O_CREAT, 0o600) as file:
            file.write(whole.getvalue())
    except OSError as error:
        raise refused("bundle", path, error) from error


def _add(archive: tarfile.TarFile, name: str, text: str) -> None:
    """Adds a file that belongs to nobody: tar would name its owner."""
    content = text.encode("utf-8", "surrogateescape")
    entry = tarfile.TarInfo(f"{_FOLDER}/{name}")
    entry.size, entry.mode, entry.mtime = len(content), 0o644, int(time.time())
    archive.addfile(entry, io.BytesIO(content))
