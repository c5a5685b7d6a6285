"""Reads a site's own rules from TOML, a [[rule]] each; docs/tuning.md describes them."""

from pathlib import Path

from forebay.common.files.toml_file import read_toml
from forebay.common.model.errors import SettingsError
from forebay_tuning.advise.model.rules import Rule, rule

_KEYS = {"name", "source", "prior", "when", "then"}


def read_rules(path: Path) -> tuple[Rule, ...]:
    """The rules in a file. Raises SettingsError if it cannot be read, or a rule is malformed."""
    document = read_toml(path, SettingsError, what="rules", remedy="docs/tuning.md has an example.")
    tables = document.get("rule")
    if not isinstance(tables, list) or not tables:
        raise SettingsError(
            f"there are no rules in {path} (it has no [[rule]]). docs/tuning.md has an example."
        )
    found = []
    for table in tables:
        strangers = sorted(set(table) - _KEYS)
        if strangers or "name" not in table or "then" not in table:
            what = f'"{strangers[0]}" is no key' if strangers else "name or then is missing"
            raise SettingsError(
                f"cannot use a rule of {path} ({what}). It has name, source, prior, when, then."
            )
        found.append(
            rule(
                str(table["name"]),
                str(table.get("source", path.name)),
                float(table.get("prior", 0.5)),
                [str(one) for one in table.get("when", ())],
                [str(one) for one in table["then"]],
            )
        )
    return tuple(found)
