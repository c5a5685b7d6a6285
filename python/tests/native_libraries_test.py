"""Where the native libraries are looked for."""

from pathlib import Path

import pytest

from forebay.common.files.native_libraries import STUB_NAME, LibraryFolders
from forebay.common.model.errors import SetupError
from forebay.common.model.program import Family


def place(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True)
    for name in (STUB_NAME, *names):
        (folder / name).touch()
    return folder


def test_wheel_installed_tree_and_checkout(tmp_path: Path) -> None:
    package = tmp_path / "prefix" / "share" / "forebay" / "python" / "forebay"
    checkout = place(package.parents[1] / "build" / "release" / "lib")
    finder = LibraryFolders(environment={}, package=package)
    assert finder.find().folder == checkout
    installed = place(tmp_path / "prefix" / "lib" / "forebay", "libforebay_core_mpich.so")
    found = finder.find()
    assert found.folder == installed
    assert found.cores == {Family.MPICH: installed / "libforebay_core_mpich.so"}
    wheel = place(package / "lib")
    assert finder.find().folder == wheel


def test_variable_is_the_only_place(tmp_path: Path) -> None:
    package = tmp_path / "a" / "b" / "c" / "forebay"
    place(package / "lib")
    given = tmp_path / "given"
    finder = LibraryFolders(environment={"FOREBAY_LIBDIR": str(given)}, package=package)
    with pytest.raises(SetupError, match=str(given)):
        finder.find()
    place(given)
    assert finder.find().folder == given


def test_file_that_is_no_library_is_complained_about(tmp_path: Path) -> None:
    folder = place(tmp_path / "lib")
    (folder / STUB_NAME).write_text("this is no library")
    finder = LibraryFolders(environment={"FOREBAY_LIBDIR": str(folder)})
    (complaint,) = finder.complaints(finder.find(), [])
    assert "cannot be preloaded" in complaint
