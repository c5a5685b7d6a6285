"""Mounts, and this machine."""

from pathlib import Path

import pytest

from forebay.common.files.launchers import PathLaunchers
from forebay.common.files.machine import LocalMachine, mount_of, other_names
from forebay.common.model.errors import UsageError
from forebay.common.model.known_launchers import Flavour

MOUNTINFO = r"""22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:26 / /scratch rw shared:7 - lustre 10.0.0.1@tcp:/fs rw
31 30 0:27 / /scratch/ceph rw - ceph 10.0.0.2:/ rw
32 22 0:28 / /with\040blank rw shared:8 master:1 - tmpfs tmpfs rw
33 22 0:29 / /over rw - autofs auto rw
34 22 0:30 / /over rw - nfs4 server:/over rw
damaged line
"""


@pytest.mark.parametrize(
    ("path", "file_system"),
    [
        ("/", "ext4"),
        ("/scratch", "lustre"),
        ("/scratch/me/run", "lustre"),
        ("/scratchy", "ext4"),
        ("/scratch/ceph/a", "ceph"),
        ("/with blank/a", "tmpfs"),
        ("/over/a", "nfs4"),
    ],
)
def test_mount_of_a_path(path: str, file_system: str) -> None:
    assert mount_of(Path(path), MOUNTINFO).file_system == file_system


TWICE = r"""22 1 254:0 / / rw - ext4 /dev/vda rw
30 22 0:26 / /scratch rw - lustre 10.0.0.1@tcp:/fs rw
31 22 0:26 /me /home/me/scratch rw - lustre 10.0.0.1@tcp:/fs rw
32 22 0:26 /me/run/out /out rw - lustre 10.0.0.1@tcp:/fs rw
33 22 0:26 /other /other rw - lustre 10.0.0.1@tcp:/fs rw
34 22 0:26 / /hidden rw - lustre 10.0.0.1@tcp:/fs rw
35 22 0:27 / /hidden rw - tmpfs tmpfs rw
36 30 0:26 /me/run/in /scratch/me/run/also rw - lustre 10.0.0.1@tcp:/fs rw
"""


def test_other_names_of_a_path() -> None:
    found = set(other_names(Path("/scratch/me/run"), TWICE))
    assert found == {Path("/home/me/scratch/run"), Path("/out")}
    assert list(other_names(Path("/home/me"), TWICE)) == []


def test_this_machine(tmp_path: Path) -> None:
    facts = LocalMachine().directory(tmp_path)
    assert facts.is_writable
    assert facts.file_system != "unknown"
    assert LocalMachine().facts().cores >= 1
    with pytest.raises(UsageError, match="No such file"):
        LocalMachine().directory(tmp_path / "none")


def test_a_folder_of_path_that_may_not_be_entered_has_no_launchers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`forebay doctor` ended in a traceback where PATH had a folder below another user's home."""
    closed = tmp_path / "closed"
    (tmp_path / "mpiexec").write_text("#!/bin/sh\n")
    (tmp_path / "mpiexec").chmod(0o755)
    real = Path.is_dir

    def refused(path: Path) -> bool:
        if path == closed:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(Path, "is_dir", refused)
    monkeypatch.setenv("PATH", f"{closed}:{tmp_path}")
    assert [one.path.name for one in PathLaunchers().installed()] == ["mpiexec"]


def named(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def test_launchers_are_told_apart_by_name_or_by_what_they_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PALS' mpiexec was taken for one that is not known; ibrun must not be started to be asked."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    help_text = "Parallel Application Launch Service"
    named(tmp_path, "mpiexec", f'[ "$1" = --help ] && echo "{help_text}"')
    named(tmp_path, "mpirun", "echo HYDRA build details")
    named(tmp_path, "prun", 'echo "prun (PRRTE) 3.0.2"')
    named(tmp_path, "ibrun", f"touch {tmp_path}/asked")
    named(tmp_path, "flux", f"touch {tmp_path}/asked")
    found = {name: PathLaunchers().inspect(name) for name in "mpiexec mpirun prun ibrun".split()}
    flavours = {name: facts.flavour for name, facts in found.items() if facts}
    assert flavours == {
        "mpiexec": Flavour.PALS,
        "mpirun": Flavour.HYDRA,
        "prun": Flavour.PRUN,
        "ibrun": Flavour.IBRUN,
    }
    monkeypatch.setenv("PATH", str(tmp_path))
    names = {one.path.name for one in PathLaunchers().installed()}
    assert names == {"mpiexec", "mpirun", "ibrun", "flux"}
    assert not (tmp_path / "asked").exists()
    named(tmp_path, "prun", "echo the wrapper of OpenHPC")
    assert (facts := PathLaunchers().inspect("prun"))
    assert facts.flavour is Flavour.OTHER
