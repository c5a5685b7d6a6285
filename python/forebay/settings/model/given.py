"""Settings as users give them. A run without any does not read the table of all (`table`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forebay.common.model.errors import UsageError

ENVIRONMENT_PREFIX = "FOREBAY_"
SETTINGS_VARIABLE = "FOREBAY_SETTINGS"
RECORD_VARIABLE = "FOREBAY_RECORD"
_NO_SETTINGS = frozenset(ENVIRONMENT_PREFIX + name for name in ("LIBDIR", "PYTHON", "ROOT"))
"""Variables with the prefix that set something else: where Forebay is, and what runs it."""


@dataclass(frozen=True)
class Override:
    """A `--set key=value`, or a key of a settings file with its line."""

    name: str
    text: str
    line: int | None = None


def overrides_of(assignments: Sequence[str] | None) -> tuple[Override, ...]:
    """The values of --set. Raises UsageError if one is not KEY=VALUE."""
    return tuple(_override(text) for text in assignments or ())


def _override(text: str) -> Override:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(
            f'cannot use --set "{text}" (it is not KEY=VALUE). Write --set cb_nodes=2.'
        )
    return Override(name.strip(), value)


def may_set(environment: Mapping[str, str]) -> bool:
    """Whether a variable may set a setting, or be a misspelt one that does not."""
    return any(
        name.startswith(ENVIRONMENT_PREFIX) and name not in _NO_SETTINGS for name in environment
    )
