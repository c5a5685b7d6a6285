// Parses the texts of options and of the environment into values.
#include "pool/slurm/step_options.hpp"

#include "foundation/base/printable.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace forebay::slurm {

namespace {

constexpr std::string_view pool_prefix = "pool:";

Error wrong(std::string message) { return {ErrorCode::argument, 0, std::move(message)}; }

bool begins_with_one_of(std::string_view text, std::span<const std::string_view> beginnings) {
    return std::ranges::any_of(beginnings,
                               [&](std::string_view one) { return text.starts_with(one); });
}

}  // namespace

Result<std::vector<std::string>> pooled_paths(std::string_view value) {
    if (value == "off") {
        return std::vector<std::string>{};
    }
    std::vector<std::string> paths;
    if (value.starts_with(pool_prefix)) {
        value.remove_prefix(pool_prefix.size());
        while (!value.empty()) {
            const std::size_t end = std::min(value.find(','), value.size());
            if (end > 0) {
                paths.emplace_back(value.substr(0, end));
            }
            value.remove_prefix(std::min(end + 1, value.size()));
        }
    }
    if (paths.empty()) {
        return failure(wrong(
            "--forebay does not say which folders go through the pool (it takes pool:PATH, several "
            "paths with commas between them, or off). For instance: --forebay=pool:/scratch/me"));
    }
    return paths;
}

Result<SiteOptions> site_options(std::span<char* const> words) {
    constexpr std::string_view name = "forebay=";
    SiteOptions options;
    for (const std::string_view word : words) {
        if (!word.starts_with(name) || !word.substr(name.size()).starts_with('/')) {
            return failure(wrong(fmt::format(
                "{} in plugstack.conf is not understood (the plugin takes forebay=/path/of/forebay "
                "and nothing else). Mend that line.",
                printable_name(word))));
        }
        options.command = word.substr(name.size());
    }
    return options;
}

std::optional<std::string> value_in(std::span<const std::string> environment,
                                    std::string_view name) {
    for (const std::string_view one : environment) {
        if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=') {
            return std::string{one.substr(name.size() + 1)};
        }
    }
    return std::nullopt;
}

std::vector<std::string> command_environment(std::span<const std::string> environment) {
    constexpr std::array<std::string_view, 8> left_out{"SLURM_STEP_NUM_TASKS=",
                                                       "SLURM_PROCID=",
                                                       "PMI_SIZE=",
                                                       "PMI_RANK=",
                                                       "OMPI_COMM_WORLD_SIZE=",
                                                       "OMPI_COMM_WORLD_RANK=",
                                                       "PALS_RANKID=",
                                                       "_SLURM_SPANK_OPTION_forebay_"};
    std::vector<std::string> kept;
    std::ranges::copy_if(environment, std::back_inserter(kept), [&](const std::string& one) {
        return !begins_with_one_of(one, left_out);
    });
    return kept;
}

bool concerns_tasks(std::string_view assignment) noexcept {
    constexpr std::array<std::string_view, 3> ours{"FOREBAY_", "LD_PRELOAD=", "ASAN_OPTIONS="};
    return begins_with_one_of(assignment, ours);
}

}  // namespace forebay::slurm
