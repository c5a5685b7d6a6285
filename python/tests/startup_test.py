"""Checks which modules are imported before a program starts."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

LOADED = """
import sys
import typer
of_typer = set(sys.modules)
sys.path.insert(0, sys.argv[1])
from forebay.main import application
application(sys.argv[2:])
print(*set(sys.modules) - of_typer)
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


def loaded(*words: str) -> set[str]:
    """Modules of ours that are there when the words are about to be parsed."""
    line = [sys.executable, "-c", LOADED, str(ROOT / "python"), *words]
    return set(subprocess.run(line, check=True, capture_output=True, text=True).stdout.split())


def test_a_run_does_not_wait_for_what_other_subcommands_import() -> None:
    modules = loaded("run", "--", "true")
    assert "forebay.run.command" in modules
    needless = {"rich.console", "jinja2", "importlib.metadata", "forebay.bench.command"}
    assert modules.isdisjoint({*needless, "forebay.doctor.command", "forebay.simulate.command"})


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
    assert done.stderr.endswith("Install it: pip install 'forebay[tuning]'.\n")


def test_help_and_typing_mistakes_see_every_subcommand() -> None:
    for words in ((), ("--help",), ("rnu", "--", "true")):
        assert {
            "forebay.run.command",
            "forebay.bench.command",
            "forebay.simulate.command",
        } <= loaded(*words)


def test_bench_and_its_comparison_do_not_import_each_other() -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); import forebay.bench.compare_command\n"
    line = [sys.executable, "-c", code + "print(*sys.modules)", str(ROOT / "python")]
    done = subprocess.run(line, check=True, capture_output=True, text=True)
    assert "forebay.bench.command" not in done.stdout.split()
