// Runs points: prepares the files, moves the data, and checks it.
#pragma once

#include "benchmarks/hpio/content.hpp"
#include "benchmarks/hpio/program/access.hpp"

#include <mutex>
#include <string>
#include <vector>

namespace forebay::bench {

struct RepetitionTimes {
    // The slowest rank's time of each step; `total_seconds` from the barrier to the last close.
    double open_seconds = 0.0;
    double io_seconds = 0.0;
    double sync_seconds = 0.0;
    double close_seconds = 0.0;
    double total_seconds = 0.0;
    double first_done_seconds = 0.0;  // I/O time of the fastest rank
};

struct PointResult {
    hpio::Point point;
    hpio::ResolvedPattern job;
    std::vector<RepetitionTimes> repetitions;
    measure::LatencyHistogram latency;  // of calls, over all ranks and repetitions
    RankSpread io;                      // median over repetitions, for each rank
    std::int64_t wrong_data_bytes = 0;
    std::int64_t wrong_gap_bytes = 0;
    std::vector<std::string> mismatches;
    std::vector<std::string> warnings;
};

// The file to remove if the run is ended from outside; shared with the monitor's thread.
class LeftoverFile {
public:
    explicit LeftoverFile(Janitor& janitor) : janitor_(janitor) {}
    void set(std::string path);
    void clear();
    // Removes the file if it exists.
    void remove();

private:
    Janitor& janitor_;  // removes the file if all ranks are killed at once
    std::mutex mutex_;  // guards path_
    std::string path_;
};

// Collective; the result is valid on rank 0.
[[nodiscard]] Result<PointResult> run_point(BenchmarkSession& session,
                                            const hpio::HpioCommand& request, std::size_t number,
                                            LeftoverFile& leftover);

}  // namespace forebay::bench
