"""Reports where the values of settings come from, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forebay.common.model.printable import printable
from forebay.common.report.text_table import aligned
from forebay.settings.model.table import EffectiveSetting, Origin
from forebay.settings.use_case import FolderSetting

_HEADS = ("setting", "value", "origin", "from", "locked by")
_TITLES = {
    Origin.DEFAULT: "default",
    Origin.SITE: "site",
    Origin.FILE: "user's file",
    Origin.ENVIRONMENT: "environment",
    Origin.OPTION: "--set",
}
_FOLDER = "folder"


def origin_lines(
    listed: Sequence[EffectiveSetting], folders: Sequence[FolderSetting]
) -> Iterator[str]:
    """A table of the values with their origins; those of folders, which hold for the files below
    them, come last."""
    rows = [
        (
            one.setting.name,
            printable(one.setting.shown(one.value)) or '""',
            _TITLES[one.origin],
            printable(one.place),
            printable(one.lock),
        )
        for one in listed
    ]
    rows += [
        (one.name, printable(one.value), f"{_FOLDER} {printable(one.folder)}", one.place, "")
        for one in folders
    ]
    for line in aligned([_HEADS, *rows], left=set(range(len(_HEADS))), indent=""):
        yield line.rstrip()
