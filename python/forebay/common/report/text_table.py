"""Columns of plain text. By hand: a library for it would be imported before a program starts."""

from collections.abc import Sequence, Set


def aligned(rows: Sequence[Sequence[str]], *, left: Set[int], indent: str = "") -> list[str]:
    """Lines with columns two blanks apart; those in `left` begin at the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        indent
        + "  ".join(
            cell.ljust(width) if at in left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
