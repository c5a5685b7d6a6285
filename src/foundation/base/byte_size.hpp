// The grammar of sizes ("4MiB") in settings, benchmark options and platform files. The Python
// package has a parser of the same grammar in domain/units.py; the tests of both languages read the
// examples in schema/examples/sizes.tsv.
#pragma once

#include "foundation/base/result.hpp"

#include <cstdint>
#include <string_view>

namespace forebay {

// Which letters may follow the first letter of a unit.
enum class UnitSpelling {
    exact,         // "4k", "4kB", "4Ki", "4KiB"
    first_letter,  // any letters; also a sign before the number, as in IOR: "256gm", "-1"
};

// Parses a number followed by k, m, g, t, p or e (2^10 … 2^60, in either case), or by "b" or
// nothing for bytes. A fraction must come to whole bytes. Blanks before and after the unit are
// ignored. ErrorCode::argument: the text is not a size, or the size is not below 2^63.
[[nodiscard]] Result<std::int64_t> parse_size(std::string_view text,
                                              UnitSpelling spelling = UnitSpelling::exact);

// Parses a size followed by "/s", in bytes per second. Unlike in sizes, k, M, G … are powers of
// 1000 (the unit of network and disk data sheets); Ki, Mi, Gi … are powers of 1024.
[[nodiscard]] Result<double> parse_rate(std::string_view text);

}  // namespace forebay
