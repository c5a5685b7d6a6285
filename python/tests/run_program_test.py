"""The use case of `run` in an imagined world."""

from collections.abc import Callable
from pathlib import Path

import pytest

from forebay.common.files.record_file import read_record
from forebay.common.model.errors import SettingsError, SetupError, UsageError
from forebay.common.model.record import Record
from forebay.machine_ports import World
from forebay.run.use_case.run_plan import RunRequest, plan_run
from forebay.run.use_case.run_program import carry_out
from forebay.settings.model.given import Override

MakeWorld = Callable[..., World]
STUB = "/opt/forebay/libforebay_mpi.so"


def request(line: str, **more: object) -> RunRequest:
    return RunRequest(command=tuple(line.split()), **more)  # type: ignore[arg-type]


def test_environment_has_library_settings_and_record(make_world: MakeWorld, tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text("cb_nodes = 2\n")
    world = make_world(environment={"LD_PRELOAD": "/u.so", "FOREBAY_VERBOSE": "1", "HOME": "/h"})
    plan = plan_run(
        request(
            "mpiexec -n 4 ./program",
            settings_file=Path("site.toml"),
            overrides=(Override("cb_buffer_size", "8m"),),
        ),
        world,
    )
    assert plan.words == ("mpiexec", "-n", "4", "./program")
    assert plan.environment == {
        "LD_PRELOAD": f"{STUB}:/u.so",
        "HOME": "/h",
        "FOREBAY_VERBOSE": "1",
        "FOREBAY_SETTINGS": str(tmp_path / "site.toml"),
        "FOREBAY_CB_BUFFER_SIZE": "8m",
        "FOREBAY_RECORD": "/tmp/forebay-run-x/record",
        "ASAN_OPTIONS": "verify_asan_link_order=0",
    }
    assert plan.warnings == ()


def test_a_hint_reaches_the_ranks_by_its_settings_variable(make_world: MakeWorld) -> None:
    hint = Override("romio_cb_write", "enable")
    plan = plan_run(request("./program", overrides=(hint,)), make_world())
    assert plan.environment["FOREBAY_COLLECTIVE_WRITE"] == "enable"
    assert "FOREBAY_ROMIO_CB_WRITE" not in plan.environment


def test_open_mpi_is_told_every_variable(make_world: MakeWorld) -> None:
    world = make_world(environment={"FOREBAY_CB_NODES": "2"})
    plan = plan_run(request("mpirun -n 4 ./job.sh"), world)
    assert plan.words == (
        "mpirun", "-x", "LD_PRELOAD", "-x", "FOREBAY_CB_NODES", "-x", "FOREBAY_RECORD",
        "-n", "4", "./job.sh",
    )  # fmt: skip


def test_slurm_export_variable_is_widened(make_world: MakeWorld) -> None:
    world = make_world(environment={"SLURM_EXPORT_ENV": "HOME"})
    plan = plan_run(request("srun ./program"), world)
    assert plan.environment["SLURM_EXPORT_ENV"] == "HOME,LD_PRELOAD,FOREBAY_RECORD"


def test_record_that_the_user_wants_is_kept(make_world: MakeWorld, tmp_path: Path) -> None:
    world = make_world()
    plan = plan_run(request("./program", record=Path("r.jsonl")), world)
    assert plan.record == tmp_path / "r.jsonl"
    carry_out(plan, world)
    assert world.records.removed == []  # type: ignore[attr-defined]
    for setting in (Override("record", "s.jsonl"),):
        plan = plan_run(request("./program", overrides=(setting,)), world)
        assert plan.record == tmp_path / "s.jsonl"
        assert plan.environment["FOREBAY_RECORD"] == str(tmp_path / "s.jsonl")
    with pytest.raises(UsageError, match="no folder"):
        plan_run(request("./program", record=Path("none/r.jsonl")), world)


def test_temporary_record_is_where_nodes_of_a_job_see_it(make_world: MakeWorld) -> None:
    world = make_world(environment={"SLURM_JOB_ID": "7"})
    plan = plan_run(request("srun ./program"), world)
    carry_out(plan, world)
    assert world.records.asked_shared == [True]  # type: ignore[attr-defined]
    assert world.records.removed == [plan.record]  # type: ignore[attr-defined]


def test_mistakes_start_nothing(make_world: MakeWorld) -> None:
    with pytest.raises(SettingsError, match=r'--set cb_node=1: .*"cb_nodes"'):
        plan_run(request("./program", overrides=(Override("cb_node", "1"),)), make_world())
    with pytest.raises(SetupError):
        plan_run(request("./program"), make_world(libraries={"missing": True}))
    with pytest.raises(UsageError):
        plan_run(request(""), make_world())


def test_a_plan_that_fails_leaves_no_temporary_folder(make_world: MakeWorld) -> None:
    world = make_world(libraries={"missing": True})
    with pytest.raises(SetupError):
        plan_run(request("./program"), world)
    assert world.records.asked_shared == []  # type: ignore[attr-defined]


def test_warnings_before_the_start(make_world: MakeWorld) -> None:
    plan = plan_run(request("mpiexec -n 2 ./static"), make_world())
    assert "statically linked" in plan.warnings[0]
    plan = plan_run(request("mpirun -n 2 ./program"), make_world())
    assert "many jobs of one rank" in plan.warnings[0]
    plan = plan_run(request("./program"), make_world(environment={"FOREBAY_CB_NODE": "1"}))
    assert "Did you mean FOREBAY_CB_NODES?" in plan.warnings[0]


def test_status_and_files_of_the_run(make_world: MakeWorld, root: Path) -> None:
    record = read_record(root / "schema" / "examples" / "record-1.jsonl")
    world = make_world(processes={"status": 3}, records={"record": record})
    report = carry_out(plan_run(request("mpiexec ./program"), world), world)
    assert report.status == 3
    assert [file.path for file in report.files] == ["/scratch/ocean.nc"]
    assert report.reasons == ()


def reasons(world: World, line: str, *overrides: Override) -> str:
    report = carry_out(plan_run(request(line, overrides=overrides), world), world)
    assert report.reasons
    return "\n".join(report.reasons)


def test_reasons_for_an_empty_record(make_world: MakeWorld) -> None:
    assert "switched off" in reasons(make_world(), "./program", Override("enabled", "no"))
    static = reasons(make_world(), "mpiexec ./static")
    assert "statically linked" in static
    assert "opened no file" not in static
    failed = reasons(make_world(processes={"status": 139}), "mpiexec ./program")
    assert "SIGSEGV" in failed
    assert "MPI_Abort" in failed
    not_started = reasons(make_world(processes={"status": 255}), "mpiexec ./nonesuch")
    assert "failed (status 255)" in not_started
    script = reasons(make_world(), "./job.sh")
    assert "is a script" in script
    assert "LD_PRELOAD or FOREBAY_* did not reach" in script
    assert "another node" not in reasons(make_world(), "mpiexec ./program")
    assert "another node" in reasons(make_world(), "mpiexec -hosts a,b ./program")


def test_a_serial_program_is_pointed_to_the_pool_and_nothing_else(make_world: MakeWorld) -> None:
    serial = reasons(make_world(), "./serial")
    assert "--pool FOLDER" in serial
    assert "linked to no MPI" in serial
    assert "did not reach" not in serial
    assert "--pool FOLDER" in reasons(make_world(), "mpiexec -n 2 ./program")


@pytest.mark.parametrize(
    "variables",
    [
        {"PMI_SIZE": "4", "PMI_RANK": "0"},
        {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "0"},
        {"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0"},
        {"FLUX_JOB_SIZE": "4", "FLUX_TASK_RANK": "0"},
        {"JSM_NAMESPACE_SIZE": "4", "JSM_NAMESPACE_RANK": "0"},
    ],
)
def test_behind_a_launcher_the_right_order_is_said_first(
    make_world: MakeWorld, tmp_path: Path, variables: dict[str, str]
) -> None:
    world = make_world(environment=variables)
    asked = request("./program 1", pool=(tmp_path,), overrides=(Override("pool_cap", "32"),))
    plan = plan_run(asked, world)
    assert "forebay run --pool PATH -- mpiexec -n 4 ./program 1" in plan.warnings[0]
    assert plan.pool is None
    assert carry_out(plan, world).reasons == (plan.warnings[0],)
    other = {name: "1" if name.endswith(("RANK", "PROCID")) else "4" for name in variables}
    assert not plan_run(request("./program"), make_world(environment=other)).warnings
    alone = {name: "1" if value == "4" else value for name, value in variables.items()}
    assert not plan_run(request("./program"), make_world(environment=alone)).warnings


@pytest.mark.parametrize("variable", ["PALS_RANKID", "ALPS_APP_PE"])
def test_behind_a_launcher_that_does_not_say_how_many_ranks_there_are(
    make_world: MakeWorld, tmp_path: Path, variable: str
) -> None:
    asked = request("./program 1", pool=(tmp_path,))
    first = plan_run(asked, make_world(environment={variable: "0"}))
    assert "was started in each rank, by a launcher" in first.warnings[0]
    assert "forebay run --pool PATH -- mpiexec -n RANKS ./program 1" in first.warnings[0]
    assert first.pool is None
    other = plan_run(asked, make_world(environment={variable: "1"}))
    assert (other.pool, other.warnings) == (None, ())
    alone = {variable: "0", "PMI_SIZE": "1", "PMI_RANK": "0"}
    assert plan_run(asked, make_world(environment=alone)).pool is not None


def test_a_run_inside_of_a_pool_uses_that(make_world: MakeWorld, tmp_path: Path) -> None:
    """A second daemon for the same files does not know what the first one holds."""
    outer = {"FOREBAY_POOL_SOCKET": "/run/x/pool", "FOREBAY_POOL_PATHS": str(tmp_path)}
    (tmp_path / "below").mkdir()
    world = make_world(environment=outer, pools={"listens": True})
    plan = plan_run(request("./program", pool=(tmp_path / "below",)), world)
    assert plan.pool is None
    assert "This run is inside of a pool that is there already (process 77" in plan.warnings[0]
    assert carry_out(plan, world).reasons == (plan.warnings[0],)
    assert plan_run(request("./program", pool=(tmp_path.parent,)), world).pool is not None
    gone = make_world(environment=outer)
    assert plan_run(request("./program", pool=(tmp_path,)), gone).pool is not None
    (reason,) = carry_out(plan_run(request("./program"), gone), gone).reasons
    assert f"Files below {tmp_path} go through a pool" in reason


def test_a_size_without_a_unit_is_warned_of(make_world: MakeWorld) -> None:
    plan = plan_run(request("./program", overrides=(Override("pool_cap", "32"),)), make_world())
    assert "pool_cap is 32 bytes" in plan.warnings[0]
    assert "pool_cap=32GiB" in plan.warnings[0]
    for fine in ("32GiB", "0", "8388608"):
        asked = request("./program", overrides=(Override("pool_cap", fine),))
        assert plan_run(asked, make_world()).warnings == ()


def test_damaged_record_is_told(make_world: MakeWorld) -> None:
    world = make_world(records={"record": Record(damaged_lines=(3,))})
    report = carry_out(plan_run(request("./program"), world), world)
    assert "line 3" in report.warnings[0]


def test_limits_that_leave_a_pool_no_room_are_the_reason(
    make_world: MakeWorld, tmp_path: Path
) -> None:
    """It was said that the program is statically linked."""
    world = make_world(pools={"limit": "No pool can be used here (`ulimit -v`)."})
    plan = plan_run(request("./program", pool=(tmp_path,)), world)
    assert plan.pool is None
    assert plan.warnings == ("No pool can be used here (`ulimit -v`).",)
    assert carry_out(plan, world).reasons == plan.warnings
    assert plan_run(request("./program"), world).warnings == ()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("detect_leaks=0", "detect_leaks=0:verify_asan_link_order=0"),
        ("verify_asan_link_order=1", "verify_asan_link_order=1"),
    ],
)
def test_address_sanitizer_need_not_be_loaded_first(
    make_world: MakeWorld, given: str, expected: str
) -> None:
    world = make_world(environment={"ASAN_OPTIONS": given})
    assert plan_run(request("./program"), world).environment["ASAN_OPTIONS"] == expected


def test_without_settings_the_table_is_not_read_and_all_have_their_defaults(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = request("./program", pool=(Path(),))
    defaults = [
        Override(one.name, one.default)
        for one in make_world().settings.table().settings
        if one.name in {"enabled", "record", "pool_nodes", "pool_starter", "pool_mount"}
    ]
    given = plan_run(request("./program", pool=(Path(),), overrides=tuple(defaults)), make_world())

    def read(_: object) -> None:
        raise AssertionError("the table of settings was read")

    world = make_world(environment={"FOREBAY_LIBDIR": "/l", "FOREBAY_ROOT": "/r", "HOME": "/h"})
    monkeypatch.setattr(type(world.settings), "table", read)
    plan = plan_run(asked, world)
    assert (plan.is_enabled, plan.pool, plan.record, plan.record_is_kept, plan.warnings) == (
        given.is_enabled, given.pool, given.record, given.record_is_kept, given.warnings,
    )  # fmt: skip
    assert plan.is_enabled
    assert plan.pool is not None


@pytest.mark.parametrize("name", ["FOREBAY_ENABLED", "FOREBAY_SETTINGS", "FOREBAY_ENABELD"])
def test_any_variable_that_may_set_something_has_the_table_read(
    make_world: MakeWorld, tmp_path: Path, name: str
) -> None:
    (tmp_path / "no").write_text("enabled = false\n")
    plan = plan_run(request("./program"), make_world(environment={name: "no"}))
    assert plan.is_enabled == (name == "FOREBAY_ENABELD")
    told = [one for one in plan.warnings if "FOREBAY_ENABLED" in one]
    assert len(told) == (name == "FOREBAY_ENABELD")
