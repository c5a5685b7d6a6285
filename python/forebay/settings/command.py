"""`forebay settings`: parses the command line, reads the settings, prints them."""

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any, Optional

import typer
from rich.console import Console
from rich.text import Text

from forebay.common.model.output_format import Format
from forebay.common.model.printable import printable
from forebay.common.model.units import exact_bytes
from forebay.common.options import FormatOption, SettingsFile, option
from forebay.common.report.output import json_pretty, plain
from forebay.settings import SHORT_HELP
from forebay.settings.files.source import SettingsFiles
from forebay.settings.model.filters import Product, about
from forebay.settings.model.table import EffectiveSetting, Origin, SettingKind
from forebay.settings.model.words import words_of
from forebay.settings.report import origin_lines
from forebay.settings.use_case import FOLDERS_SETTING, folder_settings, resolved_settings

HELP = """List all settings: value, default, range, how to set them, what they do.

A value comes from the default, then the site's file (/etc/forebay/settings.toml), then a TOML file
of yours, then FOREBAY_* variables, then `run --set`, then the program's own MPI_Info hints (ROMIO's
names where the meaning is the same); later ones win. The value shown is what a run from here would
start with. A setting that the site has locked keeps the site's value.

\b
Examples:
  forebay settings
  forebay settings pool_cap pool_window       these two only
  forebay settings --origin                   where each value comes from, and what is locked
  forebay settings --for pool                 those of the pool; mpi-io: those of collective calls
  forebay settings --about journal            those that say something about journals
  forebay settings --settings site.toml       check a file, and show what it changes
  forebay settings --format json

\b
A settings file is a flat table of these names, or of the MPI_Info names beside them:
  cb_nodes = 4
  cb_buffer_size = "16 MiB"
  exclude = ["/tmp", "/home"]
The site's file may have a list of settings that users cannot change, too:
  locked = ["cb_nodes"]

\b
Exit status:
  0  listed
  2  the file, a NAME or a FOREBAY_* variable is wrong: the message has line, key, nearest valid
     key; or no setting is about the words of --about

Uncommon words of the list are explained below it.
"""


def settings(
    names: Annotated[
        Optional[list[str]],
        typer.Argument(metavar="[NAME]...", help="These only; as FOREBAY_… or MPI_Info key, too."),
    ] = None,
    file: SettingsFile = None,
    origin: Annotated[
        bool, option("--origin", None, "Values only: where each comes from, and what is locked.")
    ] = False,
    words: Annotated[
        Optional[list[str]],
        option("--about", "WORD", "Only those that have this word in name or description."),
    ] = None,
    product: Annotated[
        Optional[Product],
        option("--for", "<pool|mpi-io>", "Only those for the pool, or for MPI-IO."),
    ] = None,
    form: FormatOption = Format.TEXT,
) -> None:
    """Lists the settings."""
    source = SettingsFiles()
    found = resolved_settings(source, file=file, environment=dict(os.environ))
    listed, folders = found.values, tuple(folder_settings(found.values))
    if names:
        wanted = {source.table().named(name).name for name in names}
        listed = tuple(one for one in listed if one.setting.name in wanted)
        folders = tuple(one for one in folders if wanted & {one.name, FOLDERS_SETTING})
    listed = about(listed, words=words or (), product=product)
    if words or product:
        kept = {one.setting.name for one in listed}
        folders = tuple(one for one in folders if kept & {one.name, FOLDERS_SETTING})
    for warning in found.warnings:
        print(f"forebay: warning: {printable(warning)}", file=sys.stderr)
    if form is Format.JSON:
        document = {"schema": "forebay.settings-list/1", "settings": _as_json(listed)}
        print(json_pretty({**document, "folders": plain(folders)}))
    elif origin:
        print("\n".join(origin_lines(listed, folders)))
    else:
        _print(listed)


def _as_json(listed: Sequence[EffectiveSetting]) -> Any:
    return [
        {
            **one.as_json(),
            "kind": one.setting.kind.value,
            "default": one.setting.default,
            "minimum": one.setting.minimum if _is_number(one) else None,
            "maximum": one.setting.maximum if _is_number(one) else None,
            "choices": list(one.setting.choices),
            "variable": one.setting.variable,
            "hints": list(one.setting.hints),
            "doc": one.setting.doc,
        }
        for one in listed
    ]


def _is_number(one: EffectiveSetting) -> bool:
    return one.setting.kind in {SettingKind.INTEGER, SettingKind.BYTES}


def _range(one: EffectiveSetting) -> str:
    if one.setting.kind is SettingKind.ENUM:
        return " | ".join(one.setting.choices)
    if one.setting.kind is SettingKind.BYTES:
        return f"{exact_bytes(one.setting.minimum)} … {exact_bytes(one.setting.maximum)}"
    if one.setting.kind is SettingKind.INTEGER:
        return f"{one.setting.minimum} … {one.setting.maximum}"
    return {SettingKind.BOOL: "true | false", SettingKind.STRINGS: "a, b, …"}.get(
        one.setting.kind, "text"
    )


def _print(listed: Sequence[EffectiveSetting]) -> None:
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    for one in listed:
        value = printable(one.setting.shown(one.value)) or '""'
        origin = "" if one.origin is Origin.DEFAULT else f" (from {one.origin.value})"
        default = one.setting.shown(one.setting.default) or '""'
        was = "" if one.origin is Origin.DEFAULT else f", default {default}"
        console.print(
            Text.assemble((one.setting.name, "bold"), f" = {value}{origin}   [{_range(one)}{was}]")
        )
        console.print(Text(f"    {one.setting.doc}"))
        if one.lock:
            console.print(Text(f"    locked by {printable(one.lock)}"))
        console.print(
            Text(f"    {one.setting.variable}; MPI_Info: {', '.join(one.setting.hints)}", "dim")
        )

    meanings = words_of(one.setting for one in listed)
    if meanings:
        console.print("\nWords:")
        widest = max(len(word) for word, _ in meanings)
        for word, meaning in meanings:
            console.print(Text(f"  {word:<{widest}}  {meaning}"))


def attach(app: typer.Typer) -> None:
    """Adds the subcommand `settings` to `app`."""
    app.command("settings", help=HELP, short_help=SHORT_HELP)(settings)
