"""Python's reader of TOML, which 3.9 and 3.10 lack. It is a module of its own, since a program
would wait for it (it loads datetime)."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["tomllib"]
