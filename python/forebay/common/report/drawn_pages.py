"""Pages with pictures: each is one HTML file that holds everything."""

import importlib
from pathlib import Path

from forebay.common.files.output_files import OutputFiles
from forebay.common.files.safe_files import write_named
from forebay.common.model.errors import BenchError, BenchUsageError, SetupError


class DrawnPages:
    """Pages that are written to files."""

    def check(self, path: Path) -> None:
        """SetupError: what draws is not installed; BenchUsageError: `path` cannot be written."""
        obstacle = OutputFiles().obstacle(path)
        if obstacle is not None:
            raise BenchUsageError(
                f"cannot write the page {path} ({obstacle}). Name a file that can be written."
            )
        require_drawing()


def write_page(text: str, path: Path) -> None:
    """BenchError: it cannot be written."""
    try:
        write_named(path, text)
    except OSError as error:
        raise BenchError(
            f"cannot write {path} ({error.strerror}). Give another file.", exit_code=2
        ) from error


def require_drawing() -> None:
    """SetupError: jinja2 or matplotlib is missing. Everything else works without these packages,
    so they are not imported above."""
    try:
        for name in ("jinja2", "matplotlib.figure"):
            importlib.import_module(name)
    except ImportError as error:
        raise SetupError(
            f"cannot draw the page ({error.name} is not installed). "
            "Install what it needs: pip install matplotlib jinja2."
        ) from error
