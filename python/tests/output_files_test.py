"""Tests the obstacles to a file that is to be written later."""

import os
from pathlib import Path

import pytest

from forebay.common.files.output_files import OutputFiles


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


def test_what_was_written_since_a_moment(tmp_path: Path) -> None:
    for name in ("old", "new", "sub/new", "sub/old", "empty", "named"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("" if name == "empty" else "x")
        os.utime(path, ns=(0, 1 << 40 if "old" in name else 1 << 50))
    (tmp_path / "link").symlink_to("new")
    outputs = OutputFiles()

    def found(*words: str) -> set[str]:
        there = outputs.changed(tmp_path, words, since=1 << 49)
        return {str(path.relative_to(tmp_path.resolve())) for path in there}

    assert found() == {"new", "named"}
    assert found("of=sub/new", "sub/old", "none", "", "n" * 300) == {"new", "named", "sub/new"}
    assert found("sub", "/dev/null", "/dev") == {"new", "named", "sub/new"}
    assert outputs.moment() > 1 << 49


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_what_may_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "there").touch(mode=0o400)
    tmp_path.chmod(0o500)
    assert OutputFiles().obstacle(tmp_path / "there") == "it may not be written"
    assert (
        OutputFiles().obstacle(tmp_path / "new") == f"nothing can be made in the folder {tmp_path}"
    )
    tmp_path.chmod(0o700)
