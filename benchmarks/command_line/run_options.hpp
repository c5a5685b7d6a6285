// Run options that forebay-hpio and forebay-meta share.
#pragma once

#include "benchmarks/command_line/limits.hpp"

#include <string>
#include <vector>

namespace forebay::command_line {

// For the help; the same as RunOptions begins with.
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
    std::vector<std::string> advice;  // on options that mean something else here
};

}  // namespace forebay::command_line
