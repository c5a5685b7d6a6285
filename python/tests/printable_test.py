"""Names that would steer a terminal, or feign a line of ours."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from forebay.common.model.printable import printable, printable_lines, printable_name, shell_words
from forebay.common.report.output import json_line
from forebay.pool.model.pool import PoolEnd, PoolStatus, Rescued
from forebay.pool.report.text import end_lines

NAME = "a\x1b[31m b\nc\\d\x7f\t"


def test_a_name_is_shown_as_ls_shows_it(tmp_path: Path) -> None:
    (tmp_path / NAME).touch()
    (tmp_path / NAME.replace("a", "größe")).touch()
    shown = subprocess.run(
        ["ls", "-b"], cwd=tmp_path, capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"}
    ).stdout.decode()
    names = sorted(one.name for one in tmp_path.iterdir())
    assert sorted(shown.splitlines()) == sorted(printable_name(name) for name in names)


def test_bytes_that_are_no_character_are_shown_in_octal() -> None:
    assert printable("\udcff") == "\\377"
    assert printable("\ud800") == "\\355\\240\\200"
    assert printable("\x9b31m") == "\\302\\23331m"
    assert printable_lines("one\ntwo\r") == "one\ntwo\\r"


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_a_command_with_such_a_name_can_be_given_to_a_shell() -> None:
    words = ["printf", "%s|", NAME, "it's", "a b", "\\'\n", ""]
    text = shell_words(words)
    assert text.isprintable()
    done = subprocess.run(["bash", "-c", text], capture_output=True, check=True)
    assert done.stdout.decode() == "".join(f"{word}|" for word in words[2:])


def test_json_steers_no_terminal_either() -> None:
    text = json_line({"path": NAME + "\x9b\u202e\udcff"})
    assert text.isprintable()
    assert json.loads(text) == {"path": NAME + "\x9b\u202e\udcff"}


def test_the_line_of_a_rescue_steers_no_terminal() -> None:
    lost = Rescued(
        path=f"/out/{NAME}", error=28, error_text="No space\x1b", bytes=6,
        file=f"/home/{NAME}/1-out", problem="",
    )  # fmt: skip
    ended = PoolStatus(
        process=77, uptime_seconds=3.0, ended=True, closing=True, cap=1 << 30, leased=0, high=0,
        read_ahead_held=0, read_ahead=0, lag=0, oldest_seconds=0.0, clients=(), files=(),
        files_dropped=0, rescued=(lost,),
    )  # fmt: skip
    lines = list(end_lines(PoolEnd(status=ended, seconds=0.1)))
    assert all(line.isprintable() for line in lines)
    assert printable_name(lost.path) in lines[0]
