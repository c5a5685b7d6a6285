"""Puts this machine's adapters behind the ports. No other module names them all."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.common.files.launchers import PathLaunchers
from forebay.common.files.native_libraries import LibraryFolders
from forebay.common.files.output_files import OutputFiles
from forebay.common.files.processes import ForegroundProcesses
from forebay.common.files.programs import ProgramFiles
from forebay.common.files.records import RecordFiles
from forebay.pool.files.pools import LocalPools
from forebay.ports import RunWorld
from forebay.settings.files.source import SettingsFiles

if TYPE_CHECKING:
    from forebay.machine_ports import World


def run_world(*, anywhere: bool = False) -> RunWorld:
    """This machine, this process's environment and its working directory, for running a program.
    With `anywhere`, the root directory stands in for a working directory that was removed."""
    libraries = LibraryFolders()
    return RunWorld(
        settings=SettingsFiles(),
        libraries=libraries,
        launchers=PathLaunchers(),
        programs=ProgramFiles(),
        processes=ForegroundProcesses(),
        records=RecordFiles(),
        outputs=OutputFiles(),
        pools=LocalPools(libraries),
        environment=dict(os.environ),
        folder=_folder(anywhere=anywhere),
    )


def real_world(*, anywhere: bool = False) -> World:
    """As `run_world`, with all that is known of this machine."""
    from forebay.common.files.machine import LocalMachine
    from forebay.layout.files import LayoutProgram
    from forebay.machine_ports import World

    base = run_world(anywhere=anywhere)
    ports = {one.name: getattr(base, one.name) for one in fields(base)}
    return World(**ports, machine=LocalMachine(), layouts=LayoutProgram(base.libraries))


def _folder(*, anywhere: bool) -> Path:
    try:
        return Path.cwd()
    except OSError:
        if not anywhere:
            raise  # main() explains it to the user
        return Path("/")
