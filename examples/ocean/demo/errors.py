"""What can go wrong in the demo beside what can go wrong in Forebay."""

from forebay.common.model.errors import ForebayError


class DemoError(ForebayError):
    """The demo cannot go on, or its files differ."""
