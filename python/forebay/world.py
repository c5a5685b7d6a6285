"""Puts this machine's adapters behind the ports. No other module names them all."""

import os
from pathlib import Path

from forebay.common.files.launchers import PathLaunchers
from forebay.common.files.machine import LocalMachine
from forebay.common.files.native_libraries import LibraryFolders
from forebay.common.files.output_files import OutputFiles
from forebay.common.files.processes import ForegroundProcesses
from forebay.common.files.programs import ProgramFiles
from forebay.common.files.record_file import RecordFiles
from forebay.layout.files import LayoutProgram
from forebay.pool.files.pools import LocalPools
from forebay.ports import World
from forebay.settings.files import SettingsFiles


def real_world(*, anywhere: bool = False) -> World:
    """This machine, this process's environment and its working directory. With `anywhere`, the root
    directory stands in for a working directory that was removed."""
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
            raise  # main() explains it to the user
        return Path("/")
