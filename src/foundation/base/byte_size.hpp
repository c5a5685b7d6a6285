// The one grammar of sizes: settings, benchmarks, platforms; the Python package has it in
// domain/units.py. schema/examples/sizes.tsv has examples that both languages' tests read.
#pragma once

#include "foundation/base/result.hpp"

#include <cstdint>
#include <string_view>

namespace forebay {

// Spellings allowed behind the first letter of a unit.
enum class UnitSpelling {
    exact,         // "4k", "4kB", "4Ki", "4KiB"
    first_letter,  // any letters, and a sign before the number, as IOR takes them: "256gm", "-1"
};

// A number and k, m, g, t, p or e for 2^10 … 2^60, in either case; also "b" or nothing for bytes.
// A fraction must come to whole bytes. Blanks around and before the unit do not count.
// ErrorCode::argument: not a size, or not below 2^63.
[[nodiscard]] Result<std::int64_t> parse_size(std::string_view text,
                                              UnitSpelling spelling = UnitSpelling::exact);

// The same before "/s", in bytes a second, with one difference: as makers of links and disks write
// rates, k, M, G … are powers of 1000 there, and Ki, Mi, Gi … of 1024.
[[nodiscard]] Result<double> parse_rate(std::string_view text);

}  // namespace forebay
