"""The `forebay` command, and the use cases beneath it."""

__version__ = "0.1.0"
