"""The setting pool_mount, in an imagined world: who is captured, and in which order things end."""

from collections.abc import Callable
from pathlib import Path

import pytest

from forebay.common.model.errors import (
    MountRefusedError,
    PoolError,
    UsageError,
)
from forebay.machine_ports import World
from forebay.pool.model.mounting import MountChoice
from forebay.pool.model.pool import PoolEnd
from forebay.pool.use_case.manage import StartRequest, start_pool
from forebay.pool.use_case.ports import PoolSession, Progress, Silent
from forebay.run.use_case.run_plan import RunRequest, plan_run
from forebay.run.use_case.run_program import carry_out
from forebay.settings.model.given import Override

MakeWorld = Callable[..., World]
NO_HELPER = "there is no fusermount3"
CAPTURE = "libforebay_posix.so"
OBSTACLE = "there is no libfuse"


def request(told: str) -> RunRequest:
    return RunRequest(command=("./a",), pool=(Path(),), overrides=(Override("pool_mount", told),))


@pytest.mark.parametrize("told", ["auto", "require"])
def test_behind_a_mount_nobody_is_captured(make_world: MakeWorld, told: str) -> None:
    world = make_world()
    plan = plan_run(request(told), world)
    assert CAPTURE not in plan.environment["LD_PRELOAD"]
    assert "FOREBAY_POOL_SOCKET" not in plan.environment
    carry_out(plan, world)
    log = world.pools.log  # type: ignore[attr-defined]
    assert log.index("start") < log.index("mount") < log.index("unmount") < log.index("finish")


def test_a_private_mount_is_entered_by_the_program(make_world: MakeWorld) -> None:
    world = make_world(pools={"no_mount": NO_HELPER})
    private = RunRequest(command=("./a",), pool=(Path(),), is_private=True)
    plan = plan_run(private, world)
    assert CAPTURE not in plan.environment["LD_PRELOAD"]
    carry_out(plan, world)
    assert "mount privately" in world.pools.log  # type: ignore[attr-defined]
    (words, _), *_ = world.processes.started  # type: ignore[attr-defined]
    assert words == ("enter", "./a")


def test_a_private_mount_is_required_and_needs_a_path(make_world: MakeWorld) -> None:
    world = make_world(pools={"no_mount": OBSTACLE})
    with pytest.raises(UsageError, match=OBSTACLE):
        plan_run(RunRequest(command=("./a",), pool=(Path(),), is_private=True), world)
    with pytest.raises(UsageError, match="--pool"):
        plan_run(RunRequest(command=("./a",), is_private=True), make_world())


def test_in_a_mount_programs_are_captured_if_that_is_asked_for(make_world: MakeWorld) -> None:
    world = make_world()
    asked = request("require")
    overrides = (*asked.overrides, Override("pool_mount_captured", "true"))
    plan = plan_run(RunRequest(command=asked.command, pool=asked.pool, overrides=overrides), world)
    assert CAPTURE in plan.environment["LD_PRELOAD"]
    assert "FOREBAY_POOL_PATHS" in plan.environment
    assert plan.pool is not None
    assert plan.pool.mounts == MountChoice(captures=True)


def test_without_the_setting_nothing_is_mounted(make_world: MakeWorld) -> None:
    world = make_world()
    plan = plan_run(request("never"), world)
    assert CAPTURE in plan.environment["LD_PRELOAD"]
    carry_out(plan, world)
    assert "mount" not in world.pools.log  # type: ignore[attr-defined]


def test_where_nothing_can_be_mounted_auto_captures_and_says_so(make_world: MakeWorld) -> None:
    plan = plan_run(request("auto"), make_world(pools={"no_mount": OBSTACLE}))
    assert CAPTURE in plan.environment["LD_PRELOAD"]
    assert any(OBSTACLE in warning for warning in plan.warnings)


def test_where_nothing_can_be_mounted_require_starts_nothing(make_world: MakeWorld) -> None:
    with pytest.raises(UsageError, match=OBSTACLE):
        plan_run(request("require"), make_world(pools={"no_mount": OBSTACLE}))


REFUSED = "cannot mount over /x (it has the sticky bit). Choose another."


def test_mounts_that_are_refused_at_the_start_are_done_without_by_auto(
    make_world: MakeWorld,
) -> None:
    world, noted = make_world(pools={"mount_refused": REFUSED}), Noted()
    report = carry_out(plan_run(request("auto"), world), world, progress=noted)
    assert report.status == 0
    assert [one.startswith(REFUSED) for one in noted.notes] == [True]
    assert noted.notes == list(report.told)
    assert report.warnings[-1:] == report.told
    ((_, environment),) = world.processes.started  # type: ignore[attr-defined]
    assert CAPTURE in environment["LD_PRELOAD"]
    assert environment["FOREBAY_POOL_PATHS"]
    log = world.pools.log  # type: ignore[attr-defined]
    assert log == ["room", "start", "finish", "start", "program started", "finish", "remove"]


def test_mounts_that_are_refused_at_the_start_start_nothing_by_require(
    make_world: MakeWorld,
) -> None:
    world = make_world(pools={"mount_refused": REFUSED})
    with pytest.raises(MountRefusedError, match="sticky bit"):
        carry_out(plan_run(request("require"), world), world)
    assert not world.processes.started  # type: ignore[attr-defined]


def test_a_pool_that_stays_does_without_refused_mounts_by_auto(make_world: MakeWorld) -> None:
    world = make_world(pools={"mount_refused": REFUSED})
    overrides = (Override("pool_mount", "auto"),)
    started = start_pool(StartRequest(paths=(Path(),), overrides=overrides), world)
    assert CAPTURE in started.variables["LD_PRELOAD"]
    assert "FOREBAY_POOL_PATHS" in started.variables
    assert [one.startswith(REFUSED) for one in started.warnings] == [True]


def test_several_nodes_are_not_mounted(make_world: MakeWorld) -> None:
    world = make_world(environment={"SLURM_NNODES": "3"})
    with pytest.raises(UsageError, match="several nodes"):
        plan_run(request("require"), world)


def test_a_pool_that_stays_is_mounted_and_tells_shells_to_enter(make_world: MakeWorld) -> None:
    world = make_world()
    overrides = (Override("pool_mount", "require"),)
    started = start_pool(StartRequest(paths=(Path(),), overrides=overrides), world)
    assert CAPTURE not in started.variables["LD_PRELOAD"]
    assert any("`cd .`" in warning for warning in started.warnings)
    assert "mount" in world.pools.log  # type: ignore[attr-defined]


def test_who_starts_a_pool_that_stays_is_told_whom_its_mount_refuses(make_world: MakeWorld) -> None:
    overrides = (Override("pool_mount", "require"),)
    start = StartRequest(paths=(Path(),), overrides=overrides)
    started = start_pool(start, make_world(pools={"limited": "root is refused"}))
    assert "root is refused" in started.warnings
    assert len(start_pool(start, make_world()).warnings) == len(started.warnings) - 1


def test_other_names_of_what_is_mounted_over_are_told(make_world: MakeWorld) -> None:
    plan = plan_run(request("require"), make_world(pools={"also": (Path("/other/name"),)}))
    assert any("is also /other/name" in warning for warning in plan.warnings)


class Noted(Silent):
    """Keeps the notes."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def test_a_mount_that_ended_early_is_told(make_world: MakeWorld) -> None:
    world, noted = make_world(pools={"complaints": ("it ended",)}), Noted()
    carry_out(plan_run(request("require"), world), world, progress=noted)
    assert noted.notes == ["it ended"]


class Stopping:
    """The session by which a daemon is stopped; it may have died before."""

    def __init__(self, log: list[str]) -> None:
        self.log = log

    def stop(self, progress: Progress) -> PoolEnd:
        self.log.append("stop")
        return PoolEnd(status=None, seconds=0.0)


@pytest.mark.parametrize("dead", [False, True])
@pytest.mark.parametrize("error", [MountRefusedError("cannot mount"), KeyboardInterrupt()])
def test_a_daemon_that_stays_ran_on_where_its_mount_was_interrupted(
    make_world: MakeWorld,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    dead: bool,
) -> None:
    world = make_world()
    log: list[str] = world.pools.log  # type: ignore[attr-defined]

    def fail(*_: object, **__: object) -> None:
        raise error

    def connect(_: Path) -> PoolSession:
        if "start" not in log or dead:
            raise PoolError("nobody listens")
        return Stopping(log)  # type: ignore[return-value]

    monkeypatch.setattr(world.pools, "mount_detached", fail)
    monkeypatch.setattr(world.pools, "connect", connect)
    overrides = (Override("pool_mount", "require"),)
    with pytest.raises(type(error)):
        start_pool(StartRequest(paths=(Path(),), overrides=overrides), world)
    assert ("stop" in log) is not dead
