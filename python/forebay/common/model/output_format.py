"""The forms in which commands report."""

from enum import Enum


class Format(Enum):
    """The values of --format."""

    TEXT = "text"
    JSON = "json"
