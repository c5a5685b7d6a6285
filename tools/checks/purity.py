"""Pure layers call no kernel, clock, thread, file or MPI function, by the undefined symbols of
their archives."""

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from checks import binary, layer_table
from checks.binary import Reference
from checks.layer_table import Layers
from checks.report import Finding, Outcome, Place, run

# Functions of libc, libm, libgcc and libstdc++ that pure code may call.
_ALLOWED = re.compile(
    r"^("
    r"(mem|str|wmem)[a-z]+|snprintf|abort|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_|__tls_get_addr"
    r"|(ceil|floor|round|lround|llround|log2?|exp2?|pow|sqrt|fmod|fm(in|ax))f?l?"
    r"|__(u?div|u?mod|popcount|clz|ctz|mul|ashl|ashr|lshr|cmp|ucmp)[a-z]*[dt]i\d?"
    r"|_Unwind_Resume|__gxx_personality_v0|__cxa_[a-z_]+|__dso_handle|DW\.ref\..*"
    r"|operator (new|delete).*"
    r"|(fmt::v9::|(vtable|typeinfo|typeinfo name) for fmt::v9::).*"  # formats values as text
    r"|(vtable|typeinfo|typeinfo name) for (std|__cxxabiv1)::.*"
    r"|std::__throw_\w+\(.*|std::terminate\(\)|std::uncaught_exceptions?\(\)"
    r"|std::(exception|bad_alloc|bad_\w+|logic_error|runtime_error|length_error|out_of_range"
    r"|overflow_error|invalid_argument|domain_error)::.*"
    r"|std::_Rb_tree_.*|std::_Hash_bytes.*|std::__detail::.*|std::__glibcxx_assert_fail.*"
    r"|std::(__cxx11::)?basic_string<char.*|std::locale::.*"
    r"|std::(__cxx11::)?numpunct<char> const& std::use_facet.*"
    r"|std::from_chars.*|std::to_chars.*"
    r"|crypto_(generichash|onetimeauth)"  # hashes of libsodium
    r")$"
)
# Sections of functions inlined from other libraries: the calls of {fmt}'s assertions and floating
# point output are not ours.
_OUTSIDE = re.compile(r"^\.(text|data\.rel\.ro)[\w.]*\._ZN?[KV]?(TV|TI)?N?(3fmt|St)")


def impure(references: Iterable[Reference], known: frozenset[str]) -> Iterator[tuple[str, str]]:
    """(object file, symbol) of all references that a pure layer must not make, each once."""
    seen = {
        (reference.member, reference.symbol)
        for reference in references
        if reference.symbol not in known
        and not reference.symbol.startswith(".")
        and not _OUTSIDE.match(reference.section)
    }
    ordered = sorted(seen)
    names = binary.demangle([symbol for _, symbol in ordered])
    for (member, _), name in zip(ordered, names, strict=True):
        if not _ALLOWED.match(name):
            yield member, name


def archive_findings(layers: Layers, name: str, archives: Path) -> Iterator[Finding]:
    """The findings about one pure layer. Symbols of the layer and of layers that it uses are
    allowed."""
    used = [layers[other] for other in layer_table.closure(layers, name)] + [layers[name]]
    files = [archives / archive for layer in used for archive in layer.archives()]
    known = frozenset(name for file in files if file.exists() for name in binary.defined(file))
    archive = archives / layers[name].archives()[0]
    if not archive.exists():
        return
    for member, symbol in impure(binary.references(archive), known):
        yield Finding(
            f"{archive.name}({member})",
            f"calls {symbol}",
            f"{name} is pure: it computes values from values",
            "Move the call to engine or an adapter, or pass its result in.",
        )


def check(place: Place) -> Outcome:
    """Pure layers call no kernel, clock, thread, file or MPI symbol."""
    layers = layer_table.read(place.root / "layers.toml")
    archives = place.build / "archives"
    pure = [layer.name for layer in layers.values() if layer.pure]
    findings = [finding for name in pure for finding in archive_findings(layers, name, archives)]
    return Outcome(f"pure layers {', '.join(pure)}", findings)


if __name__ == "__main__":
    sys.exit(run(check))
