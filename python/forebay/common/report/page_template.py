"""Fills jinja2 templates, which lie beside the modules that use them. Base templates lie here."""

from pathlib import Path

from forebay.common.files.origin import origin_text
from forebay.common.model.moments import moment_text

_BASES = Path(__file__).parent


def filled(template: Path, **values: object) -> str:
    """The filled template, which says where and when it was filled. jinja2 is imported here, since
    commands without pages do not need it."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader([template.parent, _BASES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["moment"] = moment_text
    return environment.get_template(template.name).render(origin=origin_text(), **values)
