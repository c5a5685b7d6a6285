"""Columns of plain text. A table library would delay the start of a program that is run."""

from collections.abc import Sequence, Set

from forebay.common.model.newer_python import zip_of


def aligned(rows: Sequence[Sequence[str]], *, left: Set[int], indent: str = "") -> list[str]:
    """Lines with columns two blanks apart; columns in `left` are left-aligned, others right."""
    widths = [max(map(len, column)) for column in zip_of(*rows, strict=True)]
    return [
        indent
        + "  ".join(
            cell.ljust(width) if at in left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip_of(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
