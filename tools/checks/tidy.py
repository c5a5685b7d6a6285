"""Runs clang-tidy on every source of src/ and benchmarks/, one process per core. Sources that have
passed are not checked again until something changes that the result depends on."""

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from checks.report import Finding, Outcome, Place, run

_TIDY = "clang-tidy-19"
_COMPLAINT = re.compile(r"^(/\S+?):(\d+):\d+: (?:error|warning): (.+?) \[([\w.,-]+)\]$")
_INCLUDE = re.compile(r'^[ \t]*#\s*include "([^"]+)"', re.MULTILINE)
# Clang does not know all of GCC's warning flags.
_FOR_CLANG = ["--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-error"]


def reach(file: Path, root: Path) -> Sequence[Path]:
    """`file` and all headers of the project that it includes directly or indirectly, sorted."""
    seen: set[Path] = set()
    waiting = [file]
    while waiting:
        path = waiting.pop()
        if path in seen or not path.exists():
            continue
        seen.add(path)
        for name in _INCLUDE.findall(path.read_text(encoding="utf-8")):
            waiting.append((root if name.startswith("benchmarks/") else root / "src") / name)
    return sorted(seen)


def key(file: Path, command: str, root: Path, checks: str = "") -> str:
    """A hash of everything that clang-tidy's result for `file` depends on."""
    digest = hashlib.sha256((command + checks).encode())
    digest.update((root / ".clang-tidy").read_bytes())
    for path in reach(file, root):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def complaints(file: Path, place: Place, checks: str = "") -> list[Finding]:
    """The complaints of clang-tidy about one source and the headers that it includes."""
    command = [_TIDY, "--quiet", f"-p={place.build}", *_FOR_CLANG, str(file)]
    if checks:
        command.append(f"--checks={checks}")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = [match for line in done.stdout.splitlines() if (match := _COMPLAINT.match(line))]
    if done.returncode != 0 and not found:
        text = (done.stdout + done.stderr).strip().splitlines()
        return [Finding(str(file), "clang-tidy failed", text[0] if text else "", "Run it by hand.")]
    return [
        Finding(
            f"{Path(match[1]).relative_to(place.root)}:{int(match[2])}",
            match[3],
            match[4].split(",")[0],
            "Mend it, or NOLINT it with the reason in a comment.",
        )
        for match in found
        if Path(match[1]).is_relative_to(place.root)
    ]


def check(place: Place) -> Outcome:
    """clang-tidy over every source of src/ and benchmarks/."""
    database = place.build / "compile_commands.json"
    if not database.exists():
        why = "it says how each file is compiled"
        return Outcome("nothing", [Finding(str(database), "missing", why, "Build first.")])
    entries = {
        Path(entry["file"]): entry["command"]
        for entry in json.loads(database.read_text(encoding="utf-8"))
        if entry["file"].startswith((f"{place.root}/src/", f"{place.root}/benchmarks/"))
        and entry["file"].endswith(".cpp")
        and not entry["file"].endswith("_test.cpp")
    }
    cache = place.build / "tidy-cache"
    cache.mkdir(exist_ok=True)

    checks = os.environ.get("FOREBAY_TIDY_CHECKS", "")  # modifies the list in .clang-tidy

    def findings_of(file: Path) -> list[Finding]:
        all_passed = cache / key(file, entries[file], place.root)
        mark = cache / key(file, entries[file], place.root, checks)
        if all_passed.exists() or mark.exists():
            return []
        found = complaints(file, place, checks)
        if not found:
            mark.touch()
        return found

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = {finding for each in pool.map(findings_of, entries) for finding in each}
    return Outcome(f"{len(entries)} sources through {_TIDY}", sorted(found))


if __name__ == "__main__":
    sys.exit(run(check))
