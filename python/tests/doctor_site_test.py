"""`forebay doctor --site`: what it finds of a node, and a bundle without private names."""

import json
import socket
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from forebay.doctor.files.bundle_file import write_bundle
from forebay.doctor.files.site_facts import LocalSite
from forebay.doctor.model.finding import DoctorFinding, Status, Topic
from forebay.doctor.model.private_names import PrivateNames, servers_of
from forebay.doctor.model.site import (
    HugePageFacts,
    LimitFacts,
    MountFacts,
    SiteFacts,
    slurm_config,
)
from forebay.doctor.report.site_table import site_lines
from forebay.doctor.use_case.bundle import Person, bundle_of
from forebay.doctor.use_case.site import settings_of, site_findings
from forebay.machine_ports import World
from forebay.settings.files.toml_settings import read_site_file

MakeWorld = Callable[..., World]
RESERVED = HugePageFacts(transparent="", shared_memory="", reserved_bytes=8 << 30)
SCONTROL = """\
Configuration data as of 2026-11-27T10:00:00
AccountingStorageHost   = db.site.example
JobAcctGatherParams     = OverMemoryKill
KillWait                = 30 sec
ProctrackType           = proctrack/linuxproc
SlurmctldHost[0]        = head1
SLURM_VERSION           = 22.05.8
TaskPlugin              = task/affinity

Cgroup Support Configuration:
ConstrainRAMSpace       = no
"""


def facts(**changes: Any) -> SiteFacts:
    usual: dict[str, Any] = {
        "kernel": "6.6.1-18-amd64", "distribution": "Debian 12", "libc": "glibc 2.36",
        "architecture": "x86_64", "memory_bytes": 64 << 30, "fuse_obstacle": None,
        "fuse_helper": Path("/usr/bin/fusermount3"), "fuse_helper_is_setuid": True,
        "user_namespace_obstacle": None,
        "huge_pages": HugePageFacts(transparent="madvise", shared_memory="never", reserved_bytes=0),
        "limits": (LimitFacts(name="open files", option="-n", soft=1024, hard=65536),),
        "slurm": None, "slurm_obstacle": None, "mounts": (),
    }  # fmt: skip
    return SiteFacts(**{**usual, **changes})


def of(findings: tuple[DoctorFinding, ...], subject: str) -> DoctorFinding:
    found = [one for one in findings if one.subject == subject]
    assert len(found) == 1, findings
    return found[0]


def test_where_all_is_well_nothing_is_noted_but_that_the_site_has_no_settings(
    make_world: MakeWorld,
) -> None:
    findings = site_findings(facts(), make_world())
    assert [one.topic for one in findings if one.status is not Status.GOOD] == [Topic.SITE]


@pytest.mark.parametrize(
    ("changes", "subject", "word"),
    [
        ({"kernel": "4.12.14-122"}, "Linux", "4.18"),
        ({"kernel": "5.14.0-362.el9"}, "pool_mount", "6.6"),
        ({"fuse_obstacle": "/dev/fuse: No such file"}, "FUSE", "/dev/fuse: No such file"),
        ({"fuse_helper": None}, "fusermount3", "not on PATH"),
        ({"fuse_helper_is_setuid": False}, "fusermount3", "set-user-ID"),
        ({"user_namespace_obstacle": "unshare failed"}, "user namespaces", "--private"),
        ({"huge_pages": RESERVED}, "huge pages", "8.00 GiB"),
        ({"slurm_obstacle": "no controller"}, "scontrol", "no controller"),
    ],
)
def test_what_does_not_work_is_said(
    changes: Mapping[str, Any], subject: str, word: str, make_world: MakeWorld
) -> None:
    finding = of(site_findings(facts(**changes), make_world()), subject)
    assert finding.status is not Status.GOOD
    assert word in finding.detail


@pytest.mark.parametrize(
    ("hard", "status"), [(None, Status.GOOD), (1024, Status.NOTE), (32, Status.PROBLEM)]
)
def test_a_limit_of_open_files_bounds_the_pool(
    hard: int | None, status: Status, make_world: MakeWorld
) -> None:
    limit = LimitFacts(name="open files", option="-n", soft=hard, hard=hard)
    finding = of(site_findings(facts(limits=(limit,)), make_world()), "open files (ulimit -n)")
    assert finding.status is status
    assert bool(finding.remedy) is (status is not Status.GOOD)


def test_limits_that_forbid_a_pool_are_a_problem(make_world: MakeWorld) -> None:
    world = make_world(pools={"limit": "No pool can be used here (by `ulimit -v`). Raise it."})
    finding = of(site_findings(facts(), world), "pool")
    assert (finding.status, finding.remedy) == (Status.PROBLEM, "Raise it.")


def test_slurms_settings_are_judged(make_world: MakeWorld) -> None:
    findings = site_findings(facts(slurm=slurm_config(SCONTROL)), make_world())
    slurm = {one.subject: one for one in findings if one.topic is Topic.SLURM}
    notes = {name for name, one in slurm.items() if one.status is Status.NOTE}
    assert notes == {"JobAcctGatherParams", "ProctrackType", "ConstrainRAMSpace"}
    assert "30 sec" in slurm["KillWait"].detail
    assert "SlurmctldHost[0]" not in slurm
    assert "AccountingStorageHost" not in slurm


def test_file_systems_with_layouts_are_shown(make_world: MakeWorld) -> None:
    mounts = (
        MountFacts(point=Path("/"), file_system="ext4", device="/dev/vda"),
        MountFacts(point=Path("/scratch"), file_system="lustre", device="10.0.0.1@tcp:/fs"),
        MountFacts(point=Path("/alias"), file_system="nfs4", device="server:/home"),
    )
    known = {"file_system": "lustre", "origin": "directory", "targets": 4, "stripe_bytes": 1 << 20}
    world = make_world(layouts={"facts": known})
    findings = site_findings(facts(mounts=mounts), world)
    shown = {one.subject: one.detail for one in findings if one.topic is Topic.FILE_SYSTEMS}
    assert set(shown) == {"/scratch", "/alias"}
    assert "4 targets" in shown["/scratch"]


def test_the_sites_settings_are_shown_with_their_mistakes(
    tmp_path: Path, make_world: MakeWorld
) -> None:
    path = tmp_path / "site.toml"
    path.write_text('pool_cap = "1 GiB"\nlocked = ["record"]\n')
    world = make_world(settings={"own": read_site_file(path)})
    assert "sets pool_cap; locked: record" in of(site_findings(facts(), world), str(path)).detail
    path.write_text('pool_cap = "much"\n')
    world = make_world(settings={"own": read_site_file(path)})
    finding = of(site_findings(facts(), world), "settings")
    assert finding.status is Status.PROBLEM
    assert f"{path}:1" in finding.detail


def test_the_table_has_all_findings_and_what_to_do() -> None:
    finding = DoctorFinding(
        topic=Topic.KERNEL, status=Status.PROBLEM, subject="Li\nnux", detail="old", remedy="Mend."
    )
    lines = list(site_lines((finding,)))
    assert lines[0] == "Kernel"
    assert lines[2].split() == ["!!", "Li\\nnux", "old"]
    assert lines[3].strip() == "→ Mend."
    assert lines[-1] == "1 to repair (marked !!)."


def test_this_node_has_facts() -> None:
    found = LocalSite().facts()
    assert found.kernel
    assert found.memory_bytes
    assert {one.option for one in found.limits} == {"-n", "-l", "-v", "-u"}
    assert any(one.point == Path("/") for one in found.mounts)


# --- the bundle

USER, HOST, OTHER, SERVER = "alice", "login7", "bob", "nfs3"
PRIVATE = (USER, HOST, OTHER, SERVER, "secret", "climate", "site.example", "10.9.8.7", "head1")
RECORD = (
    {
        "kind": "job", "host": "node0815", "nodes": 2,
        "command": ["/home/alice/climate/model", "--in=/data/secret.nml", "-n", "4", "alice.nml"],
    },
    {"kind": "file", "path": "/scratch/bob/my secret/out.nc", "warnings": ["see /home/bob/x y"]},
    {"kind": "run", "command": "mpiexec /scratch/climate/prog secret.in", "seconds": 1.5},
)  # fmt: skip


class ImaginedSource:
    """A bundle of alice's on login7."""

    def person(self) -> Person:
        return Person(users=(USER, "Alice Secret"), hosts=(f"{HOST}.site.example",))

    def last_lines(self, path: str, count: int) -> Any:
        return RECORD


def bundle(make_world: MakeWorld, **more: Any) -> Mapping[str, Any]:
    environment = {
        "FOREBAY_RECORD": f"/home/{USER}/run.jsonl",
        "FOREBAY_POOL_STARTER": "ssh,head1,-x",
        "SLURM_SUBMIT_HOST": "head1",
        "FOREBAY_POOL_PATHS": f"/scratch/{OTHER},/scratch/climate",
    }
    world = make_world(environment=environment)
    document = {
        "findings": [
            {
                "subject": "/home/alice/bin/mpiexec",
                "detail": f"tried in /scratch/{USER}/w; on {HOST}",
            },
            {
                "subject": "/usr/bin/srun",
                "detail": f"{SERVER}.site.example:/export/{OTHER} 10.9.8.7",
            },
        ],
        "count": 2,
    }
    mounts = (
        MountFacts(
            point=Path("/home"), file_system="nfs4", device=f"{SERVER}.site.example:/export/climate"
        ),
    )
    return bundle_of(document, facts(mounts=mounts), settings_of(world), ImaginedSource(), world)


def texts_of(archive: tarfile.TarFile) -> Mapping[str, str]:
    """The members of an archive by name."""
    files = {one.name: archive.extractfile(one) for one in archive.getmembers()}
    return {name: file.read().decode() for name, file in files.items() if file is not None}


def test_a_bundle_has_no_private_names(tmp_path: Path, make_world: MakeWorld) -> None:
    path = tmp_path / "report.tar.gz"
    write_bundle(path, bundle(make_world))
    with tarfile.open(path) as archive:
        members = archive.getmembers()
        texts = texts_of(archive)
    assert {one.removeprefix("forebay-site/") for one in texts} == {
        "README.txt", "versions.json", "doctor.json", "settings.json", "records.jsonl",
    }  # fmt: skip
    assert {(one.uid, one.gid, one.uname, one.gname) for one in members} == {(0, 0, "", "")}
    for name, text in texts.items():
        for word in (*PRIVATE, "node0815", "Alice"):
            assert word not in text, (name, word, text)
    assert path.stat().st_mode & 0o077 == 0


def test_a_bundle_says_what_matters(make_world: MakeWorld) -> None:
    files = bundle(make_world)
    assert files["versions.json"]["kernel"] == "6.6.1-18-amd64"
    assert files["doctor.json"]["findings"][1]["subject"] == "/usr/bin/srun"
    assert files["doctor.json"]["count"] == 2
    settings = {one["name"]: one for one in files["settings.json"]}
    assert settings["record"]["origin"] == "environment"
    assert settings["pool_starter"]["value"].startswith("ssh,")
    assert settings["pool_age"]["value"] == "30"
    job, file, run = files["records.jsonl"]
    assert job["command"][0] == "model"
    assert job["command"][2:4] == ["-n", "4"]
    assert file["path"].startswith("/scratch/")
    assert file["path"].endswith(".nc")
    assert run["seconds"] == 1.5


def test_a_name_has_the_same_replacement_everywhere() -> None:
    names = PrivateNames(users=["eve"], hosts=["n1.example"])
    assert names.cleaned("/data/eve/run") == names.cleaned("/data/eve/run")
    user = names.text("eve")
    assert names.text("n1 and n12, eve_2") == f"{names.text('n1')} and n12, {user}_2"
    assert names.text("/usr/lib/x") == "/usr/lib/x"
    assert names.text("root@example.org") == "mail"


@pytest.mark.parametrize(
    ("device", "servers"),
    [
        ("server:/home", ["server"]),
        ("10.0.0.1@o2ib,mds2@o2ib:/fs", ["10.0.0.1", "mds2"]),
        ("mon1:6789,mon2:6789:/", ["mon1", "mon2"]),
        ("/dev/vda", []),
    ],
)
def test_servers_of_file_systems_are_hosts(device: str, servers: list[str]) -> None:
    assert list(servers_of(device)) == servers


def test_the_command_prints_json_and_writes_a_bundle(tmp_path: Path, forebay: Any) -> None:
    home = tmp_path / "quimby"
    home.mkdir()
    record = tmp_path / "quimby-run.jsonl"
    record.write_text(
        json.dumps({"kind": "run", "host": "dromedary", "command": "quimby"}) + "\nno\n"
    )
    line = ("doctor", "--site", "--format", "json", "--bundle", "b.tar.gz", "quimby")
    told = {"HOME": str(home), "USER": "quimby", "FOREBAY_RECORD": str(record)}
    done = forebay(*line, folder=tmp_path, PATH="/usr/bin:/bin", **told)
    assert done.returncode in (0, 1), done.stderr
    document = json.loads(done.stdout)
    assert document["site"]["kernel"]
    assert "Kernel" in {one["topic"] for one in document["findings"]}
    with tarfile.open(tmp_path / "b.tar.gz") as archive:
        for member, text in texts_of(archive).items():
            for name in ("quimby", "dromedary", socket.gethostname()):
                assert name not in text, (member, text)


def test_a_bundle_without_site_is_refused(tmp_path: Path, forebay: Any) -> None:
    done = forebay("doctor", "--bundle", "b.tar.gz", folder=tmp_path)
    assert done.returncode == 2
    assert "Say --site --bundle FILE" in done.stderr
    assert not list(tmp_path.iterdir())
