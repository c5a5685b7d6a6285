"""The `forebay` command, and the use cases beneath it."""

__version__ = "0.1.0"
"""The one place that says it: CMake and pip read this line, and tools/checks/version.py holds what
has to repeat it to the same."""
