#!/usr/bin/env python3
"""Turns include/forebay_output.f90.in into forebay_output.f90: fbo_write and fbo_read for each kind
and rank of arrays, which Fortran 2008 wants written out."""

import argparse
from pathlib import Path

KINDS = {
    "int32": "integer(int32)",
    "int64": "integer(int64)",
    "real32": "real(real32)",
    "real64": "real(real64)",
}
RANKS = range(1, 7)
NOTE = "! Made by tools/generate_output_module.py from include/forebay_output.f90.in.\n"

_WRITE = """
    subroutine write_{kind}_{rank}(variable, array, ierr)
        integer, intent(in) :: variable
        {declared}, intent(in), target, contiguous :: array({colons})
        integer, intent(out) :: ierr
        type(c_ptr) :: address
        address = c_null_ptr
        if (size(array) > 0) address = c_loc(array)
        ierr = c_write(variable, FBO_{upper}, size(array, kind=int64), address)
    end subroutine
"""
_READ = """
    subroutine read_{kind}_{rank}(variable, step, array, ierr)
        integer, intent(in) :: variable, step
        {declared}, intent(inout), target, contiguous :: array({colons})
        integer, intent(out) :: ierr
        type(c_ptr) :: address
        address = c_null_ptr
        if (size(array) > 0) address = c_loc(array)
        ierr = c_read(variable, step - 1_int64, FBO_{upper}, size(array, kind=int64), address)
    end subroutine
"""


def interface(verb: str) -> str:
    """The lines of a generic interface, one for each kind."""
    return "\n".join(
        f"        module procedure {', '.join(f'{verb}_{kind}_{rank}' for rank in RANKS)}"
        for kind in KINDS
    )


def procedures() -> str:
    """The procedures of both generic interfaces."""
    return "".join(
        template.format(
            kind=kind,
            rank=rank,
            declared=declared,
            upper=kind.upper(),
            colons=", ".join(":" * rank),
        )
        for template in (_WRITE, _READ)
        for kind, declared in KINDS.items()
        for rank in RANKS
    )


def module_of(template: str) -> str:
    """The module's source."""
    made = {
        "@write_interface@": interface("write"),
        "@read_interface@": interface("read"),
        "@procedures@": procedures(),
    }
    for mark, text in made.items():
        template = template.replace(mark, text)
    return NOTE + template


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("template", type=Path)
    parser.add_argument("target", type=Path)
    words = parser.parse_args()
    words.target.parent.mkdir(parents=True, exist_ok=True)
    words.target.write_text(module_of(words.template.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
