// Limits on how much of a shared file system a benchmark may use, and for how long: the same
// options in all benchmarks.
#pragma once

#include "benchmarks/command_line/options.hpp"
#include "benchmarks/measure/budget.hpp"
#include "foundation/base/result.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace forebay::command_line {

struct Limits {
    measure::Budget budget;
    std::optional<double> stall_seconds;
};

inline constexpr std::array<Option, 5> limit_options{
    Option{0, "budget-time", Takes::value, "end or refuse what takes longer: 90s, 5m, 2h", ""},
    Option{0, "budget-bytes", Takes::value, "refuse to write more", ""},
    Option{0, "budget-files", Takes::value, "refuse to make more files", ""},
    Option{0, "budget-share", Takes::value, "refuse to hold more of the free space: 10%", ""},
    Option{0, "stall-limit", Takes::value, "end the run when one call takes longer", ""},
};

// A program's limits without these options, for its help; empty: no limit.
struct LimitDefaults {
    std::string_view free_share;
    std::string_view stall;
};

[[nodiscard]] constexpr std::array<Option, 5> limit_options_of(LimitDefaults program) noexcept {
    std::array<Option, 5> options = limit_options;
    options[3].initial = program.free_share;
    options[4].initial = program.stall;
    return options;
}

// The value of limit_options[which].
[[nodiscard]] Result<void> put_limit(std::size_t which, const std::string& text, Limits& to);

}  // namespace forebay::command_line
