// Checks that the values of keys (schema/simulator.toml) are consistent with each other.
#include "worlds/simulate/pool_options.hpp"

#include "pool/protocol/limits.hpp"
#include "simulate/pool_keys.hpp"
#include "worlds/simulate/key_value_options.hpp"

#include <fmt/format.h>

namespace forebay::sim {

namespace {

Result<void> check_ranks(const PoolExperiment& experiment) {
    constexpr std::int64_t ranks_max = 65536;
    constexpr std::int64_t nodes_max = 1024;  // each has a directory
    const adapters::NodePlatform& node = experiment.platform.node;
    const std::int64_t ranks = ranks_of(experiment);
    const auto clients_max = static_cast<std::int64_t>(pool::clients_max);
    if (ranks > ranks_max || node.count > nodes_max || node.ranks > clients_max) {
        return refuse(fmt::format("nodes={} ranks_per_node={}", node.count, node.ranks),
                      fmt::format("there may be {} ranks on {} nodes, {} on each", ranks_max,
                                  nodes_max, clients_max));
    }
    if (experiment.writers > ranks) {
        return refuse(fmt::format("writers={}", experiment.writers),
                      fmt::format("there are {} ranks", ranks));
    }
    return {};
}

Result<void> check_input(const PoolExperiment& experiment) {
    return experiment.input_bytes % static_cast<std::int64_t>(pool::block_bytes) == 0
               ? Result<void>{}
               : refuse(fmt::format("input_bytes={}", experiment.input_bytes),
                        "it must be a multiple of 1 MiB");
}

Result<void> check_files(const PoolExperiment& experiment) {
    constexpr std::int64_t files_max = 1'000'000;
    constexpr double deposits_max = 64e6;  // of 1 MiB each: their extents are real
    const std::int64_t writers = writers_of(experiment);
    const std::int64_t files =
        writers * experiment.files * (experiment.new_files ? experiment.steps : 1);
    if (files > files_max) {
        return refuse(fmt::format("files={}", experiment.files),
                      fmt::format("there would be {} of {} writers; {} are the most", files,
                                  writers, files_max));
    }
    const double bytes =
        static_cast<double>(experiment.burst_bytes) * static_cast<double>(experiment.steps);
    if (bytes > deposits_max * static_cast<double>(pool::block_bytes)) {
        return refuse(
            fmt::format("burst_bytes={} steps={}", experiment.burst_bytes, experiment.steps),
            "together they may be 64 TB at most");
    }
    if (experiment.burst_bytes < writers * experiment.files) {
        return refuse(fmt::format("burst_bytes={}", experiment.burst_bytes),
                      fmt::format("each of {} writers writes at least a byte to each of {} files",
                                  writers, experiment.files));
    }
    return {};
}

}  // namespace

std::string pool_help() {
    const std::string text =
        "forebay_sim pool platform=FILE [KEY=VALUE]...\n"
        "Simulates a program that computes and puts out, without and with the pool, and prints\n"
        "how long it waits as JSON; `forebay simulate --pool` shows it.\n\n";
    return text + listed(platform_words()) + listed(pool_keys());
}

Result<PoolExperiment> parse_pool_options(const std::vector<std::string>& words) {
    PoolExperiment usual;
    usual.pool.cap_bytes = static_cast<std::int64_t>(8 * gibibyte);
    return checked<PoolExperiment>(read_keys(words, usual, pool_keys()),
                                   {check_ranks, check_input, check_files});
}

}  // namespace forebay::sim
