// The measurements, once: the human tables, JSON and CSV are renderings of this value. Durations in
// seconds, from monotonic clocks, each since a barrier of its own rank.
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

// One rank's part of a phase; times since the barrier that began it. Plain data: it is gathered.
struct RankTimes {
    double began = 0.0;         // time of day on its node, to be shown only
    std::int64_t began_ns = 0;  // by the clock of its node where its ranks share cores, else 0
    double open_begin = 0.0;
    double open_end = 0.0;
    double transfers_begin = 0.0;
    double transfers_end = 0.0;
    double close_begin = 0.0;
    double close_end = 0.0;
    double data = 0.0;                     // making and comparing data: in none of the other times
    double stonewall_seconds = 0.0;        // when -D struck, since transfers_begin
    std::int64_t stonewall_transfers = 0;  // that were done then
    std::int64_t transfers = 0;
    std::int64_t bytes = 0;
    std::int64_t node = 0;
    std::int64_t short_transfers = 0;  // that had to be continued
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
    double operations = 0.0;  // a second
    double latency = 0.0;
    double open = 0.0;
    double transfers = 0.0;  // wr/rd(s)
    double close = 0.0;
    double total = 0.0;
};

struct PhaseResult {
    std::string access;  // write, read
    std::int64_t repetition = 0;
    std::int64_t bytes = 0;
    ResultColumns columns;
    measure::LatencyHistogram latency;
    // Until the first and until the last rank was done with its transfers.
    double first_done = 0.0;
    double last_done = 0.0;
    double first_done_mib = 0.0;  // rate until then
    double last_done_mib = 0.0;
    double data_seconds = 0.0;   // of the rank whose data took longest
    double with_data_mib = 0.0;  // a second, were they counted
    std::vector<RankTimes> ranks;
    std::int64_t slowest_rank = 0;
    std::int64_t fastest_rank = 0;
    double median_rank_seconds = 0.0;
    std::vector<NodeSpread> nodes;  // slowest first
    bool stonewalled = false;
    double stonewall_seconds = 0.0;
    double stonewall_mib = 0.0;  // a second, of all ranks together
    std::int64_t stonewall_transfers_min = 0;
    std::int64_t stonewall_transfers_max = 0;
    std::int64_t errors = 0;  // transfers with wrong data
};

struct TestResult {
    IorOptions options;
    TestGeometry geometry;
    std::int64_t id = 0;
    std::string started;  // ctime
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
    std::vector<std::string> warnings;       // said after the tables
    std::vector<std::string> warnings_told;  // said at once
    std::vector<std::string> advice;         // said after the warnings; all went as asked
    std::vector<std::string> mismatches;     // the first wrong data of each phase
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

// Fills columns, first and last done, spread and stonewall from `ranks` and `latency`.
// `hosts`: the name of each node.
void summarise(PhaseResult& phase, const IorOptions& options,
               const std::vector<std::string>& hosts);

}  // namespace forebay::ior
