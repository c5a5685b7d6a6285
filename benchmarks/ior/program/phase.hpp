// One phase on this rank: open, transfers, close, each timed from the barrier before it. The
// phase's clock stands still while data are made or compared.
#pragma once

#include "benchmarks/ior/file_data.hpp"
#include "benchmarks/ior/program/backend.hpp"
#include "benchmarks/ior/program/test_ranks.hpp"
#include "benchmarks/ior/results.hpp"
#include "benchmarks/measure/aligned_bytes.hpp"
#include "benchmarks/measure/transfer_clock.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace forebay::bench {

enum class PhasePurpose { write, read, check };  // check: read and compare, not timed in the tables

// The values that are the same in all phases of a test on this rank.
struct PhaseContext {
    const TestRanks* session = nullptr;
    const measure::TransferClock* clock = nullptr;
    const ior::IorOptions* options = nullptr;
    ior::TestGeometry geometry;
    IorBackend* backend = nullptr;
    measure::AlignedBytes* buffer = nullptr;  // of as many transfers as can be under way
};

struct PhaseRequest {
    PhasePurpose purpose = PhasePurpose::write;
    std::string path;
    std::int64_t task = 0;           // whose part
    std::int64_t transfers_max = 0;  // all of a task's, or what was written of them
    // The data to write, or to expect; nullptr: nobody looks at it.
    ior::FileData* data = nullptr;
    std::int64_t repetitions_of_data = 0;  // > 0: find out which repetition wrote the file
};

// The reads between the writes of a phase (--rwmixpct); their times are the phase's.
struct MixedReads {
    std::int64_t transfers = 0;
    std::int64_t bytes = 0;
    measure::LatencyHistogram latency;
    std::vector<std::string> operation_lines;
};

// A rank's part; the error is its own and has yet to be agreed on.
struct PhaseOutcome {
    ior::RankTimes times;
    measure::LatencyHistogram latency;
    std::optional<Error> error;
    std::int64_t wrong = 0;                    // transfers with wrong data
    std::vector<std::string> mismatches;       // the first of them
    std::string origin;                        // whose data it is instead, where that is known
    std::int64_t wall_transfers = 0;           // until the wear-out's end, of the fastest rank
    std::vector<std::string> operation_lines;  // of savePerOpDataCSV
    MixedReads reads;
};

[[nodiscard]] PhaseOutcome run_phase(const PhaseContext& context, const PhaseRequest& request);

}  // namespace forebay::bench
