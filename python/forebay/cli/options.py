"""Options that several subcommands have."""

from collections.abc import Sequence

from forebay.domain.errors import UsageError
from forebay.domain.settings import Override


def overrides_of(assignments: Sequence[str] | None) -> tuple[Override, ...]:
    """The words of --set. UsageError: one is not KEY=VALUE."""
    return tuple(_override(text) for text in assignments or ())


def _override(text: str) -> Override:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(
            f'cannot use --set "{text}" (it is not KEY=VALUE). Write --set cb_nodes=2.'
        )
    return Override(name.strip(), value)
