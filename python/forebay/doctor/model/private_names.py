"""Takes private names out of what is given to others: names of users and hosts, and of folders and
files below the first folder of a path. The same name has the same replacement everywhere, so that
what belongs together can still be seen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

_OF_THE_SYSTEM = frozenset(
    "bin boot dev etc lib lib32 lib64 opt proc run sbin snap sys usr var".split()
)
"""First folders of paths that name nobody: what is below them is the system's."""
_SHORT = 3
"""Names of less characters are replaced only where they stand alone."""
_PATH = re.compile(r"(?<![\w./-])~?/(?!/)[^\s\"'`,;()<>|]*[^\s\"'`,;()<>|.:]")
_HOME = re.compile(r"/(?:home|users|Users)/([^/\s\"',;:]+)")
_ADDRESS = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")
_MAIL = re.compile(r"[\w.+-]+@[\w.-]+\.\w+")
_HOST_KEYS = frozenset({"host", "hosts", "hostname"})
_USER_KEYS = frozenset({"user", "users", "owner"})


def servers_of(device: str) -> Iterator[str]:
    """The hosts in what a networked file system calls its device: "server:/export" (NFS),
    "10.0.0.1@o2ib,10.0.0.2@o2ib:/fs" (Lustre), "user@cluster.fs=/" (CephFS)."""
    before, colon, _ = device.rpartition(":/")
    for part in re.split(r"[,:]", before if colon else ""):
        name = part.partition("@")[0]
        if name and not name.isdecimal():
            yield name


def names_in(value: Any) -> Iterator[tuple[str, str]]:
    """Pairs ("host" or "user", name) of what a JSON value says under keys that mean one, or in the
    path of a home folder."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            kind = "host" if key in _HOST_KEYS else "user" if key in _USER_KEYS else ""
            if kind and isinstance(one, str):
                yield kind, one
            yield from names_in(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from names_in(one)
    elif isinstance(value, str):
        for name in _HOME.findall(value):
            yield "user", name


class PrivateNames:
    """Replaces names in texts and JSON values."""

    def __init__(self, *, users: Iterable[str], hosts: Iterable[str]) -> None:
        self._kinds: dict[str, str] = {}
        self._paths: dict[str, str] = {}
        for kind, names in (("user", users), ("host", hosts)):
            for name in names:
                self.learn(kind, name)

    def learn(self, kind: str, name: str) -> None:
        """Has the name of a user or a host replaced from now on. Of a host with a domain, both
        names are."""
        parts = [name, name.partition(".")[0]] if kind == "host" else [name]
        for one in parts:
            if one and one not in {"root", "localhost"}:
                self._kinds.setdefault(one.lower(), f"{kind}{len(self._kinds) + 1}")

    def cleaned(self, value: Any) -> Any:
        """The JSON value with all names replaced; its keys stay."""
        if isinstance(value, Mapping):
            return {key: self.cleaned(one) for key, one in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.cleaned(one) for one in value]
        if not isinstance(value, str):
            return value
        if value.startswith("/") and "\n" not in value:
            return self._path(value)
        return self.text(value)

    def command(self, words: Sequence[str]) -> list[str]:
        """A command line. Words that are no options may name files, so that only the program's own
        name stays."""
        kept = [self._names(words[0].rpartition("/")[2])] if words else []
        return [*kept, *(self._word(word) for word in words[1:])]

    def _word(self, word: str) -> str:
        if word.startswith("-") or word.isdecimal():
            return self.text(word.partition("=")[0])
        return self._replacement(word)

    def text(self, text: str) -> str:
        """A text with paths in it."""
        return self._names(_PATH.sub(lambda found: self._path(found[0]), text))

    def _path(self, path: str) -> str:
        first, *rest = path.lstrip("/").split("/")
        if path.startswith("/") and first in _OF_THE_SYSTEM:
            return self._names(path)
        kept = [self._names(first), *(self._replacement(one) for one in rest)]
        return "/" * path.startswith("/") + "/".join(kept)

    def _replacement(self, name: str) -> str:
        """A number in the place of a file's name; its ending stays, which says of which kind it
        is."""
        if name in ("", ".", ".."):
            return name
        known = self._kinds.get(name.lower())
        if known is not None:
            return known
        number = self._paths.setdefault(name, f"name{len(self._paths) + 1}")
        ending = re.search(r"\w(\.[a-z0-9]{1,4})$", name)
        return number + (ending[1] if ending else "")

    def _names(self, text: str) -> str:
        text = _ADDRESS.sub("address", _MAIL.sub("mail", text))
        for name in sorted(self._kinds, key=len, reverse=True):
            quoted = re.escape(name)
            alone = quoted if len(name) >= _SHORT else rf"(?<![^\W_]){quoted}(?![^\W_])"
            text = re.sub(alone, self._kinds[name], text, flags=re.IGNORECASE)
        return text
