"""Where and when a page is made: one line, in the form that all pages have."""

from __future__ import annotations

import datetime
import os
import platform
from pathlib import Path

from forebay import __version__
from forebay.common.model.units import counted

_PROCESSORS = Path("/proc/cpuinfo")
_MODEL = "model name"


def origin_text() -> str:
    """Version, date, host, processor, cores and kernel, as in "Forebay VERSION, 2026-11-27 21:03
    UTC, on node1: AMD EPYC, 2 cores, Linux 6.1.0"."""
    now = datetime.datetime.now(datetime.timezone.utc)
    facts = (_processor(), counted(len(os.sched_getaffinity(0)), "core"), _kernel())
    told = ", ".join(fact for fact in facts if fact)
    return f"Forebay {__version__}, {now:%Y-%m-%d %H:%M} UTC, on {platform.node()}: {told}"


def _kernel() -> str:
    return f"{platform.system()} {platform.release()}"


def _processor() -> str:
    """The processor's name; empty if the kernel does not tell it."""
    try:
        lines = _PROCESSORS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    named = (line.partition(":")[2].strip() for line in lines if line.startswith(_MODEL))
    return next(named, "")
