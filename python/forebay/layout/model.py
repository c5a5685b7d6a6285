"""How a file lies over storage targets, as values: schema/layout.md in Python. The program
forebay-layout reads and sets layouts; nothing here knows a file system's formats."""

from forebay.common.model.frozen import frozen


@frozen
class Component:
    """One range of a file (`end` None: to its end) with one way of striping. `stripe_count` 0: the
    file system's default, -1: all targets; `stripe_bytes` 0: the default."""

    begin: int
    end: int | None
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
    """The layout of a file, or of new files in a directory. `targets` and `stripe_bytes` are what
    Forebay takes for the whole file; `targets` None: all there are. `origin` is the path that has
    the layout; empty: it is the file system's own default."""

    path: str
    kind: str
    bytes: int
    file_system: str
    origin: str
    targets: int | None
    stripe_bytes: int
    components: tuple[Component, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether the file system tells of stripes."""
        return self.file_system != "none"

    @property
    def is_directory(self) -> bool:
        """Whether it is what new files get."""
        return self.kind == "directory"


@frozen
class WantedLayout:
    """The layout that a user asks for; values not given (0, -1, empty) stay as they are."""

    stripe_count: int = 0
    stripe_bytes: int = 0
    first_ost: int = -1
    pool: str = ""

    @property
    def says_something(self) -> bool:
        """Whether anything is asked for."""
        return self != WantedLayout()


@frozen
class LayoutChange:
    """A layout that was set, as it was read back; `complaint`: why it is not what was asked for."""

    layout: Layout
    made: bool
    complaint: str | None
