"""Advice as JSON: written by `forebay advise -o`, read by `forebay apply` and `forebay verify`."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from forebay.common.files.safe_files import read_to_apply, write_named
from forebay.common.model.errors import ProbeError, reason_of
from forebay_tuning.advise.model.advice import Advice, Item, Lever, Settings
from forebay_tuning.model.evidence import Workload, checked
from forebay_tuning.model.point import Direction, Point

SCHEMA = "forebay.advice/1"


def advice_document(advice: tuple[Advice, ...]) -> Any:
    """The advice in the schema forebay.advice/1, with one member per direction."""
    return {
        "schema": SCHEMA,
        "advice": [{**asdict(one), "keep": one.keeps and not one.held_back} for one in advice],
    }


def write_advice(advice: tuple[Advice, ...], path: Path) -> None:
    """Writes the advice. Raises ProbeError if that fails."""
    try:
        text = json.dumps(advice_document(advice), ensure_ascii=False, indent=2)
        write_named(path, text + "\n")
    except OSError as error:
        raise ProbeError(
            f"cannot write the advice {path} ({error.strerror}). Give another file by -o."
        ) from error


def read_advice(path: Path) -> tuple[Advice, ...]:
    """Reads advice. Raises ProbeError if the file has none, or is of another version."""
    try:
        document = json.loads(read_to_apply(path).decode("utf-8"))
        if not isinstance(document, dict) or document.get("schema") != SCHEMA:
            raise ProbeError(
                f"cannot use the advice {path} (it is not of the schema {SCHEMA!r}). Make it anew: "
                "forebay advise -o FILE."
            )
        found = tuple(_advice(one) for one in document["advice"])
    except (OSError, UnicodeDecodeError) as error:
        raise ProbeError(
            f"cannot read the advice {path} ({reason_of(error)}). Make it: forebay advise -o FILE."
        ) from error
    except json.JSONDecodeError as error:
        raise ProbeError(
            f"cannot use the advice {path} (it is not JSON: {error}). Name what `forebay advise "
            "-o FILE` has written."
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise ProbeError(
            f"cannot use the advice {path} ({type(error).__name__}: {error}). Was it changed by "
            "hand? Make it anew: forebay advise -o FILE."
        ) from error
    if not found:
        raise ProbeError(f"there is no advice in {path} (its list is empty). Make it anew.")
    return found


def _advice(line: dict[str, Any]) -> Advice:
    own = {name: value for name, value in line.items() if name != "keep"}
    workload = dict(own["workload"])
    workload["direction"] = Direction(workload["direction"])
    now = own.get("now")
    return Advice(
        **{
            **own,
            "workload": checked(Workload(**workload)),
            "settings": Settings(**own["settings"]),
            "items": tuple(_item(one) for one in own["items"]),
            "reasons": tuple(own["reasons"]),
            "rivals": tuple(own["rivals"]),
            "notes": tuple(own["notes"]),
            "now": None if now is None else Point(**now),
        }
    )


def _item(line: dict[str, Any]) -> Item:
    return Item(**{**line, "lever": Lever(line["lever"]), "reasons": tuple(line["reasons"])})
