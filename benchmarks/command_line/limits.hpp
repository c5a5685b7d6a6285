// The options, common to all benchmarks, that limit how much of a shared file system a run may use,
// and for how long.
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

struct RunLimits {
    measure::Budget budget;
    std::optional<double> stall_seconds;
};

inline constexpr std::array<CommandOption, 5> limit_options{
    CommandOption{0, "budget-time", OptionArgument::value,
                  "end or refuse what takes longer: 90s, 5m, 2h", ""},
    CommandOption{0, "budget-bytes", OptionArgument::value, "refuse to write more", ""},
    CommandOption{0, "budget-files", OptionArgument::value, "refuse to make more files", ""},
    CommandOption{0, "budget-share", OptionArgument::value,
                  "refuse to hold more of the free space: 10%", ""},
    CommandOption{0, "stall-limit", OptionArgument::value, "end the run when one call takes longer",
                  ""},
};

// A program's default limits, for its help; empty: no limit.
struct LimitDefaults {
    std::string_view free_share;
    std::string_view stall;
};

[[nodiscard]] constexpr std::array<CommandOption, 5> limit_options_of(
    LimitDefaults program) noexcept {
    std::array<CommandOption, 5> options = limit_options;
    options[3].initial = program.free_share;
    options[4].initial = program.stall;
    return options;
}

// Parses the value of limit_options[which].
[[nodiscard]] Result<void> put_limit(std::size_t which, const std::string& text, RunLimits& to);

}  // namespace forebay::command_line
