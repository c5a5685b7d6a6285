"""The layout of a file over storage targets as values: schema/layout.md in Python. The formats of
file systems are known only to the program forebay-layout."""

from typing import Optional

from forebay.common.model.frozen import frozen


@frozen
class Component:
    """A range of a file with one way of striping. `end` is None for the end of the file.
    `stripe_count` is 0 for the file system's default, -1 for all targets; `stripe_bytes` is 0 for
    the default."""

    begin: int
    end: Optional[int]
    placement: str
    role: str
    stripe_count: int
    stripe_bytes: int
    object_bytes: int
    pool: str
    osts: tuple[int, ...]
    mirror: int
    initialised: bool
    stale: bool
    chosen: bool


@frozen
class Layout:
    """The layout of a file, or of new files in a directory. `targets` and `stripe_bytes` are
    Forebay's values for the whole file; `targets` is None for all targets. `origin` is the path
    that has the layout, empty for the file system's default."""

    path: str
    kind: str
    bytes: int
    file_system: str
    origin: str
    targets: Optional[int]
    stripe_bytes: int
    components: tuple[Component, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether the file system tells its striping."""
        return self.file_system != "none"

    @property
    def is_directory(self) -> bool:
        """Whether it is the layout that new files in a directory get."""
        return self.kind == "directory"


@frozen
class WantedLayout:
    """The layout that a user asks for. Values that are not given (0, -1, empty) are not changed."""

    stripe_count: int = 0
    stripe_bytes: int = 0
    first_ost: int = -1
    pool: str = ""

    @property
    def says_something(self) -> bool:
        """Whether any value is given."""
        return self != WantedLayout()


@frozen
class LayoutChange:
    """The layout as it was read back after it was set. `complaint` says how it differs from the
    wanted one, None if it does not."""

    layout: Layout
    made: bool
    complaint: Optional[str]
