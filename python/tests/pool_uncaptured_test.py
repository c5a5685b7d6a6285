"""A pool under a program that LD_PRELOAD does not bring the capture into."""

from collections.abc import Callable
from pathlib import Path

from forebay.common.model.program import Linkage, ProgramFacts
from forebay.machine_ports import World
from forebay.run.use_case.run_plan import RunRequest, plan_run

MakeWorld = Callable[..., World]


def test_children_of_a_program_that_is_not_captured_write_through(make_world: MakeWorld) -> None:
    """It would not see what they have in the pool."""
    given = RunRequest(command=("./static",), pool=(Path(),))
    plan = plan_run(given, make_world())
    assert plan.environment["FOREBAY_POOL_DURABILITY"] == "global"
    assert any("goes to the file system at once" in one for one in plan.warnings)
    captured = RunRequest(command=("./program",), pool=(Path(),))
    assert "FOREBAY_POOL_DURABILITY" not in plan_run(captured, make_world()).environment


def test_a_program_of_another_libc_is_started_without_the_library_for_glibc(
    make_world: MakeWorld,
) -> None:
    facts = ProgramFacts(path=Path("./m"), linkage=Linkage.DYNAMIC, is_of_other_libc=True)
    world = make_world(programs={"programs": {"./m": facts}})
    plan = plan_run(RunRequest(command=("./m",), pool=(Path(),)), world)
    assert "posix" not in plan.environment["LD_PRELOAD"]
    assert plan.environment["FOREBAY_POOL_DURABILITY"] == "global"
