"""The tab key behind `module load` and in a venv: bash and fish look for completions in the folders
of XDG_DATA_DIRS, which stands for the system's where it is not set."""

import os
import re
import subprocess
from pathlib import Path

import pytest

SYSTEM = "/usr/local/share:/usr/share"
BASH_COMPLETION = Path("/usr/share/bash-completion/bash_completion")
TOOLS = (
    ("forebay.lua", "0.1.0.lua", Path("/usr/share/lmod/lmod/init/bash")),
    ("forebay.tcl", "0.1.0", Path("/usr/share/modules/init/bash")),
)


def bash(script: str, **variables: str) -> list[str]:
    environment = {key: one for key, one in os.environ.items() if key != "XDG_DATA_DIRS"}
    done = subprocess.run(
        ["bash", "-c", script],
        env={**environment, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def installed(prefix: Path) -> Path:
    """A tree with a completion that can be told from others."""
    folder = prefix / "share/bash-completion/completions"
    folder.mkdir(parents=True)
    (folder / "forebay").write_text("complete -W 'one two' forebay\n")
    return prefix


@pytest.mark.parametrize(("source", "name", "start"), TOOLS)
@pytest.mark.parametrize("before", ["", f"/mine:{SYSTEM}"])
def test_a_module_has_the_shell_find_completions(
    root: Path, tmp_path: Path, source: str, name: str, start: Path, before: str
) -> None:
    if not start.is_file():
        pytest.skip(f"no {start}")
    prefix = installed(tmp_path / "prefix")
    modules = prefix / "share/modulefiles"
    (modules / "forebay").mkdir(parents=True)
    (modules / "forebay" / name).write_text((root / "packaging/modules" / source).read_text())
    loaded, unloaded = bash(
        f"source {start}; module use {modules}; module load forebay; echo $XDG_DATA_DIRS; "
        "module unload forebay; echo ${XDG_DATA_DIRS-unset}${__FOREBAY_XDG_DATA_DIRS-}",
        **({"XDG_DATA_DIRS": before} if before else {}),
    )
    assert loaded == f"{prefix}/share:{before or SYSTEM}"
    assert unloaded == (before or "unset")


def test_the_line_that_is_told_for_a_venv_has_bash_find_completions(
    root: Path, tmp_path: Path
) -> None:
    (line,) = re.findall(r"^ *(export XDG_DATA_DIRS=.*)$", (root / "README.md").read_text(), re.M)
    venv = installed(tmp_path / "venv")
    assert bash(f"{line}; echo $XDG_DATA_DIRS", VIRTUAL_ENV=str(venv)) == [f"{venv}/share:{SYSTEM}"]
    if BASH_COMPLETION.is_file():
        script = (
            f"source {BASH_COMPLETION}; {line}; _completion_loader forebay; complete -p forebay"
        )
        said = bash(f"{script} || true", VIRTUAL_ENV=str(venv))
        assert said[-1:] == ["complete -W 'one two' forebay"]
