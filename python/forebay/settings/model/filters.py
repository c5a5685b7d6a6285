"""Which settings are listed. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from forebay.common.model.errors import SettingsError
from forebay.common.model.newer_python import StrEnum
from forebay.settings.model.table import EffectiveSetting, Setting

_OF_THE_POOL = "pool_"
_OF_BOTH = frozenset({"record", "verbose"})


class Product(StrEnum):
    """The product that a setting belongs to."""

    POOL = "pool"
    MPI_IO = "mpi-io"


def is_for(setting: Setting, product: Product) -> bool:
    """Whether the setting has something to do with the product."""
    is_pools = setting.name.startswith(_OF_THE_POOL)
    return setting.name in _OF_BOTH or is_pools == (product is Product.POOL)


def about(
    listed: Sequence[EffectiveSetting], *, words: Sequence[str], product: Product | None
) -> tuple[EffectiveSetting, ...]:
    """The settings for the product (None: for any) that have all the words in a name or in the
    description, in whatever case. Raises SettingsError if there is none."""
    found = tuple(
        one
        for one in listed
        if (product is None or is_for(one.setting, product))
        and all(word.lower() in _text_of(one.setting) for word in words)
    )
    if not found:
        named = " and ".join(f'"{word}"' for word in words)
        what = f"no setting is about {named}" if words else "no setting is left"
        where = f" of those for {product}" if product else ""
        raise SettingsError(
            f"{what} (none{where} has it in its names or its description). "
            "`forebay settings` lists all."
        )
    return found


def _text_of(setting: Setting) -> str:
    return " ".join((setting.doc, *setting.names, *setting.choices)).lower()
