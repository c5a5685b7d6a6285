"""The forms in which commands report."""

from forebay.common.model.newer_python import StrEnum


class Format(StrEnum):
    """The values of --format: texts, since an older typer compares the default with texts."""

    TEXT = "text"
    JSON = "json"
