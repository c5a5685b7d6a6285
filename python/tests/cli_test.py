"""The command as users type it, with a library that does nothing and a program that writes the
record itself."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


@dataclass(frozen=True)
class Forebay:
    """Runs the command in a folder."""

    package: Path
    folder: Path
    variables: Mapping[str, str]

    def __call__(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if "FOREBAY" not in name}
        return subprocess.run(
            [sys.executable, str(self.package), *words],
            cwd=self.folder,
            env={**kept, **self.variables, **variables},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


@pytest.fixture
def forebay(tmp_path: Path, root: Path) -> Forebay:
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    (tmp_path / "empty.c").write_text("")
    subprocess.run(
        ["cc", "-shared", str(tmp_path / "empty.c"), "-o", str(libraries / "libforebay_mpi.so")],
        check=True,
    )
    example = root / "schema" / "examples" / "record-1.jsonl"
    program = tmp_path / "program.sh"
    program.write_text(f'#!/bin/sh\ncat {example} >> "$FOREBAY_RECORD"\necho result\nexit $1\n')
    program.chmod(0o755)
    return Forebay(root / "python" / "forebay", tmp_path, {"FOREBAY_LIBDIR": str(libraries)})


@needs_compiler
def test_run_keeps_output_clean_and_returns_the_programs_status(forebay: Forebay) -> None:
    done = forebay("run", "--", "./program.sh", "3")
    assert (done.returncode, done.stdout) == (3, "result\n")
    assert "/scratch/ocean.nc" in done.stderr
    assert "MPI_File_write_at  3 calls  96 B  independent call" in done.stderr
    assert "MPI_ERR_NO_SPACE" in done.stderr
    write = next(line for line in done.stderr.splitlines() if "write " in line)
    assert write.split()[:5] == ["write", "10", "1.00", "MiB", "2.0"]
    assert not list(forebay.folder.glob(".forebay-run-*"))


@needs_compiler
def test_run_gives_json_on_the_last_line_or_in_a_file(forebay: Forebay) -> None:
    done = forebay("run", "--format", "json", "--record", "r.jsonl", "./program.sh", "0")
    summary = json.loads(done.stderr.splitlines()[-1])
    assert summary["schema"] == "forebay.run/1"
    assert summary["files"][0]["write"]["mib_per_second"] == 2.0
    lines = (forebay.folder / "r.jsonl").read_text().splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["job", "file", "end", "run"]
    done = forebay(
        "run", "--format", "json", "--summary", "s.json", "--record", "r.jsonl", "./program.sh", "0"
    )
    assert done.stderr == ""
    summary = json.loads((forebay.folder / "s.json").read_text())
    assert summary["files"][0]["opened"] == 1
    assert summary["record"] == str(forebay.folder / "r.jsonl")


@needs_compiler
def test_run_tells_why_nothing_was_recorded(forebay: Forebay) -> None:
    done = forebay("run", "--", "true")
    assert done.returncode == 0
    assert "Nothing was recorded" in done.stderr
    assert "linked to no MPI" in done.stderr


@needs_compiler
def test_run_refuses_before_it_starts(forebay: Forebay) -> None:
    (forebay.folder / "bad.toml").write_text("\ncb_nodez = 1\n")
    done = forebay("run", "--settings", "bad.toml", "--", "./program.sh", "0")
    assert (done.returncode, done.stdout) == (2, "")
    assert "bad.toml:2" in done.stderr
    assert '"cb_nodes"' in done.stderr
    assert forebay("run", "--set", "cb_nodes", "--", "true").returncode == 2
    assert forebay("run", "--record", "none/r", "--", "true").returncode == 2
    assert forebay("run").returncode == 2
    assert forebay("run", "--", "./no-such").returncode == 127
    assert forebay("run", "--", "./bad.toml").returncode == 126
    assert forebay("run", "--", "true", FOREBAY_LIBDIR="/none").returncode == 125


@needs_compiler
def test_a_record_that_cannot_be_read_leaves_the_programs_status(forebay: Forebay) -> None:
    done = forebay("run", "--", "sh", "-c", 'mkdir "$FOREBAY_RECORD"; exit 3')
    assert done.returncode == 3
    assert "cannot read the record" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Nothing was recorded" not in done.stderr


@needs_compiler
def test_a_record_that_is_no_file_is_refused_before_the_run(forebay: Forebay) -> None:
    done = forebay("run", "--record", ".", "--", "./program.sh", "0")
    assert (done.returncode, done.stdout) == (2, "")
    assert "it is a directory" in done.stderr
    done = forebay("run", "--record", "/dev/null", "--", "./program.sh", "0")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no regular file" in done.stderr
    done = forebay("run", "--record", "r" * 300, "--", "./program.sh", "0")
    assert (done.returncode, done.stdout) == (2, "")
    assert "File name too long" in done.stderr


@needs_compiler
def test_a_summary_that_cannot_be_written_is_refused_before_the_run(forebay: Forebay) -> None:
    for path in (".", "none/s.json", "program.sh/s.json"):
        done = forebay("run", "--summary", path, "--", "./program.sh", "0")
        assert (done.returncode, done.stdout) == (2, "")
        assert "cannot write the summary" in done.stderr
    assert forebay("run", "--summary", "/dev/null", "--", "./program.sh", "3").returncode == 3


@needs_compiler
def test_a_page_that_cannot_be_drawn_is_refused_before_the_benchmark(forebay: Forebay) -> None:
    for words, why in (
        ("--html none/p.html", "cannot write the page none/p.html (there is no folder none)"),
        ("--html .", "it is a directory"),
        ("--json none/r.json", "cannot write the result none/r.json (there is no folder none)"),
    ):
        done = forebay("bench", "ior", *words.split())
        assert (done.returncode, done.stdout) == (1, "")
        assert why in done.stderr
    (forebay.folder / "matplotlib.py").write_text("raise ImportError('', name='matplotlib')\n")
    done = forebay("bench", "ior", "--html", "p.html", PYTHONPATH=str(forebay.folder))
    assert (done.returncode, done.stdout) == (125, "")
    assert "pip install matplotlib" in done.stderr


@needs_compiler
def test_probing_without_numpy_says_what_to_install(forebay: Forebay) -> None:
    (forebay.folder / "numpy.py").write_text("raise ImportError('', name='numpy')\n")
    done = forebay("probe", "--simulate", "lustre-96-ost", PYTHONPATH=str(forebay.folder))
    assert (done.returncode, done.stdout) == (125, "")
    assert "pip install numpy" in done.stderr
    assert forebay("advise", "--help", PYTHONPATH=str(forebay.folder)).returncode == 0


@pytest.mark.parametrize(
    ("sides", "why"),
    [
        ("ior -- ior -t 1m --pairs 8", "Write it before A: forebay bench compare --pairs"),
        ("ior --format=json -- ior", "it stands in A"),
        ("ior -- hpio -np 4", "-np is no option of hpio"),
        ("ior -- ior --seed 4", "--seed is no option of ior"),
        ("ior -- ior --html x", "--html is no option of ior"),
        ("--html none/p.html ior -- ior", "cannot write the page none/p.html"),
    ],
)
@needs_compiler
def test_options_of_a_comparison_behind_its_sides(forebay: Forebay, sides: str, why: str) -> None:
    done = forebay("bench", "compare", *sides.split())
    assert (done.returncode, done.stdout) == (1, "")
    assert why in done.stderr
    assert len(done.stderr.splitlines()) == 1


@needs_compiler
def test_program_sees_library_and_settings_but_not_our_python(forebay: Forebay) -> None:
    done = forebay("run", "--set", "cb_nodes=2", "--", "env", LD_PRELOAD="")
    seen = dict(line.partition("=")[::2] for line in done.stdout.splitlines())
    assert seen["LD_PRELOAD"].endswith("libforebay_mpi.so")
    assert seen["FOREBAY_CB_NODES"] == "2"
    assert "PYTHONPATH" not in seen or seen["PYTHONPATH"] == os.environ.get("PYTHONPATH")


@needs_compiler
def test_doctor_reports_as_json_and_by_status(forebay: Forebay) -> None:
    done = forebay("doctor", "--format", "json", "--program", "./none", PATH="/nowhere")
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert found["schema"] == "forebay.doctor/1"
    assert found["problems"] >= 2
    assert {"topic", "status", "subject", "detail", "remedy"} == set(found["findings"][0])
    text = forebay("doctor", "--program", "./none", PATH="/nowhere").stdout
    assert "there is no such program" in text
    assert "to repair" in text
    assert forebay("doctor", "./none").returncode == 2


@needs_compiler
def test_settings_are_listed(forebay: Forebay) -> None:
    listed = json.loads(forebay("settings", "--format", "json", FOREBAY_CB_NODES="3").stdout)
    (nodes,) = [one for one in listed["settings"] if one["name"] == "cb_nodes"]
    assert (nodes["value"], nodes["origin"], nodes["default"]) == ("3", "environment", "0")
    assert nodes["hints"] == ["cb_nodes", "forebay_cb_nodes"]
    text = forebay("settings").stdout
    assert "cb_buffer_size = 4 MiB   [64 KiB … 1 GiB]" in text
    assert "FOREBAY_STORAGE" in text


@needs_compiler
def test_help_teaches_with_examples(forebay: Forebay) -> None:
    for command in ("run", "doctor", "settings"):
        text = forebay(command, "--help").stdout
        assert "Examples:" in text
        assert f"\n    forebay {command}" in text
        assert "Exit status:" in text
    assert forebay("--version").stdout == "forebay 0.1.0\n"


@needs_compiler
def test_names_in_files_do_not_steer_the_terminal(forebay: Forebay, root: Path) -> None:
    line = json.loads((root / "schema/examples/record-1.jsonl").read_text().splitlines()[1])
    line["path"] = "/a\x1b[31m[bold]b"
    (forebay.folder / "line.jsonl").write_text(json.dumps(line) + "\n")
    done = forebay("run", "--", "sh", "-c", 'cat line.jsonl >> "$FOREBAY_RECORD"')
    assert "\x1b" not in done.stderr
    assert "/a\\033[31m[bold]b" in done.stderr


@needs_compiler
@pytest.mark.parametrize(
    "line",
    ["run -- true", "run --pool /tmp -- true", "doctor", "doctor /", "pool start /", "bench ior"],
)
def test_where_the_current_folder_is_gone_that_is_said(forebay: Forebay, line: str) -> None:
    """There was a traceback."""
    (forebay.folder / "gone").mkdir()
    words = [sys.executable, str(forebay.package), *line.split()]
    script = 'cd gone && rmdir ../gone && exec "$@"'
    done = subprocess.run(
        ["sh", "-c", script, "sh", *words],
        cwd=forebay.folder,
        env={**os.environ, **forebay.variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "forebay: cannot work in the folder that you are in" in done.stderr


@needs_compiler
def test_an_unset_variable_does_not_mean_the_current_folder(forebay: Forebay) -> None:
    for words in (
        ("run", "--pool", "", "--", "true"),
        ("pool", "start", ""),
        ("pool", "stop", "--socket", ""),
        ("pool", "rescue", ""),
        ("doctor", ""),
        ("probe", "", "--", "mpiexec"),
        ("layout", "show", ""),
    ):
        done = forebay(*words)
        assert done.returncode == 2, words
        assert "it is empty: is a variable not set?" in done.stderr


def test_help_and_version_are_commands_too(forebay: Forebay) -> None:
    assert forebay("version").stdout == forebay("--version").stdout
    assert forebay("help").stdout == forebay("--help").stdout
    assert forebay("help", "pool", "start").stdout == forebay("pool", "start", "--help").stdout


def test_settings_shows_those_that_are_named(forebay: Forebay) -> None:
    done = forebay("settings", "pool_cap", "FOREBAY_CB_NODES", "striping_unit")
    listed = done.stdout.split("\n\n")[0]  # words are explained below
    names = [line.split()[0] for line in listed.splitlines() if not line.startswith(" ")]
    assert names == ["cb_nodes", "striping_unit", "pool_cap"]
    done = forebay("settings", "--format", "json", "pool_window")
    assert [one["name"] for one in json.loads(done.stdout)["settings"]] == ["pool_window"]
    done = forebay("settings", "pool_cup")
    assert done.returncode == 2
    assert '"pool_cap"' in done.stderr


def test_what_is_no_rescue_file_is_not_said_to_be_kept(forebay: Forebay) -> None:
    done = forebay("pool", "rescue", "empty.c")
    assert done.returncode == 1
    assert "empty.c is no rescue file" in done.stderr
    assert "kept" not in done.stderr


def test_stop_takes_the_variables_out_of_a_shell(forebay: Forebay) -> None:
    kept = {"LD_PRELOAD": "", "XDG_RUNTIME_DIR": str(forebay.folder)}
    done = forebay("pool", "stop", "--unset", **kept)
    assert done.returncode == 0  # it was stopped before
    assert done.stdout == "unset FOREBAY_POOL_SOCKET FOREBAY_POOL_PATHS LD_PRELOAD\n"
    assert "cannot reach a daemon" in done.stderr
    assert forebay("pool", "stop", **kept).returncode == 1


@needs_compiler
@pytest.mark.parametrize("limit", ["-v 4000000", "-n 20"])
def test_a_limit_that_leaves_the_pool_no_room_is_told_first(forebay: Forebay, limit: str) -> None:
    words = [sys.executable, str(forebay.package), "run", "--pool", ".", "--", "true"]
    done = subprocess.run(
        ["bash", "-c", f'ulimit {limit} && exec "$@"', "bash", *words],
        cwd=forebay.folder,
        env={**os.environ, **forebay.variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("forebay: warning: No pool can be used here")
    assert f"`ulimit {limit.split()[0]}`" in done.stderr.splitlines()[0]
    assert "statically linked" not in done.stderr
