"""Text of the templates that lie beside the modules that fill them."""

from pathlib import Path


def filled(template: Path, **values: object) -> str:
    """The template's text. jinja2 is imported here: what draws no page works without it."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(template.parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template.name).render(**values)
