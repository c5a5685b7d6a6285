// mdtest's command line with Forebay's additional options (among them the storm's), as values.
#pragma once

#include "benchmarks/command_line/run_options.hpp"
#include "benchmarks/meta/tree.hpp"
#include "foundation/base/result.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace forebay::meta {

enum class MetaMode { mdtest, storm };
enum class MetaBackend { posix, dummy };
enum class Storm { existing, own, shared };

[[nodiscard]] std::string_view name_of(Storm storm) noexcept;

struct MetaCommand : command_line::RunOptions {
    MetaMode mode = MetaMode::mdtest;
    MetaBackend backend = MetaBackend::posix;
    std::vector<std::string> directories{"./out"};
    DirectoryTree tree;
    std::int64_t items = 0;       // per rank
    std::int64_t items_each = 0;  // per directory; 0: derived from `items`
    std::int64_t iterations = 1;
    std::int64_t stride = 0;       // -N: distance to the rank whose items a rank accesses
    std::int64_t first_tasks = 0;  // -f -l -s; 0: all ranks
    std::int64_t last_tasks = 0;
    std::int64_t step_tasks = 1;
    std::int64_t write_bytes = 0;
    std::int64_t read_bytes = 0;
    std::int64_t stonewall_seconds = 0;
    std::int64_t delay_seconds = 0;
    std::string stonewall_file;
    std::string ranks_csv_file;
    std::string operations_prefix;  // of the files that list every call
    std::string command_before;     // run before each phase, on each node
    std::string command_after;
    bool creates = true;
    bool stats = true;
    bool reads = true;
    bool removes = true;
    bool renames = false;
    bool files = true;
    bool folders = true;
    bool unique_tree = false;
    bool shared_file = false;
    bool collective_create = false;
    bool random_stat = false;
    bool sync = false;
    bool sync_all = false;
    bool verify_read = false;
    bool verify_write = false;
    bool barriers = true;
    bool make_node = false;
    bool print_time = false;  // -Z instead of rates, -P in addition to them
    bool print_rate = true;
    bool show_ranks = false;
    bool warnings_are_errors = false;
    std::int64_t verbosity = 0;
    std::uint64_t seed = 0;

    std::vector<Storm> storms{Storm::existing, Storm::own, Storm::shared};
    std::vector<std::int64_t> ramp;  // numbers of ranks; empty: 1, 2, 4 … all
    double phase_seconds = 5;        // duration of a phase of a storm
};

[[nodiscard]] Result<MetaCommand> parse_command(std::span<const std::string> words);
[[nodiscard]] std::string help_text();

// The numbers of ranks to run with: 1, 2, 4 … and `ranks`, or those requested.
[[nodiscard]] Result<std::vector<std::int64_t>> ramp_of(const MetaCommand& request,
                                                        std::int64_t ranks);

// Upper bounds, over all iterations.
[[nodiscard]] Result<measure::RunEstimate> estimate(const MetaCommand& request, std::int64_t ranks);

}  // namespace forebay::meta
