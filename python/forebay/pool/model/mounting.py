"""How the folders of a pool are mounted over."""

from __future__ import annotations

from forebay.common.model.frozen import frozen


@frozen
class MountChoice:
    """Choices of the user about mounts."""

    is_private: bool = False
    """The mount is in a namespace of its own, which only the program of a run enters."""
    stopped_seconds: int = 60
    """How long the process that serves it may be stopped before the mount is ended."""
    captures: bool = False
    """Whether programs are captured in the mount as well."""


@frozen
class MountWay:
    """A way to mount, as `forebay doctor` has tried it. `obstacle` says why it does not work; None
    if it does."""

    name: str
    obstacle: str | None
