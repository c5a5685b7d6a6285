"""Settings: the schema, files with mistakes, and who wins."""

from pathlib import Path
from typing import Any

import pytest

from forebay.common.model.errors import SettingsError, SetupError
from forebay.pool.model.place import DAEMON_VARIABLE, PATHS_VARIABLE, SOCKET_VARIABLE
from forebay.settings.files.source import SettingsFiles
from forebay.settings.files.toml_settings import read_schema, read_settings_file
from forebay.settings.model.filters import Product, about
from forebay.settings.model.given import Override
from forebay.settings.model.resolution import resolve
from forebay.settings.model.table import Origin, SettingsTable
from forebay.settings.model.words import words_of
from forebay.settings.use_case import effective_settings


def write(folder: Path, text: str) -> Path:
    path = folder / "forebay.toml"
    path.write_text(text, encoding="utf-8")
    return path


def failure(file: Path) -> str:
    with pytest.raises(SettingsError) as caught:
        effective_settings(SettingsFiles(), file=file, environment={})
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_schema_has_defaults_in_canonical_text(table: SettingsTable) -> None:
    found = {setting.name: setting.default for setting in table.settings}
    assert found["enabled"] == "true"
    assert found["cb_buffer_size"] == str(4 << 20)
    assert found["collective_write"] == "automatic"
    assert found["exclude"] == ""
    assert all(setting.doc for setting in table.settings)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("enabled", "Yes", "true"),
        ("enabled", "off", "false"),
        ("cb_nodes", " 4 ", "4"),
        ("cb_buffer_size", "16MiB", str(16 << 20)),
        ("collective_write", "ENABLE", "enable"),
        ("exclude", "/tmp, /home,", "/tmp,/home"),
        ("record", "a b.jsonl", "a b.jsonl"),
    ],
)
def test_values_that_are_taken(table: SettingsTable, name: str, text: str, value: str) -> None:
    assert table.check(Override(name, text)) == value


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("enabled", "maybe", "true or false"),
        ("cb_nodes", "-1", "from 0 to 1048576"),
        ("cb_nodes", "1_000", "whole number"),
        ("cb_nodes", "4.0", "whole number"),
        ("cb_buffer_size", "1 KiB", "bytes from 64 KiB to 1 GiB"),
        ("storage", "nvme", "one of automatic, uring, posix"),
        ("buffers_per_aggregator", "2", "from 3 to 64"),
    ],
)
def test_values_that_are_refused(table: SettingsTable, name: str, text: str, expected: str) -> None:
    with pytest.raises(SettingsError, match=expected):
        table.check(Override(name, text))


def test_typing_mistake_in_a_file_tells_line_key_and_nearest_key(tmp_path: Path) -> None:
    file = write(tmp_path, '# site\ncb_nodes = 4\n\ncb_bufer_size = "4 MiB"\n')
    message = failure(file)
    assert f"{file}:4:" in message
    assert '"cb_bufer_size"' in message
    assert 'Did you mean "cb_buffer_size"?' in message


def test_a_name_like_no_settings_is_not_guessed_at(table: SettingsTable) -> None:
    """`forebay settings ""` asked whether "view_pieces_max" was meant."""
    for name in ("", "nosuch"):
        with pytest.raises(SettingsError, match="nor is one called something similar") as told:
            table.named(name)
        assert "Did you mean" not in str(told.value)


def test_wrong_value_in_a_file_tells_its_line(tmp_path: Path) -> None:
    file = write(tmp_path, 'enabled = true\n"cb_nodes" = "many"\n')
    assert f"{file}:2:" in failure(file)


def test_broken_toml_tells_its_line(tmp_path: Path) -> None:
    file = write(tmp_path, "enabled = true\ncb_nodes = = 4\n")
    message = failure(file)
    assert f"{file}:2" in message
    assert "not TOML" in message


@pytest.mark.parametrize("text", ["cb_nodes = 4.5\n", "cb_nodes = [1]\n", "[forebay]\na = 1\n"])
def test_types_that_no_setting_has(tmp_path: Path, text: str) -> None:
    file = write(tmp_path, text)
    assert f"{file}:1" in failure(file)


def test_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    assert "No such file" in failure(tmp_path / "none.toml")
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    assert "not UTF-8" in failure(binary)


def test_schema_key_of_a_settings_file_is_no_setting(tmp_path: Path) -> None:
    file = write(tmp_path, 'schema = "forebay.settings/1"\ncb_nodes = 2\n')
    assert read_settings_file(file) == [Override("cb_nodes", "2", 2)]


def test_later_sources_win(tmp_path: Path) -> None:
    file = write(tmp_path, 'cb_nodes = 2\nverbose = true\ncollective_read = "disable"\n')
    listed = effective_settings(
        SettingsFiles(),
        file=file,
        environment={"FOREBAY_CB_NODES": "3", "FOREBAY_COLLECTIVE_READ": "enable"},
        options=[Override("cb_nodes", "5")],
    )
    found = {one.setting.name: (one.value, one.origin) for one in listed}
    assert found["cb_nodes"] == ("5", Origin.OPTION)
    assert found["collective_read"] == ("enable", Origin.ENVIRONMENT)
    assert found["verbose"] == ("true", Origin.FILE)
    assert found["storage"] == ("automatic", Origin.DEFAULT)


def test_wrong_variable_is_named() -> None:
    with pytest.raises(SettingsError, match=r"^FOREBAY_CB_NODES: "):
        effective_settings(SettingsFiles(), file=None, environment={"FOREBAY_CB_NODES": "x"})


def test_variables_that_are_nearly_settings(table: SettingsTable) -> None:
    found = table.suspicious(["FOREBAY_CB_NODE", "FOREBAY_LIBDIR", "FOREBAY_SETTINGS", "HOME"])
    assert found == (("FOREBAY_CB_NODE", "FOREBAY_CB_NODES"),)


def test_a_run_inside_of_a_run_does_not_take_its_variables_for_misspelt(
    table: SettingsTable,
) -> None:
    own = [DAEMON_VARIABLE, PATHS_VARIABLE, SOCKET_VARIABLE]
    assert table.suspicious(own) == ()


def test_missing_schema_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=str(tmp_path)):
        SettingsFiles(folders=[tmp_path]).table()
    broken = write(tmp_path, "[[setting]]\nname = 'a'\n")
    with pytest.raises(SetupError, match="Install Forebay again"):
        read_schema(broken)


def test_a_hint_that_is_listed_is_no_typing_mistake(table: SettingsTable) -> None:
    for name in ("romio_cb_write", "forebay_collective_write", "collective_write"):
        assert value_of(table, options=[Override(name, "enable")]) == ("enable", Origin.OPTION)
        assert value_of(table, file=[Override(name, "enable", 1)]) == ("enable", Origin.FILE)
    environment = {"FOREBAY_ROMIO_CB_WRITE": "enable"}
    assert value_of(table, environment=environment) == ("enable", Origin.ENVIRONMENT)
    environment["FOREBAY_COLLECTIVE_WRITE"] = "disable"
    assert value_of(table, environment=environment) == ("disable", Origin.ENVIRONMENT)
    environment["FOREBAY_ROMIO_CB_WRITE"] = "nonsense"  # does not count, so it is not looked at
    assert value_of(table, environment=environment) == ("disable", Origin.ENVIRONMENT)
    assert table.suspicious(["FOREBAY_ROMIO_CB_WRITE"]) == ()


def value_of(table: SettingsTable, **given: Any) -> tuple[str, Origin]:
    found = next(
        one for one in resolve(table, **given).values if one.setting.hint == "romio_cb_write"
    )
    return found.value, found.origin


def test_a_file_that_sets_the_same_by_two_names_is_refused(table: SettingsTable) -> None:
    file = [Override("collective_write", "enable", 1), Override("romio_cb_write", "disable", 4)]
    with pytest.raises(SettingsError, match=r"line 4.*of line 1 by another name"):
        resolve(table, file=file)


def test_a_size_may_end_in_mb(table: SettingsTable) -> None:
    assert table.check(Override("cb_buffer_size", "16MB")) == str(16 << 20)


def listed(*words: str, product: Product | None = None) -> list[str]:
    effective = effective_settings(SettingsFiles(), file=None, environment={})
    return [one.setting.name for one in about(effective, words=words, product=product)]


def test_settings_are_listed_by_word_and_by_product(table: SettingsTable) -> None:
    assert len(listed()) == len(table.settings)
    pool, mpi = listed(product=Product.POOL), listed(product=Product.MPI_IO)
    assert "pool_cap" in pool
    assert "pool_cap" not in mpi
    assert "cb_nodes" in mpi
    assert "cb_nodes" not in pool
    assert set(pool) & set(mpi) == {"record", "verbose"}
    assert set(pool) | set(mpi) == set(listed())
    assert "pool_journal_size" in listed("Journal")
    assert listed("romio_cb_write") == ["collective_write"]
    assert listed("journal", "full") == ["pool_journal_size"]
    assert listed("stripe", product=Product.POOL) == ["pool_consistency"]
    with pytest.raises(SettingsError, match="no setting is about"):
        listed("weather")


def test_words_of_ours_are_explained(table: SettingsTable) -> None:
    meanings = dict(words_of(table.settings))
    assert "EARTH" in meanings
    assert "outstanding" in meanings["k"]
    assert set(meanings) == {word for word, _ in words_of(table.settings)}
    assert [word for word, _ in words_of([table.named("pool_age")])] == ["drained"]
    assert not words_of([])
