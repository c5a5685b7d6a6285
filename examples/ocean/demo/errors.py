"""Errors of the demo itself, beside those of Forebay."""

from forebay.common.model.errors import ForebayError


class DemoError(ForebayError):
    """The demo cannot go on, or its files differ."""
