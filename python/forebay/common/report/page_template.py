"""Fills jinja2 templates, which lie beside the modules that use them. Base templates lie here."""

from pathlib import Path

_BASES = Path(__file__).parent


def filled(template: Path, **values: object) -> str:
    """The filled template. jinja2 is imported here, since commands without pages do not need it."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader([template.parent, _BASES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template.name).render(**values)
