"""Where a daemon of the pool listens, and what programs are told about it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from forebay.common.model.frozen import frozen

SOCKET_VARIABLE = "FOREBAY_POOL_SOCKET"
PATHS_VARIABLE = "FOREBAY_POOL_PATHS"
DAEMON_VARIABLE = "FOREBAY_POOL_DAEMON"
"""The process that listens at the socket: clients do not talk to any other."""
ENABLED_SETTING = "enabled"
PATHS_SETTING = "pool_paths"
NODES_SETTING = "pool_nodes"
STARTER_SETTING = "pool_starter"
MOUNT_SETTING = "pool_mount"
MOUNT_TIMEOUT_SETTING = "pool_mount_timeout"
MOUNT_NEVER, MOUNT_REQUIRED = "never", "require"
MOUNT_CAPTURED_SETTING = "pool_mount_captured"
PATHS_MAX = 16
"""The number of paths that a captured program compares (src/pool/capture/files/paths.hpp)."""
SOCKET_NAME_MAX = 107
"""Bytes of a Unix socket's path that the kernel accepts (sun_path without the NUL)."""
READY_SCHEMA = "forebay.pool.ready/1"
"""The schema of the line that a daemon prints once it listens."""
LIBRARY_PREFIX = "libforebay_"
"""Prefix of the names of our preloaded libraries."""


@frozen
class RunningDaemon:
    """A daemon of the user: its process id, and where it listens."""

    process: int
    socket: Path


@frozen
class PoolPlace:
    """Where a daemon listens, and with which environment and working directory it is started."""

    socket: Path
    environment: Mapping[str, str]
    folder: Path
    nodes: int = 1
    """If more than one, a daemon listens on each node, at the same path."""
    starter: tuple[str, ...] = ()
    """The command that starts one on each node; empty for Slurm's srun."""
    shared: Path | None = None
    """A folder that all nodes see, for a starter that passes standard input to its first task only:
    it then carries the messages to the daemons. None if standard input does."""
    passes_input: bool = True
    """Whether, with `shared`, the first task is known to get standard input."""
    is_sampled: bool = False
    """Whether its counts are wanted over time (`PoolEnd.samples`)."""


def daemon_text(process: int, socket: Path) -> str:
    """The value of DAEMON_VARIABLE. It includes the socket, so that it is ignored for others."""
    return f"{process}:{socket}"


def paths_text(paths: tuple[Path, ...]) -> str:
    """The value of PATHS_VARIABLE."""
    return ",".join(str(path) for path in paths)
