// The options that users give to srun, sbatch and salloc, and the variables of a step's environment
// that concern Forebay.
#pragma once

#include "foundation/base/result.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::slurm {

// The value of --forebay: the paths of "pool:PATH[,PATH...]", none for "off".
[[nodiscard]] Result<std::vector<std::string>> pooled_paths(std::string_view value);

// An argument of the plugin's line in plugstack.conf.
struct SiteOptions {
    std::string command;  // the program forebay; empty: the one that was installed with the plugin
};
[[nodiscard]] Result<SiteOptions> site_options(std::span<char* const> words);

// The value of a variable in an environment of NAME=VALUE.
[[nodiscard]] std::optional<std::string> value_in(std::span<const std::string> environment,
                                                  std::string_view name);

// The environment of `forebay run` in a step: that of the step's tasks, without the variables by
// which it would take itself for one of several tasks, and without our own options, so that steps
// which it starts (squeue starts none, a pool_starter might) have no pools.
[[nodiscard]] std::vector<std::string> command_environment(
    std::span<const std::string> environment);

// Whether `forebay run` sets this variable (as NAME=VALUE) for the sake of its program.
[[nodiscard]] bool concerns_tasks(std::string_view assignment) noexcept;

}  // namespace forebay::slurm
