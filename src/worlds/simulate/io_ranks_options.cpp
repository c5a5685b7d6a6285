// Checks that the values of keys (schema/simulator.toml) are consistent with each other.
#include "worlds/simulate/io_ranks_options.hpp"

#include "pool/protocol/limits.hpp"
#include "simulate/io_ranks_keys.hpp"
#include "worlds/simulate/key_value_options.hpp"

#include <fmt/format.h>
#include <string_view>

namespace forebay::sim {

namespace {

Result<void> take_output_word(const std::string& said, IoRanksExperiment& experiment) {
    constexpr std::string_view variant = "variant=";
    if (!said.starts_with(variant)) {
        return take(said, io_ranks_keys(), experiment);
    }
    return output_variant_of(std::string_view{said}.substr(variant.size()))
        .map([&](OutputVariant found) { experiment.variant = found; });
}

// The pool's directories bound nodes and ranks; the other variants are held to the same.
Result<void> check_job(const IoRanksExperiment& experiment) {
    constexpr std::int64_t ranks_max = 65536;
    constexpr std::int64_t nodes_max = 1024;
    const adapters::NodePlatform& node = experiment.platform.node;
    const auto clients_max = static_cast<std::int64_t>(pool::clients_max);
    const std::int64_t cores = node.count * node.ranks;
    if (cores > ranks_max || node.count > nodes_max || node.ranks > clients_max) {
        return refuse(fmt::format("nodes={} ranks_per_node={}", node.count, node.ranks),
                      fmt::format("there may be {} ranks on {} nodes, {} on each", ranks_max,
                                  nodes_max, clients_max));
    }
    const std::int64_t ranks = ranks_of(experiment);
    if (ranks < 1 || nodes_of(experiment) > node.count) {
        return refuse(fmt::format("ranks={} io_ranks={}", experiment.ranks, experiment.io_ranks),
                      fmt::format("{} nodes have {} cores", node.count, cores));
    }
    if (experiment.writers_per_node > node.ranks) {
        return refuse(fmt::format("writers_per_node={}", experiment.writers_per_node),
                      fmt::format("a node has {} ranks", node.ranks));
    }
    if (experiment.levels < 1) {
        return refuse("levels=0", "the output API transposes at least one");
    }
    return {};
}

Result<void> check_roles(const IoRanksExperiment& experiment) {
    if (experiment.variant != OutputVariant::io_ranks) {
        return {};
    }
    const io_ranks::ShapeFault fault = io_ranks::fault_of(shape_of(experiment));
    return fault == io_ranks::ShapeFault::none
               ? Result<void>{}
               : refuse(
                     fmt::format("io_ranks={} spread={}", experiment.io_ranks, experiment.spread),
                     io_ranks::text_of(fault));
}

Result<void> check_output(const IoRanksExperiment& experiment) {
    constexpr double bytes_max = 64e12;
    constexpr std::int64_t files_max = 1'000'000;
    const std::int64_t ranks = ranks_of(experiment);
    if (experiment.files > files_max / ranks) {
        return refuse(fmt::format("output_files={}", experiment.files),
                      fmt::format("with {} ranks {} are the most", ranks, files_max / ranks));
    }
    if (experiment.burst_bytes / experiment.files < ranks) {
        return refuse(fmt::format("burst_bytes={}", experiment.burst_bytes),
                      fmt::format("each of {} ranks has at least a byte of each file", ranks));
    }
    const double bytes =
        static_cast<double>(experiment.burst_bytes) * static_cast<double>(experiment.steps);
    return bytes <= bytes_max ? Result<void>{}
                              : refuse(fmt::format("burst_bytes={} steps={}",
                                                   experiment.burst_bytes, experiment.steps),
                                       "together they may be 64 TB at most");
}

}  // namespace

std::string io_ranks_help() {
    const std::string text =
        "forebay_sim io-ranks platform=FILE [variant=NAME] [KEY=VALUE]...\n"
        "Simulates a program that computes and puts out, in one of the ways gather, io-ranks,\n"
        "pool and output, and prints how long it waits as JSON; `forebay simulate --io-ranks`\n"
        "shows it.\n\n";
    return text + listed(platform_words()) + listed(io_ranks_keys());
}

Result<IoRanksExperiment> parse_io_ranks_options(const std::vector<std::string>& words) {
    IoRanksExperiment usual;
    usual.pool.cap_bytes = static_cast<std::int64_t>(8 * gibibyte);
    return checked<IoRanksExperiment>(read_words(words, usual, take_output_word),
                                      {check_job, check_roles, check_output});
}

}  // namespace forebay::sim
