// The measurements of a run, of which tables, JSON and CSV are renderings. Durations are in seconds
// of monotonic clocks, each since a barrier of its own rank.
#pragma once

#include "benchmarks/ior/geometry.hpp"
#include "benchmarks/ior/options.hpp"
#include "benchmarks/measure/budget.hpp"
#include "benchmarks/measure/histogram.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace forebay::ior {

inline constexpr double bytes_per_mib = 1048576.0;

// One rank's part of a phase, in times since the barrier before it. Trivially copyable, for
// gathering.
struct RankTimes {
    double began = 0.0;         // time of day on its node, for display only
    std::int64_t began_ns = 0;  // its node's clock if ranks share cores, else 0
    double open_begin = 0.0;
    double open_end = 0.0;
    double transfers_begin = 0.0;
    double transfers_end = 0.0;
    double close_begin = 0.0;
    double close_end = 0.0;
    double data = 0.0;               // generating and comparing data; excluded from all other times
    double stonewall_seconds = 0.0;  // time of the stonewall (-D), since transfers_begin
    std::int64_t stonewall_transfers = 0;  // transfers done at that time
    std::int64_t transfers = 0;
    std::int64_t bytes = 0;
    std::int64_t node = 0;
    std::int64_t short_transfers = 0;  // transfers that had to be continued
};

struct NodeSpread {
    std::int64_t node = 0;
    std::string host;
    std::int64_t ranks = 0;
    double seconds = 0.0;  // of its slowest rank
    double bandwidth_mib = 0.0;
};

// The columns of `Results:` for one phase.
struct ResultColumns {
    double bandwidth_mib = 0.0;
    double operations = 0.0;  // per second
    double latency = 0.0;
    double open = 0.0;
    double transfers = 0.0;  // the column wr/rd(s)
    double close = 0.0;
    double total = 0.0;
};

struct PhaseResult {
    std::string access;  // "write" or "read"
    std::int64_t repetition = 0;
    std::int64_t bytes = 0;
    ResultColumns columns;
    measure::LatencyHistogram latency;
    // Times at which the first and the last rank had done its transfers.
    double first_done = 0.0;
    double last_done = 0.0;
    double first_done_mib = 0.0;  // mean rate until then
    double last_done_mib = 0.0;
    double data_seconds = 0.0;   // of the rank with the longest
    double with_data_mib = 0.0;  // rate in MiB/s if data_seconds counted
    std::vector<RankTimes> ranks;
    std::int64_t slowest_rank = 0;
    std::int64_t fastest_rank = 0;
    double median_rank_seconds = 0.0;
    std::vector<NodeSpread> nodes;  // slowest first
    bool stonewalled = false;
    double stonewall_seconds = 0.0;
    double stonewall_mib = 0.0;  // MiB/s of all ranks together
    std::int64_t stonewall_transfers_min = 0;
    std::int64_t stonewall_transfers_max = 0;
    std::int64_t errors = 0;  // number of transfers with wrong data
};

struct TestResult {
    IorOptions options;
    TestGeometry geometry;
    std::int64_t id = 0;
    std::string started;  // in ctime's format
    std::string path;
    std::string api_version;
    std::string platform;  // "vm(Linux)"
    std::int64_t nodes = 1;
    std::int64_t tasks_of_node = 1;
    std::uint64_t seed = 0;
    measure::RunEstimate estimate;
    std::optional<std::int64_t> capacity_bytes;
    std::optional<std::int64_t> free_bytes;
    double used_share = 0.0;
    std::int64_t inodes = 0;
    double used_inodes_share = 0.0;
    std::vector<PhaseResult> phases;
    std::vector<std::string> warnings;       // printed after the tables
    std::vector<std::string> warnings_told;  // printed at once
    std::vector<std::string> advice;         // printed after the warnings; remarks, not problems
    std::vector<std::string> mismatches;     // the first mismatch of each phase
};

struct RunResult {
    std::string version;
    std::string began;
    std::string finished;
    std::string command;
    std::string machine;
    std::string machine_full;  // with release, version and architecture, for -vv
    std::string family;
    std::vector<TestResult> tests;
    std::vector<std::string> errors;  // problem (why). What to do next.
    int exit_status = 0;
};

// Fills in columns, first and last done, spread and stonewall from `ranks` and `latency`. `hosts`
// has the name of each node.
void summarise(PhaseResult& phase, const IorOptions& options,
               const std::vector<std::string>& hosts);

}  // namespace forebay::ior
