"""Folders that are no place for a program's output, so that a pool over them is a mistake."""

from pathlib import Path

from forebay.common.model.errors import UsageError

_KERNEL = "its files are made by the kernel, and nothing that is written there can wait in memory"
_SYSTEM = "programs and settings of the machine are there, and no program's output"
_WHY = {
    "/proc": _KERNEL,
    "/sys": _KERNEL,
    "/dev": "devices are there, and no files",
    "/etc": _SYSTEM,
    "/boot": _SYSTEM,
    "/bin": _SYSTEM,
    "/sbin": _SYSTEM,
    "/lib": _SYSTEM,
    "/lib64": _SYSTEM,
    "/usr/bin": _SYSTEM,
    "/usr/sbin": _SYSTEM,
    "/usr/include": _SYSTEM,
    "/usr/lib": _SYSTEM,
    "/usr/lib64": _SYSTEM,
    "/usr/share": _SYSTEM,
}
_ALONE = {
    "/": "every file of the machine is below it: libraries, devices, what the kernel makes",
    "/usr": _SYSTEM,
}
"""Folders below which others can be pooled: /usr/workspace is a site's file system."""
_MEMORY = Path("/dev/shm")


def check_place(path: Path) -> None:
    """Raises UsageError if `path`, which is absolute and has no links, is no place for output."""
    why = _ALONE.get(str(path))
    if why is None and not path.is_relative_to(_MEMORY):
        why = next((why for root, why in _WHY.items() if path.is_relative_to(root)), None)
    if why is not None:
        raise UsageError(
            f"cannot pool {path} ({why}). Name the folder that the program writes its output to; "
            "the one that you are in is ."
        )
