"""Moments in the one form that pages have."""

from __future__ import annotations

import datetime
import re

_ISO = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(Z|\+00:?00)")
_CTIME = "%a %b %d %H:%M:%S %Y"


def moment_text(text: str) -> str:
    """The moment as "2026-11-27 21:03 UTC", if `text` is ISO 8601 of UTC. One of ctime(3), as IOR
    writes them, has no zone and gets none. Other texts stay as they are."""
    found = _ISO.fullmatch(text.strip())
    if found:
        return f"{found[1]} {found[2]} UTC"
    try:
        return f"{datetime.datetime.strptime(text.strip(), _CTIME):%Y-%m-%d %H:%M}"
    except ValueError:
        return text
