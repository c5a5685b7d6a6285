"""Checks which modules are imported before a program starts, and for help: users wait for them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from forebay.common.model.output_format import Format
from forebay_tuning.report.command_line import ReportOptions, options_of

ROOT = Path(__file__).resolve().parents[2]

AT_START = """
import os, sys
def spawn(*_, **__):
    print(*sys.modules)
    raise SystemExit
os.posix_spawnp = spawn
sys.path.insert(0, sys.argv.pop(1))
from forebay.main import main
main()
"""

AT_END = """
import atexit, sys
def told():
    print(*sys.modules, file=sys.stderr)
atexit.register(told)
sys.path.insert(0, sys.argv.pop(1))
from forebay.main import main
main()
"""

LOADED = """
import sys
sys.path.insert(0, sys.argv[1])
from forebay.application import application_for
application_for(sys.argv[2:])
print(*sys.modules)
"""

WITHOUT_TUNING = """
import sys
class Absent:
    def find_spec(name, path, target):
        if name == "forebay_tuning":
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Absent)
sys.path.insert(0, sys.argv.pop(1))
from forebay.main import main
main()
"""

READY = {"schema": "forebay.pool.ready/1", "process": 1, "socket": "/s"}
FOREBAYD = f"#!/bin/sh\necho '{json.dumps(READY)}'\nexec sleep 600\n"

HEAVY = {
    "typer", "click", "pydantic", "rich", "jinja2", "numpy", "importlib.metadata",
    "json", "tomllib", "socket", "datetime", "logging", "asyncio", "urllib.request",
    "forebay.application", "forebay.run.command", "forebay.run.report",
    "forebay.run.files", "forebay.run.model", "forebay.run.use_case.compare_runs",
    "forebay.run.use_case.run_report", "forebay.common.model.record",
    "forebay.settings.model.table", "forebay.machine_ports", "forebay.layout.model",
    "forebay.pool.model.pool", "forebay.pool.report.text", "forebay.pool.files.daemon",
}  # fmt: skip
"""Modules that a program must not wait for: they are for mistakes, settings and later work."""


def output_of(code: str, *words: str, libraries: Path | None = None) -> str:
    line = [sys.executable, "-c", code, str(ROOT / "python"), *words]
    environment = {"PATH": "/usr/bin:/bin"}
    if libraries is not None:
        environment["FOREBAY_LIBDIR"] = str(libraries)
    done = subprocess.run(line, check=True, capture_output=True, text=True, env=environment)
    return done.stdout


def loaded(*words: str) -> set[str]:
    """The modules that are there when typer is about to parse the words."""
    return set(output_of(LOADED, *words).split())


@pytest.fixture
def libraries(tmp_path: Path) -> Path:
    """A folder as that of the native libraries, in which a shell script stands for the daemon."""
    folder = tmp_path / "libraries"
    folder.mkdir()
    for name in ("libforebay_mpi.so", "libforebay_posix.so"):
        (folder / name).touch()
    (folder / "forebayd").write_text(FOREBAYD)
    (folder / "forebayd").chmod(0o755)
    return folder


@pytest.mark.parametrize("options", [(), ("--pool", "."), ("-v", "--record", "r.jsonl")])
def test_a_program_does_not_wait_for_what_is_needed_later(
    options: tuple[str, ...], libraries: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    modules = set(output_of(AT_START, "run", *options, "--", "true", libraries=libraries).split())
    assert "forebay.run.command_line" in modules
    assert modules & HEAVY == set()


def test_only_who_gives_a_setting_waits_for_the_table_of_settings(libraries: Path) -> None:
    words = ("run", "--set", "cb_nodes=2", "--", "true")
    modules = set(output_of(AT_START, *words, libraries=libraries).split())
    assert "forebay.settings.model.table" in modules
    assert modules & (HEAVY - {"forebay.settings.model.table", "tomllib", "datetime"}) == set()


def test_the_version_needs_no_parser() -> None:
    line = [sys.executable, "-c", AT_END, str(ROOT / "python"), "--version"]
    done = subprocess.run(line, check=True, capture_output=True, text=True)
    assert done.stdout.startswith("forebay ")
    assert set(done.stderr.split()) & HEAVY == set()


@pytest.mark.parametrize("words", [(), ("--help",), ("rnu", "--", "true")])
def test_help_and_typing_mistakes_import_no_subcommand(words: tuple[str, ...]) -> None:
    modules = loaded(*words)
    assert "forebay.application" in modules
    assert not [one for one in modules if one.startswith("forebay") and one.endswith(".command")]


def test_a_subcommand_does_not_wait_for_what_others_import() -> None:
    modules = loaded("settings")
    assert "forebay.settings.command" in modules
    assert modules.isdisjoint({"jinja2", "forebay.bench.command", "forebay.simulate.command"})


def test_only_probing_waits_for_numpy() -> None:
    for words in (("advise",), ("verify",), ("probe",), ()):
        assert "numpy" not in loaded(*words)


def test_the_command_goes_without_tuning_and_says_what_to_install() -> None:
    line = [sys.executable, "-c", WITHOUT_TUNING, str(ROOT / "python")]
    done = subprocess.run([*line, "--help"], check=True, capture_output=True, text=True)
    assert "doctor" in done.stdout
    assert "probe" not in done.stdout.split("Commands:")[1]
    done = subprocess.run([*line, "probe"], check=False, capture_output=True, text=True)
    assert done.returncode == 125
    assert done.stderr.endswith("from a checkout of Forebay: pip install '.[tuning]'.\n")


def test_a_subcommand_behind_an_option_is_there() -> None:
    assert {"forebay.run.command", "forebay.bench.command"} <= loaded("--", "run", "true")


def test_bench_and_its_comparison_do_not_import_each_other() -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); import forebay.bench.compare_command\n"
    assert "forebay.bench.command" not in output_of(code + "print(*sys.modules)").split()


LOG = ROOT / "python" / "tests" / "darshan_logs" / "fsyncs-4x50x65536.darshan"


def test_a_report_of_a_log_does_not_wait_for_what_others_need() -> None:
    """Typer and what it brings were most of its imports; portraits and records came next."""
    pytest.importorskip("darshan")
    line = [sys.executable, "-c", AT_END, str(ROOT / "python"), "report", str(LOG)]
    done = subprocess.run(line, check=True, capture_output=True, text=True)
    assert "fsync behind writes" in done.stdout
    modules = set(done.stderr.split())
    assert "forebay_tuning.report.command_line" in modules
    tuning = {"evidence", "portrait", "response"}
    needless = {"forebay.common.model.record", *(f"forebay_tuning.model.{one}" for one in tuning)}
    needless |= {"typer", "click", "pydantic", "rich", "numpy", "forebay.application"}
    assert modules & needless == set()


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--help",),
        ("a", "b", "c"),
        ("a", "--format", "xml"),
        ("a", "--format"),
        ("a", "--html"),
        ("a", "--html", "--format"),
        ("a", "--portrait"),
        ("a", "--portrait="),
        ("--", "a"),
        ("-x", "a"),
        ("",),
    ],
)
def test_words_of_a_report_that_are_not_well_formed_are_left_to_typer(
    words: tuple[str, ...],
) -> None:
    assert options_of(words) is None


def test_the_words_of_a_report_are_understood_in_any_order() -> None:
    found = options_of(("a", "--format=json", "b", "--html", "c"))
    assert found == ReportOptions(file=Path("a"), after=Path("b"), html=Path("c"), form=Format.JSON)
    found = options_of(("--portrait", "p.toml", "a"))
    assert found == ReportOptions(file=Path("a"), portrait=Path("p.toml"))
