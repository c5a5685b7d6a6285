"""The settings of a site: their place among the others, what locks do, and what programs get."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forebay.common.model.errors import SettingsError, UsageError
from forebay.pool.use_case.manage import StartRequest, start_pool
from forebay.run.use_case.run_plan import RunRequest, plan_run
from forebay.settings.files.source import SettingsFiles
from forebay.settings.files.toml_settings import read_site_file
from forebay.settings.model.given import SITE_FILE, Override
from forebay.settings.model.table import EffectiveSetting, Origin
from forebay.settings.use_case import folder_settings, resolved_settings


def site(folder: Path, text: str) -> Path:
    path = folder / "site.toml"
    path.write_text(text, encoding="utf-8")
    return path


def found(
    path: Path, name: str, *, file: Path | None = None, **given: Any
) -> tuple[EffectiveSetting, tuple[str, ...]]:
    """A setting with the site's file `path`, and the warnings."""
    source = SettingsFiles(site_file=path)
    given = {"environment": {}, **given}
    resolved = resolved_settings(source, file=file, **given)
    return next(one for one in resolved.values if one.setting.name == name), resolved.warnings


def test_a_sites_value_is_above_the_default_and_below_all_that_users_give(tmp_path: Path) -> None:
    path = site(tmp_path, "\npool_age = 7\n")
    one, warnings = found(path, "pool_age")
    assert (one.value, one.origin, one.place) == ("7", Origin.SITE, f"{path}:2")
    assert not one.lock
    assert not warnings
    mine = tmp_path / "mine.toml"
    mine.write_text("cb_nodes = 1\npool_age = 8\n")
    one, _ = found(path, "pool_age", file=mine)
    assert (one.value, one.origin, one.place) == ("8", Origin.FILE, f"{mine}:2")
    one, _ = found(path, "pool_age", file=mine, environment={"FOREBAY_POOL_AGE": "9"})
    assert (one.value, one.origin, one.place) == ("9", Origin.ENVIRONMENT, "FOREBAY_POOL_AGE")
    one, _ = found(path, "pool_age", options=[Override("pool_age", "10")])
    assert (one.value, one.origin) == ("10", Origin.OPTION)


def test_every_setting_can_be_locked(tmp_path: Path, table: Any) -> None:
    names = [one.name for one in table.settings]
    path = site(tmp_path, f"locked = {json.dumps(names)}\n")
    for setting in table.settings:
        one, _ = found(path, setting.name)
        assert (one.value, one.lock) == (setting.default, f"{path}:1")


def test_an_option_for_a_locked_setting_is_refused_and_the_message_names_the_file(
    tmp_path: Path,
) -> None:
    path = site(tmp_path, 'pool_cap = "2 GiB"\nlocked = ["pool_cap"]\n')
    with pytest.raises(SettingsError, match=rf"--set pool_cap=4GiB .*{path}:2 locks .* 2 GiB"):
        found(path, "pool_cap", options=[Override("pool_cap", "4GiB")])
    one, warnings = found(path, "pool_cap", options=[Override("pool_cap", "2048m")])
    assert one.value == str(2 << 30)
    assert not warnings


def test_files_and_variables_for_a_locked_setting_are_ignored_with_a_warning(
    tmp_path: Path,
) -> None:
    path = site(tmp_path, 'locked = ["romio_cb_write"]\ncollective_write = "enable"\n')
    mine = tmp_path / "mine.toml"
    mine.write_text('collective_write = "disable"\n')
    environment = {"FOREBAY_ROMIO_CB_WRITE": "disable"}
    one, warnings = found(path, "collective_write", file=mine, environment=environment)
    assert (one.value, one.origin, one.lock) == ("enable", Origin.SITE, f"{path}:1")
    assert [text.split(" ")[0] for text in warnings] == [f"{mine}:1", "FOREBAY_ROMIO_CB_WRITE"]
    assert all(str(path) in text for text in warnings)


def test_rules_of_folders_cannot_go_round_a_lock(tmp_path: Path) -> None:
    path = site(tmp_path, 'locked = ["pool_window"]\n')
    environment = {"FOREBAY_POOL_FOLDERS": "/a window=1GiB"}
    one, warnings = found(path, "pool_folders", environment=environment)
    assert one.value == ""
    assert len(warnings) == 1


def test_a_name_that_this_version_does_not_know_does_not_stop_everybodys_work(
    tmp_path: Path,
) -> None:
    path = site(tmp_path, 'pool_tomorrow = 1\npool_age = 7\nlocked = ["pool_later"]\n')
    one, warnings = found(path, "pool_age")
    assert one.value == "7"
    assert [f"{path}:1" in warnings[0], f"{path}:3" in warnings[1]] == [True, True]


@pytest.mark.parametrize("text", ["pool_age = 0\n", "pool_age = = 1\n", "pool_age = 1.5\n"])
def test_a_sites_file_with_a_mistake_is_named(tmp_path: Path, text: str) -> None:
    path = site(tmp_path, text)
    with pytest.raises(SettingsError, match=str(path)):
        found(path, "pool_age")


def test_a_file_that_everybody_may_write_to_is_not_the_sites(tmp_path: Path) -> None:
    path = site(tmp_path, "pool_age = 7\n")
    path.chmod(0o666)
    with pytest.raises(SettingsError, match="everybody may write to it"):
        found(path, "pool_age")


def test_the_variable_names_a_file_only_where_the_machine_has_none(tmp_path: Path) -> None:
    own = site(tmp_path, 'pool_age = 7\nlocked = ["pool_age"]\n')
    other = tmp_path / "other.toml"
    other.write_text("pool_age = 8\n")
    environment = {"FOREBAY_SITE_SETTINGS": str(other)}
    one, warnings = found(own, "pool_age", environment=environment)
    assert one.value == "7"
    assert "FOREBAY_SITE_SETTINGS" in warnings[0]
    one, warnings = found(tmp_path / "none", "pool_age", environment=environment)
    assert (one.value, one.place) == ("8", f"{other}:1")
    assert not warnings
    with pytest.raises(SettingsError, match="No such file"):
        found(tmp_path / "none", "pool_age", environment={"FOREBAY_SITE_SETTINGS": "/none"})


def test_rules_of_folders_are_settings_of_their_own(tmp_path: Path) -> None:
    path = site(tmp_path, 'pool_folders = ["/a b past window=2GiB", "/c fsync=node"]\n')
    values = resolved_settings(SettingsFiles(site_file=path), file=None, environment={}).values
    rules = [(one.folder, one.name, one.value) for one in folder_settings(values)]
    assert rules == [
        ("/a b", "past", "true"),
        ("/a b", "pool_window", "2GiB"),
        ("/c", "pool_fsync", "node"),
    ]


MINE = (
    'pool_age = 7\npool_cap = "1 GiB"\nrecord = ""\nlocked = ["pool_cap", "cb_nodes", "record"]\n'
)


def test_programs_get_the_sites_values_and_what_is_locked(
    tmp_path: Path, make_world: Callable[..., Any]
) -> None:
    own = read_site_file(site(tmp_path, MINE))
    environment = {"FOREBAY_POOL_CAP": "8GiB", "FOREBAY_LOCKED": "nothing"}
    world = make_world(environment=environment, settings={"own": own})
    plan = plan_run(RunRequest(command=("./serial",)), world)
    told = plan.environment
    assert told["FOREBAY_POOL_AGE"] == "7"
    assert told["FOREBAY_POOL_CAP"] == str(1 << 30)
    assert told["FOREBAY_CB_NODES"] == "0"
    assert set(told["FOREBAY_LOCKED"].split(",")) == {"pool_cap", "cb_nodes", "record"}
    assert any("FOREBAY_POOL_CAP" in warning for warning in plan.warnings)


def test_what_users_may_change_is_passed_on_as_they_have_it(
    tmp_path: Path, make_world: Callable[..., Any]
) -> None:
    own = read_site_file(site(tmp_path, MINE))
    world = make_world(environment={"FOREBAY_POOL_AGE": "9"}, settings={"own": own})
    plan = plan_run(RunRequest(command=("./serial",)), world)
    assert plan.environment["FOREBAY_POOL_AGE"] == "9"
    request = RunRequest(command=("./serial",), overrides=(Override("pool_age", "11"),))
    assert plan_run(request, world).environment["FOREBAY_POOL_AGE"] == "11"


def test_a_record_or_a_path_that_the_site_does_not_want_is_refused(
    tmp_path: Path, make_world: Callable[..., Any]
) -> None:
    text = f'pool_paths = ["{tmp_path}/in"]\nlocked = ["pool_paths", "record"]\n'
    world = make_world(settings={"own": read_site_file(site(tmp_path, text))})
    (tmp_path / "in" / "deep").mkdir(parents=True)
    with pytest.raises(SettingsError, match=r"--record .*site.toml:2 locks record"):
        plan_run(RunRequest(command=("./serial",), record=Path("r")), world)
    with pytest.raises(UsageError, match=r"site.toml:2 locks pool_paths"):
        plan_run(RunRequest(command=("./serial",), pool=(tmp_path,)), world)
    with pytest.raises(UsageError, match=r"site.toml:2 locks pool_paths"):
        start_pool(StartRequest(paths=(tmp_path,)), world)
    plan = plan_run(RunRequest(command=("./serial",), pool=(Path("in/deep"),)), world)
    assert plan.pool is not None
    assert tmp_path / "in" in plan.pool.paths


def test_a_mount_that_the_site_forbids_is_not_made(
    tmp_path: Path, make_world: Callable[..., Any]
) -> None:
    own = read_site_file(site(tmp_path, 'locked = ["pool_mount"]\n'))
    world = make_world(settings={"own": own})
    request = RunRequest(command=("./serial",), pool=(tmp_path,), is_private=True)
    with pytest.raises(UsageError, match=r"site.toml:1 locks pool_mount"):
        plan_run(request, world)


def test_a_site_can_switch_forebay_off_for_everybody(
    tmp_path: Path, make_world: Callable[..., Any]
) -> None:
    own = read_site_file(site(tmp_path, 'enabled = false\nlocked = ["enabled"]\n'))
    world = make_world(settings={"own": own}, environment={"FOREBAY_ENABLED": "true"})
    plan = plan_run(RunRequest(command=("./serial",), pool=(tmp_path,)), world)
    assert plan.pool is None
    assert not plan.is_enabled
    assert plan.environment["FOREBAY_ENABLED"] == "false"
    with pytest.raises(UsageError, match=r"site.toml:2 has switched Forebay off"):
        start_pool(StartRequest(paths=(tmp_path,)), world)


def test_a_site_can_have_a_pool_for_every_run(
    tmp_path: Path, make_world: Callable[..., Any]
) -> None:
    own = read_site_file(site(tmp_path, f'pool_paths = ["{tmp_path}"]\npool_age = 5\n'))
    world = make_world(settings={"own": own})
    plan = plan_run(RunRequest(command=("./serial",)), world)
    assert plan.pool is not None
    assert plan.pool.paths == (tmp_path,)
    start_pool(StartRequest(paths=()), world)
    assert world.pools.places[0].environment["FOREBAY_POOL_AGE"] == "5"


@pytest.mark.skipif(SITE_FILE.exists(), reason="this machine has a site's file of its own")
def test_the_command_says_where_values_come_from(tmp_path: Path, forebay: Any) -> None:
    path = site(tmp_path, 'pool_age = 7\nlocked = ["pool_age"]\n')
    told = {"FOREBAY_SITE_SETTINGS": str(path), "FOREBAY_POOL_QUIET": "3"}
    done = forebay("settings", "--origin", "pool_age", "pool_quiet", "pool_cap", **told)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert rows[0] == ["setting", "value", "origin", "from", "locked", "by"]
    assert ["pool_age", "7", "site", f"{path}:1", f"{path}:2"] in rows
    assert ["pool_quiet", "3", "environment", "FOREBAY_POOL_QUIET"] in rows
    assert ["pool_cap", "0", "default"] in rows
    done = forebay("settings", "pool_age", "--format", "json", **told)
    listed = json.loads(done.stdout)["settings"][0]
    assert (listed["origin"], listed["place"], listed["lock"]) == (
        "site",
        f"{path}:1",
        f"{path}:2",
    )
