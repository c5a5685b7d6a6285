"""What stands in the way of a file that is to be written later."""

import os
from pathlib import Path

import pytest

from forebay.adapters.output_files import OutputFiles


def test_obstacles(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.write_text("kept")
    for path, why in (
        (there, None),
        (tmp_path / "new", None),
        (Path("/dev/null"), None),
        (tmp_path, "directory"),
        (tmp_path / "none" / "new", f"no folder {tmp_path}/none"),
        (there / "new", "Not a directory"),
        (tmp_path / ("n" * 300), "too long"),
    ):
        obstacle = OutputFiles().obstacle(path)
        assert obstacle is None if why is None else why in str(obstacle)
    assert there.read_text() == "kept"
    assert not (tmp_path / "new").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_what_may_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "there").touch(mode=0o400)
    tmp_path.chmod(0o500)
    assert OutputFiles().obstacle(tmp_path / "there") == "it may not be written"
    assert (
        OutputFiles().obstacle(tmp_path / "new") == f"nothing can be made in the folder {tmp_path}"
    )
    tmp_path.chmod(0o700)
