"""The failure that a test reports."""

from __future__ import annotations


class Failed(AssertionError):  # noqa: N818 - said as a verdict
    """The message says what was found and how to see it again."""


def ensure(holds: object, message: str) -> None:
    __tracebackhide__ = True
    if not holds:
        raise Failed(message)
