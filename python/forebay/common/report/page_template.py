"""Text of the templates that lie beside the modules that fill them. Their bases lie here."""

from pathlib import Path

_BASES = Path(__file__).parent


def filled(template: Path, **values: object) -> str:
    """The template's text. jinja2 is imported here: commands that draw no page work without it."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader([template.parent, _BASES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template.name).render(**values)
