"""HTML pages with pictures; each is one self-contained file."""

import importlib
from pathlib import Path

from forebay.common.files.output_files import OutputFiles
from forebay.common.files.safe_files import write_named
from forebay.common.model.errors import BenchError, BenchUsageError, SetupError


class DrawnPages:
    """The base of the classes that write such pages."""

    def check(self, path: Path) -> None:
        """Raises SetupError if the drawing packages are missing, and BenchUsageError if `path`
        cannot be written."""
        obstacle = OutputFiles().obstacle(path)
        if obstacle is not None:
            raise BenchUsageError(
                f"cannot write the page {path} ({obstacle}). Name a file that can be written."
            )
        require_drawing()


def write_page(text: str, path: Path) -> None:
    """Writes the page. Raises BenchError if that fails."""
    try:
        write_named(path, text)
    except OSError as error:
        raise BenchError(
            f"cannot write {path} ({error.strerror}). Give another file.", exit_code=2
        ) from error


def require_drawing() -> None:
    """Raises SetupError if jinja2 or matplotlib is missing. These packages are optional, so
    they are imported here and not at the top."""
    try:
        for name in ("jinja2", "matplotlib.figure"):
            importlib.import_module(name)
    except ImportError as error:
        raise SetupError(
            f"cannot draw the page ({error.name} is not installed). "
            "Install what it needs: pip install matplotlib jinja2."
        ) from error
