"""Shared by the observers of a file system: observations by name, and padded files.

PADDING in the environment is a number of bytes that files get behind their text, so that a pool
takes them; what is said stays the same."""

# ruff: noqa: PTH123

from __future__ import annotations

import ctypes
import errno
import json
import os
import subprocess
from collections.abc import Callable

AT_FDCWD = -100
LIBC = ctypes.CDLL(None, use_errno=True)
Observation = Callable[[], object]
OBSERVATIONS: dict[str, Observation] = {}
PADDING = b"." * int(os.environ.get("PADDING", "0"))


def observed(function: Observation) -> Observation:
    OBSERVATIONS[function.__name__] = function
    return function


def call(name: str, *arguments: object) -> int:
    """libc's, by its errno."""
    done = int(getattr(LIBC, name)(*arguments))
    if done == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return done


def renameat2(old: str, new: str, flags: int) -> None:
    call("renameat2", AT_FDCWD, old.encode(), AT_FDCWD, new.encode(), flags)


def make(name: str, text: bytes = b"0123456789") -> str:
    """Padded, unless it is empty."""
    with open(name, "wb") as out:
        out.write(text + PADDING if text else text)
    return name


def stripped(text: bytes) -> str:
    """Without the padding."""
    return (text.replace(PADDING, b"") if PADDING else text).decode("latin-1")


def content(name: str) -> str:
    with open(name, "rb") as file:
        return stripped(file.read())


def say_all() -> None:
    """Makes all observations."""
    said: dict[str, object] = {}
    for name, observation in OBSERVATIONS.items():
        try:
            said[name] = observation()
        except OSError as error:
            said[name] = errno.errorcode.get(error.errno or 0, "?")
        except subprocess.CalledProcessError:
            if os.geteuid() == 0:
                raise
            said[name] = "only root becomes another user"
    print(json.dumps(said))
