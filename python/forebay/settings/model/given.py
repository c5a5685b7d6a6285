"""Settings as users give them. A run without any does not read the table of all (`table`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from forebay.common.model.errors import UsageError

ENVIRONMENT_PREFIX = "FOREBAY_"
SETTINGS_VARIABLE = "FOREBAY_SETTINGS"
RECORD_VARIABLE = "FOREBAY_RECORD"
SITE_FILE = Path("/etc/forebay/settings.toml")
"""The settings of those who look after the machine."""
SITE_VARIABLE = "FOREBAY_SITE_SETTINGS"
"""The variable that names such a file where SITE_FILE is not there."""
LOCKED_KEY = "locked"
"""The key of a site's file that lists the settings which users cannot change."""
LOCKED_VARIABLE = "FOREBAY_LOCKED"
"""The variable that tells programs which settings are locked, so that hints leave them alone."""
_NO_SETTINGS = frozenset(
    ENVIRONMENT_PREFIX + name for name in ("LIBDIR", "LOCKED", "PYTHON", "ROOT")
)
"""Variables with the prefix that set something else: where Forebay is, what runs it, and what the
site has locked."""


@dataclass(frozen=True)
class Override:
    """A `--set key=value`, or a key of a settings file with its line."""

    name: str
    text: str
    line: int | None = None


@dataclass(frozen=True)
class SiteFile:
    """The settings of a site: values that users may change unless they are in `locked`, which has
    names of settings with their lines as `line`."""

    path: Path
    values: tuple[Override, ...]
    locked: tuple[Override, ...] = ()


def overrides_of(assignments: Sequence[str] | None) -> tuple[Override, ...]:
    """The values of --set. Raises UsageError if one is not KEY=VALUE."""
    return tuple(_override(text) for text in assignments or ())


def _override(text: str) -> Override:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        shown = f"{name}=VALUE" if name.isidentifier() else "cb_nodes=2"
        raise UsageError(
            f'cannot use --set "{text}" (it is not KEY=VALUE). Write --set {shown}; `forebay '
            "settings` lists keys and values."
        )
    return Override(name.strip(), value)


def may_set(environment: Mapping[str, str]) -> bool:
    """Whether a variable may set a setting, or be a misspelt one that does not."""
    return any(
        name.startswith(ENVIRONMENT_PREFIX) and name not in _NO_SETTINGS for name in environment
    )
