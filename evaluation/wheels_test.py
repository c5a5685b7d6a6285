"""Tests the unpacking of wheels from a folder, with the real pip and without a network."""

from __future__ import annotations

import os
import subprocess
import zipfile
from pathlib import Path

import pytest

from evaluation.wheels import WheelError, unpacked

NAME = "forebay_imagined_mpi"
INFO = f"{NAME}-1.0.dist-info"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder where pip looks for wheels. Its wheel has a launcher, and a path with `..`."""
    with zipfile.ZipFile(tmp_path / f"{NAME}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{INFO}/METADATA", f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1.0\n")
        wheel.writestr(f"{INFO}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{INFO}/RECORD", "")
        launcher = zipfile.ZipInfo(f"{NAME}-1.0.data/data/bin/mpiexec")
        launcher.external_attr = 0o755 << 16
        wheel.writestr(launcher, "#!/bin/sh\n")
        wheel.writestr(f"{NAME}-1.0.data/data/../climbed", "")
        wheel.writestr(f"{NAME}/__init__.py", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    return tmp_path


def test_an_mpi_is_unpacked_once(folder: Path) -> None:
    cache = folder / "cache"
    tree = unpacked(f"{NAME}==1.0", cache)
    assert tree == cache / f"{NAME}-1.0"
    assert os.access(tree / "bin" / "mpiexec", os.X_OK)
    assert [path.name for path in tree.iterdir()] == ["bin"]
    assert [path.name for path in cache.iterdir()] == [tree.name]
    next(folder.glob("*.whl")).unlink()
    assert unpacked(f"{NAME}==1.0", cache) == tree


def test_wheels_of_one_mpi_make_one_tree_that_knows_where_it_is(folder: Path) -> None:
    with zipfile.ZipFile(folder / "forebay_wrappers-1.0-py3-none-any.whl", "w") as wheel:
        info = "forebay_wrappers-1.0"
        metadata = "Metadata-Version: 2.1\nName: forebay_wrappers\nVersion: 1.0\n"
        wheel.writestr(f"{info}.dist-info/METADATA", metadata)
        wheel.writestr(f"{info}.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}.dist-info/RECORD", "")
        wrapper = zipfile.ZipInfo(f"{info}.data/data/bin/mpicc")
        wrapper.external_attr = 0o755 << 16
        wheel.writestr(wrapper, "#!/bin/sh\necho I_MPI_SUBSTITUTE_INSTALLDIR/lib\n")
    tree = unpacked(f"{NAME}==1.0 forebay_wrappers==1.0", folder / "cache")
    assert tree == folder / "cache" / f"{NAME}-1.0"
    assert {path.name for path in (tree / "bin").iterdir()} == {"mpicc", "mpiexec"}
    said = subprocess.run([tree / "bin" / "mpicc"], capture_output=True, text=True, check=True)
    assert said.stdout == f"{tree}/lib\n"


def test_what_cannot_be_had_leaves_nothing(folder: Path) -> None:
    with pytest.raises(WheelError, match=r"(?s)cannot get none==1 .* Set PIP_FIND_LINKS"):
        unpacked("none==1", folder / "cache")
    assert list((folder / "cache").iterdir()) == []
