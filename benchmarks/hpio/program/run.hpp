// Runs points: prepares files, moves data, looks at what came of it.
#pragma once

#include "benchmarks/hpio/content.hpp"
#include "benchmarks/hpio/program/access.hpp"

#include <mutex>
#include <string>
#include <vector>

namespace forebay::bench {

struct RepetitionTimes {
    // The slowest rank of each; `total` from the barrier to the last close.
    double open_seconds = 0.0;
    double io_seconds = 0.0;
    double sync_seconds = 0.0;
    double close_seconds = 0.0;
    double total_seconds = 0.0;
    double first_done_seconds = 0.0;  // the fastest rank's I/O
};

struct PointResult {
    hpio::Point point;
    hpio::ResolvedPattern job;
    std::vector<RepetitionTimes> repetitions;
    measure::LatencyHistogram latency;  // of calls, all ranks and repetitions
    RankSpread io;                      // of each rank, the median of the repetitions
    std::int64_t wrong_data_bytes = 0;
    std::int64_t wrong_gap_bytes = 0;
    std::vector<std::string> mismatches;
    std::vector<std::string> warnings;
};

// The file that is to go when the run is ended from outside; shared with the monitor's thread.
class LeftoverFile {
public:
    explicit LeftoverFile(Janitor& janitor) : janitor_(janitor) {}
    void set(std::string path);
    void clear();
    // Removes the file if there is one.
    void remove();

private:
    Janitor& janitor_;  // of what all ranks leave that are killed at once
    std::mutex mutex_;  // guards path_
    std::string path_;
};

// Collective; results count on rank 0.
[[nodiscard]] Result<PointResult> run_point(BenchmarkSession& session,
                                            const hpio::HpioCommand& request, std::size_t number,
                                            LeftoverFile& leftover);

}  // namespace forebay::bench
