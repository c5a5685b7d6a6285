"""Use case: check a node for those who look after it. Each check yields findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from forebay.common.model.errors import LayoutError, SettingsError, SetupError
from forebay.common.model.units import human_bytes
from forebay.doctor.model.finding import (
    DoctorFinding,
    Topic,
    good_finding,
    note_finding,
    problem_finding,
)
from forebay.doctor.model.site import (
    HugePageFacts,
    LimitFacts,
    MountFacts,
    SiteFacts,
    networked,
)
from forebay.doctor.use_case.diagnose import layout_text
from forebay.machine_ports import World
from forebay.settings.model.table import EffectiveSetting
from forebay.settings.use_case import resolved_settings

SLURM_KEYS = (
    "SLURM_VERSION", "ProctrackType", "TaskPlugin", "JobAcctGatherType", "JobAcctGatherParams",
    "ConstrainRAMSpace", "KillWait", "MpiDefault", "PropagateResourceLimits", "PrologFlags",
    "SelectType",
)  # fmt: skip
"""The part of Slurm's configuration that matters, and that names nobody."""
_KERNEL_LEAST = (4, 18)
_MOUNT_KERNEL_LEAST = (6, 6)
_FILES_LEAST, _FILES_FEW = 64, 4096
_RAISE_FILES = f"Raise the hard limit to {_FILES_FEW} or more (limits.conf, LimitNOFILE of slurmd)."


class SiteProbe(Protocol):
    """Looks up facts about this node."""

    def facts(self) -> SiteFacts:
        """All facts."""


def site_findings(facts: SiteFacts, world: World) -> tuple[DoctorFinding, ...]:
    """The findings about this node that an administrator should know, topic by topic."""
    return (
        *_kernel(facts),
        *_mounting(facts),
        *_huge_pages(facts.huge_pages),
        *_limits(facts.limits),
        *_address_space(world),
        *_slurm(facts),
        *_file_systems(facts.mounts, world),
        *_settings(world),
    )


def _numbers(release: str) -> tuple[int, ...]:
    """6 and 1 of "6.1.0-18-amd64"."""
    parts = release.split("-")[0].split(".")[:2]
    return tuple(int(part) for part in parts if part.isdecimal())


def _kernel(facts: SiteFacts) -> Iterator[DoctorFinding]:
    about = ", ".join(filter(None, (facts.distribution, facts.libc, facts.architecture)))
    subject, detail = "Linux", f"{facts.kernel} ({about})"
    if _numbers(facts.kernel) < _KERNEL_LEAST:
        yield problem_finding(
            Topic.KERNEL,
            subject,
            f"{detail}: Forebay is made for 4.18 and newer",
            "Use a newer kernel on the nodes where jobs run.",
        )
    else:
        yield good_finding(Topic.KERNEL, subject, detail)
    if facts.memory_bytes is not None:
        yield good_finding(
            Topic.KERNEL,
            "memory",
            f"{human_bytes(facts.memory_bytes)}; a pool takes a tenth of it, or of the job's "
            "control group (16 GiB at most), where pool_cap is not set",
        )


def _mounting(facts: SiteFacts) -> Iterator[DoctorFinding]:
    """The needs of pool_mount. Nothing else has them, so nothing here is a problem."""
    if _numbers(facts.kernel) < _MOUNT_KERNEL_LEAST:
        yield note_finding(
            Topic.KERNEL, "pool_mount", "needs Linux 6.6 or newer; programs are captured here"
        )
    if facts.fuse_obstacle:
        yield note_finding(
            Topic.KERNEL,
            "FUSE",
            f"not usable ({facts.fuse_obstacle}): pool_mount does not work",
            "Load the module (modprobe fuse), and let users open /dev/fuse (mode 0666).",
        )
    else:
        yield good_finding(Topic.KERNEL, "FUSE", "/dev/fuse can be opened")
    if facts.fuse_helper is None:
        yield note_finding(
            Topic.KERNEL,
            "fusermount3",
            "not on PATH: users cannot mount, but in a private namespace",
            "Install it (package fuse3).",
        )
    elif not facts.fuse_helper_is_setuid:
        yield note_finding(
            Topic.KERNEL,
            "fusermount3",
            f"{facts.fuse_helper} is not set-user-ID root: users cannot mount by it",
            "Install it as its package does (mode 4755, owner root).",
        )
    else:
        yield good_finding(Topic.KERNEL, "fusermount3", str(facts.fuse_helper))
    if facts.user_namespace_obstacle:
        yield note_finding(
            Topic.KERNEL,
            "user namespaces",
            f"{facts.user_namespace_obstacle}: `forebay run --private` does not work",
            "See user.max_user_namespaces, kernel.unprivileged_userns_clone and "
            "kernel.apparmor_restrict_unprivileged_userns (sysctl).",
        )
    else:
        yield good_finding(Topic.KERNEL, "user namespaces", "can be made")


def _huge_pages(facts: HugePageFacts) -> Iterator[DoctorFinding]:
    said = (("for programs", facts.transparent), ("for shared memory", facts.shared_memory))
    known = ", ".join(f"{what}: {value}" for what, value in said if value)
    if known:
        yield good_finding(
            Topic.KERNEL, "transparent huge pages", f"{known} (Forebay asks for none)"
        )
    if facts.reserved_bytes:
        yield note_finding(
            Topic.KERNEL,
            "huge pages",
            f"{human_bytes(facts.reserved_bytes)} are reserved: the pool cannot use them, but they "
            "count in the memory of which it takes a tenth",
            "Lock pool_cap at a number in the site's settings.",
        )


def _shown(limit: int | None, *, is_bytes: bool) -> str:
    if limit is None:
        return "no limit"
    return human_bytes(limit) if is_bytes else str(limit)


def _limits(limits: Sequence[LimitFacts]) -> Iterator[DoctorFinding]:
    for one in limits:
        is_bytes = one.option in {"-l", "-v"}
        subject = f"{one.name} (ulimit {one.option})"
        soft, hard = (_shown(limit, is_bytes=is_bytes) for limit in (one.soft, one.hard))
        detail = soft if soft == hard else f"{soft}, at most {hard}"
        if one.option == "-n" and one.hard is not None and one.hard < _FILES_LEAST:
            yield problem_finding(
                Topic.LIMITS,
                subject,
                f"{detail}: no daemon of the pool starts",
                _RAISE_FILES,
            )
        elif one.option == "-n" and one.hard is not None and one.hard < _FILES_FEW:
            yield note_finding(
                Topic.LIMITS,
                subject,
                f"{detail}: seven eighths of it are files that can be in the pool at a time",
                _RAISE_FILES,
            )
        else:
            yield good_finding(Topic.LIMITS, subject, detail)


def _address_space(world: World) -> Iterator[DoctorFinding]:
    why = world.pools.obstacle()
    if why is not None:
        problem, _, remedy = why.rpartition("). ")
        yield problem_finding(Topic.LIMITS, "pool", f"{problem})", remedy)


def _slurm(facts: SiteFacts) -> Iterator[DoctorFinding]:
    if facts.slurm_obstacle:
        yield note_finding(Topic.SLURM, "scontrol", facts.slurm_obstacle)
    config = facts.slurm
    if config is None:
        return
    for key in SLURM_KEYS:
        if key in config:
            yield _slurm_finding(key, config)


def slurm_shown(facts: SiteFacts) -> Mapping[str, str] | None:
    """The part of Slurm's configuration that is shown."""
    if facts.slurm is None:
        return None
    return {key: facts.slurm[key] for key in SLURM_KEYS if key in facts.slurm}


def _slurm_finding(key: str, config: Mapping[str, str]) -> DoctorFinding:
    value = config[key]
    if key == "ProctrackType" and "cgroup" not in value:
        return note_finding(
            Topic.SLURM,
            key,
            f"{value}: a daemon that a killed script has started may stay behind",
            "Use proctrack/cgroup.",
        )
    if key == "ConstrainRAMSpace" and value.lower() != "yes":
        return note_finding(
            Topic.SLURM,
            key,
            f"{value}: jobs have no limit of memory, so a pool takes a tenth of the node's",
            "Set pool_cap in the site's settings where jobs share nodes.",
        )
    if key == "JobAcctGatherParams" and "OverMemoryKill" in value:
        return note_finding(
            Topic.SLURM,
            key,
            f"{value}: the pool's shared memory counts in each process that has touched it",
            "Add UsePss or NoShared, or let control groups limit memory (ConstrainRAMSpace=yes).",
        )
    if key == "KillWait":
        return good_finding(
            Topic.SLURM, key, f"{value}: so long a pool can drain when a job is cancelled"
        )
    return good_finding(Topic.SLURM, key, value)


def _file_systems(mounts: Sequence[MountFacts], world: World) -> Iterator[DoctorFinding]:
    """The parallel and networked ones, each device once."""
    for mount in networked(mounts):
        subject = str(mount.point)
        where = f"{mount.file_system} ({mount.device})"
        try:
            layout = world.layouts.show(mount.point)
        except SetupError:
            return  # the diagnosis reports that the native programs are missing
        except LayoutError as error:
            yield note_finding(Topic.FILE_SYSTEMS, subject, f"{where}: {error}")
        else:
            yield good_finding(Topic.FILE_SYSTEMS, subject, f"{where}; {layout_text(layout)}")


def settings_of(world: World) -> Sequence[EffectiveSetting]:
    """All settings with their values here. Raises SettingsError."""
    return resolved_settings(world.settings, file=None, environment=world.environment).values


def _settings(world: World) -> Iterator[DoctorFinding]:
    try:
        site = world.settings.site(world.environment)
        found = resolved_settings(world.settings, file=None, environment=world.environment)
    except SettingsError as error:
        problem, ends, remedy = str(error).rpartition("). ")
        detail = f"{problem})" if ends else str(error)
        yield problem_finding(Topic.SITE, "settings", detail, remedy if ends else "Correct it.")
        return
    if site is None:
        yield note_finding(
            Topic.SITE, "settings", "no file of the site: all have the defaults (docs/site.md)"
        )
    else:
        locked = [one.setting.name for one in found.values if one.lock]
        told = f"; locked: {', '.join(locked)}" if locked else "; nothing is locked"
        given = ", ".join(one.name for one in site.values) or "none"
        yield good_finding(Topic.SITE, str(site.path), f"sets {given}{told}")
    for warning in found.warnings:
        yield note_finding(Topic.SITE, "settings", warning)
