"""Puts the real adapters behind the ports: the only place that names them together."""

import os
from pathlib import Path

from forebay.adapters.launchers import PathLaunchers
from forebay.adapters.layout_program import LayoutProgram
from forebay.adapters.machine import LocalMachine
from forebay.adapters.native_libraries import LibraryFolders
from forebay.adapters.output_files import OutputFiles
from forebay.adapters.pools import LocalPools
from forebay.adapters.processes import ForegroundProcesses
from forebay.adapters.programs import ProgramFiles
from forebay.adapters.record_file import RecordFiles
from forebay.adapters.settings_files import SettingsFiles
from forebay.application.ports import World


def real_world(*, anywhere: bool = False) -> World:
    """This machine, this environment, this working directory. `anywhere`: where that has been
    removed, the root folder does, too."""
    libraries = LibraryFolders()
    return World(
        settings=SettingsFiles(),
        libraries=libraries,
        launchers=PathLaunchers(),
        programs=ProgramFiles(),
        processes=ForegroundProcesses(),
        records=RecordFiles(),
        outputs=OutputFiles(),
        machine=LocalMachine(),
        layouts=LayoutProgram(libraries),
        pools=LocalPools(libraries),
        environment=dict(os.environ),
        folder=_folder(anywhere=anywhere),
    )


def _folder(*, anywhere: bool) -> Path:
    try:
        return Path.cwd()
    except OSError:
        if not anywhere:
            raise  # main() says what that is
        return Path("/")
