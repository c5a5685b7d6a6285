// Every key is a row of a table; settings of the pool have their names and bounds in
// schema/settings.toml.
#include "worlds/simulate/pool_options.hpp"

#include "pool/protocol/limits.hpp"
#include "storage/policy/tuning.hpp"
#include "worlds/simulate/key_value_options.hpp"

#include <fmt/format.h>

namespace forebay::sim {

namespace {

using adapters::Bounds;

constexpr double second_ns = 1e9;

// Settings in whole seconds that the pool keeps in nanoseconds.
template <class Place>
Key<PoolExperiment> whole_seconds(const Named& named, const Bounds& bounds, Place place) {
    return {named, "", bounds, [place](PoolExperiment& experiment, double value) {
                place(experiment) = static_cast<std::int64_t>(value * second_ns);
            }};
}

std::vector<Key<PoolExperiment>> program_keys() {
    using E = PoolExperiment;
    constexpr Bounds counts{1, 1e6, true};
    return {
        bytes<E>({"burst_bytes", "a burst, of all ranks together, as in 64GiB"},
                 {1, 1024 * tebibyte, true}, [](E& e) -> auto& { return e.burst_bytes; }),
        seconds<E>({"interval", "computing before each burst, as in 30s"}, {0, 1e6},
                   [](E& e) -> auto& { return e.interval; }),
        plain<E>({"steps", "bursts"}, {1, 1e4, true}, [](E& e) -> auto& { return e.steps; }),
        plain<E>({"writers", "ranks that collect a burst and write it; 0: every rank its own"},
                 {0, 65536, true}, [](E& e) -> auto& { return e.writers; }),
        plain<E>({"files", "of each writer in each burst"}, counts,
                 [](E& e) -> auto& { return e.files; }),
        plain<E>({"new_files", "1: each burst goes to files of its own"}, {0, 1, true},
                 [](E& e) -> auto& { return e.new_files; }),
        plain<E>({"stripe_count", "targets of a file; 0: all"}, {0, 65536, true},
                 [](E& e) -> auto& { return e.stripe_count; }),
        bytes<E>({"input_bytes", "of one file that every rank reads first, in whole MiB"},
                 {0, 1024 * gibibyte, true}, [](E& e) -> auto& { return e.input_bytes; }),
        plain<E>({"pool_readers",
                  "nodes that fetch it and pass it on to all others; 0: each node "
                  "for itself"},
                 {0, 65536, true}, [](E& e) -> auto& { return e.readers; }),
        rate<E>({"pass_rate", "of a core that encrypts and passes on, as in 1GB/s"}, {1, 1e15},
                [](E& e) -> auto& { return e.pass_rate; }),
        plain<E>({"plain_in_flight", "requests of a writer at a target, without the pool"},
                 {1, plan::unlimited_requests_in_flight, true},
                 [](E& e) -> auto& { return e.plain_in_flight; }),
    };
}

std::vector<Key<PoolExperiment>> pool_keys() {
    using E = PoolExperiment;
    constexpr double mebibyte = 1024 * kibibyte;
    return {
        bytes<E>({"pool_window", "of a file: bytes in the pool, not drained, as in 256MiB"},
                 {mebibyte, tebibyte, true}, [](E& e) -> auto& { return e.pool.window_bytes; }),
        bytes<E>({"pool_cap", "memory of a node's pool, as in 8GiB"},
                 {2 * mebibyte, 16 * tebibyte, true},
                 [](E& e) -> auto& { return e.pool.cap_bytes; }),
        bytes<E>({"pool_read_ahead", "of it, for what is read ahead"}, {0, 4 * gibibyte, true},
                 [](E& e) -> auto& { return e.pool.read_ahead_bytes; }),
        whole_seconds({"pool_age", "no byte is older, in seconds"}, {1, 86400, true},
                      [](E& e) -> auto& { return e.pool.age_max_ns; }),
        plain<E>({"pool_files_at_once", "files that a node drains at a time"}, {1, 1024, true},
                 [](E& e) -> auto& { return e.pool.files_at_once; }),
        rate<E>({"touch_rate", "getting memory that nobody has touched, as in 500MB/s"}, {1, 1e15},
                [](E& e) -> auto& { return e.touch_rate; }),
        plain<E>({"requests_in_flight", "requests of a node at a target (k); 0: found"},
                 {0, plan::unlimited_requests_in_flight, true},
                 [](E& e) -> auto& { return e.pool.requests_in_flight; }),
        bytes<E>({"request_bytes_max", "largest request"}, {64 * kibibyte, gibibyte, true},
                 [](E& e) -> auto& { return e.pool.request_bytes_max; }),
        seconds<E>({"job_end", "of the batch job, from the program's begin; 0: not known"},
                   {0, 1e7}, [](E& e) -> auto& { return e.job_end; }),
        plain<E>({"pool_deadline", "seconds before job_end at which the pool closes"},
                 {0, 86400, true}, [](E& e) -> auto& { return e.deadline; }),
        plain<E>({"seed", "of what is random; the same gives the same times"}, {0, 1e15, true},
                 [](E& e) -> auto& { return e.seed; }),
    };
}

std::vector<Key<PoolExperiment>> all_keys() { return joined(program_keys(), pool_keys()); }

Result<void> check_ranks(const PoolExperiment& experiment) {
    constexpr std::int64_t ranks_max = 65536;
    constexpr std::int64_t nodes_max = 1024;  // each has a directory of its own
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
    constexpr double deposits_max = 64e6;  // of 1 MiB: their extents are real
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
    return text + listed(platform_words()) + listed(all_keys());
}

Result<PoolExperiment> parse_pool_options(const std::vector<std::string>& words) {
    PoolExperiment usual;
    usual.pool.cap_bytes = static_cast<std::int64_t>(8 * gibibyte);
    return checked<PoolExperiment>(read_keys(words, usual, all_keys()),
                                   {check_ranks, check_input, check_files});
}

}  // namespace forebay::sim
