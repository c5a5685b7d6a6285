"""The result of a campaign as a JSON file, from which the documents can be rendered."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Any

from evaluation.model import BenchError, Case, Limit, Sample, StorageKind
from forebay.common.files.decoding import decoded
from forebay.common.files.machine import mount_of
from forebay.common.model.frozen import frozen

SCHEMA = "forebay.bench/1"


@frozen
class Machine:
    """The machine of a measurement."""

    processor: str
    cores: int
    memory_mebibytes: int
    kernel: str
    file_systems: dict[str, str]


@frozen
class Results:
    """The campaign of one suite."""

    suite: str
    quick: bool
    command: str
    commit: str
    modified: bool
    """Whether the work tree differed from the commit."""
    started: str
    seconds: float
    seed: int
    blocks: int
    library: str
    settings: dict[str, str]
    machine: Machine
    cases: tuple[Case, ...]
    limits: tuple[Limit, ...]
    samples: tuple[Sample, ...]


def save(results: Results, path: Path) -> None:
    """Writes the file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".part")
    scratch.write_text(json.dumps({"schema": SCHEMA, **asdict(results)}, indent=1) + "\n")
    scratch.replace(path)


def load(path: Path) -> Results:
    """Reads a file of `save`. Raises BenchError if it is of another version."""
    try:
        data: dict[str, Any] = json.loads(path.read_text())
        if data.pop("schema") != SCHEMA:
            raise KeyError("schema")
        return decoded(Results, data)
    except (KeyError, TypeError, ValueError) as error:
        raise BenchError(
            f"{path} is no result of this version ({error}). Run the suite again."
        ) from error


def this_machine(folders: dict[StorageKind, Path]) -> Machine:
    """The properties of this machine that results depend on."""
    model = "unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    pages, page = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return Machine(
        processor=model,
        cores=os.cpu_count() or 1,
        memory_mebibytes=pages * page // 2**20,
        kernel=platform.release(),
        file_systems={kind.value: file_system_of(folder) for kind, folder in folders.items()},
    )


def file_system_of(folder: Path) -> str:
    """The type of the folder's file system, as `forebay doctor` finds it."""
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
    return mount_of(folder.resolve(), mounts).file_system


def this_commit(root: Path) -> tuple[str, bool]:
    """The commit of the work tree, and whether it is modified; empty outside of git."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(root), *words]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else ""

    return git("rev-parse", "--short", "HEAD"), bool(git("status", "--porcelain", "-uno"))
