// Options common to forebay-hpio and forebay-meta.
#pragma once

#include "benchmarks/command_line/limits.hpp"

#include <string>
#include <vector>

namespace forebay::command_line {

// The default limits, for the help; they equal the initial values of RunOptions.
inline constexpr LimitDefaults run_limits{.free_share = "50%", .stall = "600s"};

struct RunOptions {
    bool dry_run = false;
    bool help = false;
    bool version = false;
    std::string json_file;
    std::string csv_file;
    RunLimits limits{.budget = {.seconds = {}, .bytes = {}, .files = {}, .free_share = 0.5},
                     .stall_seconds = 600};
    bool live = true;
    // On options whose meaning differs from the original program's.
    std::vector<std::string> advice;
};

}  // namespace forebay::command_line
