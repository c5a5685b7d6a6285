"""Man pages in roff from the pages of pages.py."""

import re
from collections.abc import Iterator, Sequence

from pages import Page

# Parts of a help text that have a section of their own in a manual, after the options.
_SECTIONS = {"Examples": "EXAMPLES", "Exit status": "EXIT STATUS"}


def man_page(page: Page, version: str, others: Sequence[Page]) -> str:
    """The page in section 1."""
    lines = [
        f'.TH {roff(page.name.upper())} 1 "" "forebay {version}" "Forebay"',
        ".nh",
        ".SH NAME",
        f"{roff(page.name)} \\- {roff(page.summary)}",
        ".SH SYNOPSIS",
        ".nf",
        roff(page.usage),
        ".fi",
        ".SH DESCRIPTION",
    ]
    late: dict[str, list[str]] = {}
    for block in re.split(r"\n\s*\n", page.text.strip("\n")):
        section, body = _block(block)
        (late.setdefault(section, []) if section else lines).extend(body)
    lines += _listed("ARGUMENTS", page.arguments)
    if not page.lists_options:
        lines += _listed("OPTIONS", _options(page))
    lines += _listed("COMMANDS", [(one.words[-1], f"{one.summary}.") for one in page.pages])
    for section in _SECTIONS.values():
        if section in late:
            lines += [f".SH {section}", *late[section]]
    seen = ", ".join(f"\\fB{roff(one.name)}\\fR(1)" for one in others if one.name != page.name)
    lines += [".SH SEE ALSO", seen]
    return "\n".join(lines) + "\n"


def _options(page: Page) -> list[tuple[str, str]]:
    """Their two columns."""
    return [
        (", ".join(one.names) + (f" {one.value}" if one.value else ""), one.doc)
        for one in page.options
    ]


def _listed(section: str, rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    if rows:
        yield f".SH {section}"
    for name, doc in rows:
        yield from (".TP", f"\\fB{roff(name)}\\fR", roff(doc) or "\\&")


def _block(block: str) -> tuple[str, list[str]]:
    """(section, lines) of a paragraph, or of lines that keep their breaks. Section "": here."""
    lines = [line for line in block.splitlines() if line.strip() != "\b"]
    if not lines:
        return "", []
    heading, colon, inline = lines[0].partition(":")
    section = _SECTIONS.get(re.sub(r" \(.*\)$", "", heading), "") if colon else ""
    if section and inline.strip():
        return section, [".PP", roff(inline.strip()), *(roff(line) for line in lines[1:])]
    if section:
        return section, _kept(lines[1:])
    if any(line.startswith(" ") for line in lines):
        return "", _kept(lines)
    return "", [".PP", *(roff(line) for line in lines)]


def _kept(lines: Sequence[str]) -> list[str]:
    return [".PP", ".nf", *(roff(line) for line in lines), ".fi"]


def roff(text: str) -> str:
    """Plain text for roff: nothing in it is a request or an escape."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga")
    escaped = escaped.replace("^", "\\(ha").replace("~", "\\(ti")
    return f"\\&{escaped}" if escaped.startswith((".", "'", " ")) else escaped
