// One phase on this rank: open, transfers and close, each timed from the barrier before it. The
// phase's clock is stopped while data is generated or compared.
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

// Check: read and compare, without a row in the tables.
enum class PhasePurpose { write, read, check };

// The values that are the same in all phases of a test on this rank.
struct PhaseContext {
    const TestRanks* session = nullptr;
    const measure::TransferClock* clock = nullptr;
    const ior::IorOptions* options = nullptr;
    ior::TestGeometry geometry;
    IorBackend* backend = nullptr;
    measure::AlignedBytes* buffer = nullptr;  // room for the transfers that may be in flight
};

struct PhaseRequest {
    PhasePurpose purpose = PhasePurpose::write;
    std::string path;
    std::int64_t task = 0;           // the task whose part is moved
    std::int64_t transfers_max = 0;  // number of a task's transfers, or of those that were written
    // The data to write or to expect; null: data is not checked.
    ior::FileData* data = nullptr;
    // > 0: find the repetition that wrote the file, among this many.
    std::int64_t repetitions_of_data = 0;
};

// The reads within a write phase (--rwmixpct); their times are the phase's.
struct MixedReads {
    std::int64_t transfers = 0;
    std::int64_t bytes = 0;
    measure::LatencyHistogram latency;
    std::vector<std::string> operation_lines;
};

// A rank's results; its error still has to be agreed on by all ranks.
struct PhaseOutcome {
    ior::RankTimes times;
    measure::LatencyHistogram latency;
    std::optional<Error> error;
    std::int64_t wrong = 0;               // number of transfers with wrong data
    std::vector<std::string> mismatches;  // the first mismatches
    std::string origin;                   // the origin of the wrong data, if known
    std::int64_t wall_transfers = 0;      // transfers of the fastest rank until the wear-out ended
    std::vector<std::string> operation_lines;  // lines of savePerOpDataCSV
    MixedReads reads;
};

[[nodiscard]] PhaseOutcome run_phase(const PhaseContext& context, const PhaseRequest& request);

}  // namespace forebay::bench
