"""`forebay pool`: parses the command line, sends requests to the daemon, prints the answers."""

import contextlib
import os
import pwd
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from forebay.common.files.records import RecordFiles
from forebay.common.files.safe_files import refused, replace_whole
from forebay.common.model.errors import PoolError, RecordError, UsageError
from forebay.common.model.named_path import named_path
from forebay.common.model.output_format import Format
from forebay.common.model.printable import printable, printable_name, shell_words
from forebay.common.model.units import human_bytes, human_seconds
from forebay.common.options import FormatOption, SettingsFile, option
from forebay.common.report.output import json_line, json_pretty, plain
from forebay.pool import SHORT_HELP
from forebay.pool.files.keys import terminal_keys
from forebay.pool.files.rescue_files import RescueFiles
from forebay.pool.files.system_log import send_messages
from forebay.pool.model.metrics import families_of
from forebay.pool.model.place import SOCKET_VARIABLE
from forebay.pool.model.pool import EX_IOERR, PoolEnd, PoolStatus
from forebay.pool.model.rescue import RescueOutcome
from forebay.pool.model.system_message import messages_of
from forebay.pool.model.watching import FileOrder, RateHistory
from forebay.pool.report.command_help import (
    DRAIN_HELP,
    HELP,
    RESCUE_HELP,
    START_HELP,
    STATUS_HELP,
    STOP_HELP,
)
from forebay.pool.report.drain_progress import DrainProgress
from forebay.pool.report.metrics_text import Dialect, metrics_text
from forebay.pool.report.text import (
    end_as_json,
    end_lines,
    file_as_json,
    headline,
    status_lines,
    stopped_verdict,
)
from forebay.pool.report.text import files_lines as files_of
from forebay.pool.report.watch_view import Screen, interval_line, screen_lines
from forebay.pool.use_case.manage import (
    Drained,
    Started,
    StartRequest,
    drain_pool,
    lines_to_forget,
    reached,
    run_of_pool,
    running_elsewhere,
    socket_of,
    start_pool,
    stop_pool,
)
from forebay.pool.use_case.ports import PoolSession
from forebay.pool.use_case.rescue import RescueRequest, rescue
from forebay.pool.use_case.run_pool import plan_nodes
from forebay.settings.model.given import overrides_of
from forebay.settings.use_case import effective_settings
from forebay.world import real_world


class StatusFormat(Enum):
    """The values of --format of `pool status`."""

    TEXT = "text"
    JSON = "json"
    OPENMETRICS = "openmetrics"
    PROMETHEUS = "prometheus"


_DIALECTS = {
    StatusFormat.OPENMETRICS: Dialect.OPENMETRICS,
    StatusFormat.PROMETHEUS: Dialect.PROMETHEUS,
}
_QUIT_KEYS = ("q", "Q", "\x1b")
_SORT_KEYS = ("s", "S")
_STILL_SET = (
    "forebay: this shell still has the pool's variables. Take them out: "
    'eval "$(forebay pool stop --unset)"'
)

SocketOption = Annotated[
    Optional[Path], option("--socket", "PATH", "Where the daemon listens.", parser=named_path)
]


def start(
    paths: Annotated[
        Optional[list[Path]],
        typer.Argument(
            metavar="PATH...",
            help="Folders (or files) that go through the pool.",
            parser=named_path,
        ),
    ] = None,
    socket: SocketOption = None,
    settings: SettingsFile = None,
    assignments: Annotated[
        Optional[list[str]], option("--set", "KEY=VALUE", "One setting, as pool_window=1GiB.")
    ] = None,
    form: FormatOption = Format.TEXT,
) -> None:
    """Starts a daemon and prints the shell commands that make programs use it."""
    request = StartRequest(
        paths=tuple(paths or ()),
        socket=socket,
        settings_file=settings,
        overrides=overrides_of(assignments),
    )
    started = start_pool(request, real_world())
    for warning in started.warnings:
        print(f"forebay: warning: {warning}", file=sys.stderr)
    if form is Format.JSON:
        print(json_pretty({"schema": "forebay.pool.start/1", **plain(started)}))
        return
    for line in _shell_lines(started):
        print(line)


def _shell_lines(started: Started) -> Iterator[str]:
    """Lines that any shell can `eval`. On a terminal, names are escaped so that they cannot control
    it."""
    paths = " ".join(printable_name(path) for path in started.paths)
    yield f"# forebayd, process {started.process}: {paths}"
    for name, value in started.variables.items():
        word = shell_words([value]) if sys.stdout.isatty() else shlex.quote(value)
        yield f"export {name}={word}"


def status(
    socket: SocketOption = None,
    watch: Annotated[
        bool, option("--watch -w", None, "A screen of it; else one line an interval, until Ctrl-C.")
    ] = False,
    interval: Annotated[
        float,
        option(
            "--interval", "SECONDS", "With --watch: time between two looks.", min=0.1, max=3600.0
        ),
    ] = 1.0,
    all_: Annotated[
        bool, option("--all", None, "All your daemons on this node; in JSON one a line.")
    ] = False,
    all_nodes: Annotated[
        bool, option("--all-nodes", None, "All your daemons on all nodes of the job.")
    ] = False,
    form: Annotated[
        StatusFormat,
        typer.Option(
            "--format",
            help="text for people, json for programs, openmetrics and prometheus for monitoring.",
        ),
    ] = StatusFormat.TEXT,
    output: Annotated[
        Optional[Path],
        option("-o --output", "FILE", "Put the metrics there, all at once.", parser=named_path),
    ] = None,
) -> None:
    """Shows a daemon's status; if none listens at the usual place, that of all the user's."""
    if form in _DIALECTS:
        _export(_DIALECTS[form], socket, output, watch=watch)
    elif output is not None:
        raise UsageError(
            "cannot use --output (it is for metrics). Say --format prometheus, or redirect the "
            "output by the shell."
        )
    elif all_ or all_nodes:
        if socket is not None or watch:
            raise UsageError(
                "cannot use --socket or --watch here (--all and --all-nodes show what there is, "
                "once). Leave them out."
            )
        _show_all(Format(form.value), everywhere=all_nodes)
    else:
        _show_status(socket, Format(form.value), interval if watch else None)


def _export(
    dialect: Dialect, socket: Optional[Path], output: Optional[Path], *, watch: bool
) -> None:
    """Prints the metrics of a daemon, or of all the user's, or writes them to a file. With no
    daemon there is one metric, which says so: a timer goes on while nobody uses a pool."""
    if watch:
        raise UsageError(
            "cannot use --watch for metrics (who collects them asks again). Leave one of both out."
        )
    found = metrics_text(families_of(_all_status(socket), user=_user()), dialect)
    if output is None:
        print(found, end="")
        return
    try:
        replace_whole(output, found)
    except OSError as error:
        raise refused("metrics", output, error) from error


def _all_status(socket: Optional[Path]) -> Sequence[PoolStatus]:
    world = real_world(anywhere=socket is None or socket.is_absolute())
    if socket is not None:
        return [reached(socket_of(socket, world), world).status()]
    usual = socket_of(None, world)
    found = []
    for place in dict.fromkeys((usual, *(one.socket for one in world.pools.running()))):
        with contextlib.suppress(PoolError):  # it has ended, or there was none at the usual place
            found.append(world.pools.connect(place).status())
    return list({one.process: one for one in found}.values())


def _user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def _show_status(socket: Optional[Path], form: Format, interval: Optional[float]) -> None:
    """`interval`: of --watch; None without it."""
    places = _places(socket)
    if len(places) > 1 and interval is None and form is Format.TEXT:
        for one, now in _statuses(places):
            print(_status_text(now, one))
        return
    place, session = _session(places[0] if len(places) == 1 else socket)
    if interval is None:
        now = session.status()
        print(json_pretty(_status_json(now)) if form is Format.JSON else _status_text(now, place))
        return
    try:
        _watch(session, place, form, interval)
    except KeyboardInterrupt:
        return
    except PoolError:
        print(f"the daemon at {printable_name(place)} has ended", file=sys.stderr)


def _statuses(places: Sequence[Path]) -> Iterator[tuple[Path, PoolStatus]]:
    """Those that are still there."""
    for one in places:
        with contextlib.suppress(PoolError):  # the daemon has ended since it was listed
            yield one, reached(one, real_world(anywhere=True)).status()


def _show_all(form: Format, *, everywhere: bool) -> None:
    world = real_world()
    if everywhere:
        from forebay.pool.files.job_status import job_statuses

        effective = effective_settings(
            world.settings, file=None, environment=dict(world.environment)
        )
        plan = plan_nodes(effective, None, world)
        statuses = job_statuses(plan, world.processes, world.environment)
        found = [(Path(one.host), one) for one in statuses]
    else:
        running = [one.socket for one in world.pools.running()]
        found = list(_statuses(running))
    for place, now in found:
        is_json = form is Format.JSON
        text = _status_text(now, place)
        print(json_line(_status_json(now)) if is_json else text, flush=True)
    if not found and form is Format.TEXT:
        where = "any node of the job" if everywhere else "this node"
        print(f"no daemon of yours runs on {where}")


def _watch(session: PoolSession, place: Path, form: Format, interval: float) -> None:
    """Shows the status again and again, until a key or Ctrl-C ends it. Raises PoolError when the
    daemon has ended."""
    if form is Format.TEXT and sys.stdout.isatty():
        _show_screen(session, place, interval)
        return
    history = RateHistory()
    while True:
        now = session.status()
        history.add(now, time.monotonic())
        is_json = form is Format.JSON
        print(json_line(_status_json(now)) if is_json else interval_line(now, history), flush=True)
        time.sleep(interval)


def _show_screen(session: PoolSession, place: Path, interval: float) -> None:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console()
    history, order = RateHistory(), FileOrder.LAG
    with terminal_keys() as keys, Live(console=console, screen=True, auto_refresh=False) as live:
        while True:
            now = session.status()
            history.add(now, time.monotonic())
            until = time.monotonic() + interval
            while True:
                width, height = console.size
                is_ascii = console.options.ascii_only
                screen = Screen(width=width, height=height, is_ascii=is_ascii)
                lines = screen_lines(now, str(place), history, order, screen)
                live.update(Text("\n".join(lines), no_wrap=True), refresh=True)
                key = keys.next(max(0.0, until - time.monotonic()))
                if key in _QUIT_KEYS:
                    return
                order = order.following if key in _SORT_KEYS else order
                if time.monotonic() >= until:
                    break


def _status_text(now: PoolStatus, place: Path) -> str:
    return "\n".join(status_lines(now, str(place)))


def _status_json(now: PoolStatus) -> Any:
    """The status in the schema forebay.pool/1, with values that are derived from it."""
    files = [file_as_json(file) for file in now.files]
    return {"schema": "forebay.pool/1", **plain(now), "files": files}


def drain(socket: SocketOption = None, form: FormatOption = Format.TEXT) -> None:
    """Waits until all deposits are on the file system."""
    _, session = _session(socket)
    begin = time.monotonic()
    drained = drain_pool(session, DrainProgress())
    if form is Format.JSON:
        print(json_pretty(_drained_json(drained)))
    else:
        seconds = human_seconds(time.monotonic() - begin)
        print("\n".join(_drained_lines(drained, seconds)))
    if drained.error:
        raise typer.Exit(EX_IOERR)


def _drained_json(drained: Drained) -> Any:
    return {
        "schema": "forebay.pool.drain/1",
        "error": drained.error,
        "failed": [file_as_json(file) for file in drained.failed],
        "taken": drained.status.taken,
        "outstanding": drained.status.outstanding,
    }


def _drained_lines(drained: Drained, seconds: str) -> Iterator[str]:
    if not drained.error:
        yield f"drained in {seconds} s: {human_bytes(drained.status.taken)} since the pool began"
        return
    for file in drained.failed:
        left = human_bytes(file.outstanding)
        yield f"NOT DRAINED: {left} of {printable_name(file.path)} ({printable(file.error_text)})"
    yield "The pool keeps these bytes and tries again. Mend what is wrong, then drain once more."


def stop(
    socket: SocketOption = None,
    unset: Annotated[
        bool,
        option("--unset", None, "Print the shell's lines that take the pool's variables out."),
    ] = False,
    verbose: Annotated[
        bool, option("--verbose -v", None, "Explain the columns of the table, too.")
    ] = False,
    record: Annotated[
        Optional[Path],
        option(
            "--record",
            "FILE",
            "Append to this record (JSON Lines) what went through the pool.",
            parser=named_path,
        ),
    ] = None,
    form: FormatOption = Format.TEXT,
) -> None:
    """Drains the pool and ends the daemon."""
    if unset:
        print("\n".join(lines_to_forget(os.environ)), flush=True)
    end = _stopped(socket, unset=unset)
    if end is None:
        return
    if record is not None:
        _append_end(record, end)
    send_messages(messages_of(end))
    if form is Format.JSON:
        document = {"schema": "forebay.pool.stop/1", **end_as_json(end)}
        print(json_pretty(document), file=sys.stderr if unset else sys.stdout)
    else:
        if end.status is not None:
            lines = [stopped_verdict(end)]
            lines.append(headline(end.status, end, since="being told to stop"))
            lines += files_of(end.status.files, with_legend=verbose)
            print("\n".join(lines), file=sys.stderr if unset else sys.stdout)
        for line in end_lines(end):
            print(line, file=sys.stderr)
        if not unset and os.environ.get(SOCKET_VARIABLE):
            print(_STILL_SET, file=sys.stderr)
    if end.exit_status:
        raise typer.Exit(end.exit_status)


def _append_end(record: Path, end: PoolEnd) -> None:
    """Appends the end to the record. A record that cannot be written is told of, and does not
    change the exit status, which says what became of files."""
    try:
        RecordFiles().append(record, run_of_pool(end, os.environ))
    except RecordError as error:
        print(f"forebay: {error}", file=sys.stderr)


def _stopped(socket: Optional[Path], *, unset: bool) -> Optional[PoolEnd]:
    """How the daemon ended: now, or before, if a signal told it to. None if there is none and that
    is no error, since the shell only has to forget it."""
    session = None
    try:
        _, session = _session(socket)
        return stop_pool(session, DrainProgress())
    except PoolError as error:
        world = real_world(anywhere=socket is None or socket.is_absolute())
        end = world.pools.end_by_signal(socket_of(socket, world))
        if end is not None:
            print("The daemon has ended before: a signal told it to.", file=sys.stderr)
            return end
        if session is not None or not unset:
            raise
        print(f"forebay: {error}", file=sys.stderr)
        return None


def rescue_(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="Rescue files, or folders with such files.", parser=named_path
        ),
    ],
    into: Annotated[Optional[Path], option("--into", "FILE", "Write to this file instead.")] = None,
    force: Annotated[
        bool, option("--force", None, "Also where the file has changed, or is another one.")
    ] = False,
    dry_run: Annotated[
        bool, option("--dry-run -n", None, "Check everything and write nothing.")
    ] = False,
    form: FormatOption = Format.TEXT,
) -> None:
    """Writes rescued bytes to their files."""
    request = RescueRequest(paths=tuple(paths), into=into, force=force, dry_run=dry_run)
    outcomes = rescue(request, RescueFiles())
    if form is Format.JSON:
        body = {"dry_run": dry_run, "files": plain(outcomes)}
        print(json_pretty({"schema": "forebay.pool.rescue/1", **body}))
    else:
        for one in outcomes:
            _print_applied(one, dry_run=dry_run)
    if any(one.problem for one in outcomes):
        raise typer.Exit(EX_IOERR)


def _print_applied(one: RescueOutcome, *, dry_run: bool) -> None:
    what = f"{human_bytes(one.written)} to {printable_name(one.target)}"
    if one.written or not one.problem:
        print(f"would write {what}" if dry_run else f"wrote {what}")
    if one.problem:
        kept = f"kept {printable_name(str(one.file))} ({printable(one.problem)})"
        print(f"forebay: {kept if one.target else printable(one.problem)}", file=sys.stderr)


def _places(socket: Optional[Path]) -> Sequence[Path]:
    """The sockets to ask: the given one, else the usual one, else those of all running daemons."""
    world = real_world(anywhere=True)
    if socket is not None:
        return (socket,)
    usual = socket_of(None, world)
    try:
        world.pools.connect(usual)
    except PoolError:
        return [one.socket for one in running_elsewhere(usual, world)]
    return (usual,)


def _session(socket: Optional[Path]) -> tuple[Path, PoolSession]:
    world = real_world(anywhere=socket is None or socket.is_absolute())
    place = socket_of(socket, world)
    return place, reached(place, world)


def attach(app: typer.Typer) -> None:
    """Adds `pool` with its subcommands to `app`."""
    group = typer.Typer(help=HELP, no_args_is_help=True, rich_markup_mode=None)
    group.command("start", help=START_HELP, short_help="Start a daemon for several steps.")(start)
    group.command(
        "status", help=STATUS_HELP, short_help="Show what the pool holds, and how fast it drains."
    )(status)
    group.command("drain", help=DRAIN_HELP, short_help="Wait until all is written.")(drain)
    group.command("stop", help=STOP_HELP, short_help="Drain, and end the daemon.")(stop)
    group.command("rescue", help=RESCUE_HELP, short_help="Write what did not arrive.")(rescue_)
    app.add_typer(
        group,
        name="pool",
        short_help=SHORT_HELP,
    )
