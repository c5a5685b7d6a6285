// Times single operations: the histogram, rate and spread of a phase, reduced over its ranks.
#pragma once

#include "benchmarks/measure/clock.hpp"
#include "benchmarks/session/session.hpp"

#include <optional>
#include <string>
#include <vector>

namespace forebay::bench {

// The result of one run of a phase.
struct Round {
    std::int64_t operations = 0;
    double seconds = 0.0;  // until the last rank was done
    double first_done_seconds = 0.0;

    [[nodiscard]] double rate() const noexcept {
        return seconds > 0 ? static_cast<double>(operations) / seconds : 0.0;
    }
};

// A line of the tables: an operation on a number of ranks, with its rounds and latencies.
struct ResultRow {
    std::string mode;  // "mdtest", or the kind of storm
    std::string name;  // "File creation", "open", …
    std::int64_t ranks = 1;
    std::vector<Round> rounds;
    measure::LatencyHistogram latency;
    RankSpread spread;  // of the last round
};

class ResultRows {
public:
    // The row with these keys; created if it does not exist.
    ResultRow& row(const std::string& mode, const std::string& name, std::int64_t ranks);
    [[nodiscard]] const std::vector<ResultRow>& all() const noexcept { return rows_; }

private:
    std::vector<ResultRow> rows_;
};

enum class LatencyDetail { totals, every_call };

// A call, by its rank's clock.
struct TimedCall {
    std::int64_t begin_ns = 0;
    std::int64_t lasted_ns = 0;
};

// The measurements of a phase on one rank.
class PhaseStopwatch {
public:
    explicit PhaseStopwatch(measure::ProgressSlot& progress,
                            LatencyDetail keeps = LatencyDetail::totals)
        : progress_(progress), keeps_(keeps) {}

    // Calls and times `operation`, which returns Result<void>.
    template <class Operation>
    Result<void> time(const Operation& operation) {
        const std::int64_t begin = measure::now_ns();
        Result<void> result = operation();
        const std::int64_t lasted = measure::now_ns() - begin;
        latency_.record(lasted);
        if (keeps_ == LatencyDetail::every_call) {
            calls_.push_back({begin, lasted});
        }
        busy_ns_ += lasted;
        ++operations_;
        progress_.did(1);
        return result;
    }

    [[nodiscard]] std::int64_t operations() const noexcept { return operations_; }
    [[nodiscard]] std::int64_t busy_ns() const noexcept { return busy_ns_; }
    [[nodiscard]] const measure::LatencyHistogram& latency() const noexcept { return latency_; }
    [[nodiscard]] const std::vector<TimedCall>& calls() const noexcept { return calls_; }

private:
    measure::ProgressSlot& progress_;
    LatencyDetail keeps_;
    measure::LatencyHistogram latency_;
    std::vector<TimedCall> calls_;
    std::int64_t operations_ = 0;
    std::int64_t busy_ns_ = 0;
};

// Collective over `ranks`: adds a round to `row`. `seconds` is this rank's time; it began `late`
// seconds after the first rank of its node.
void add_round(const BenchmarkSession& session, MPI_Comm ranks, const PhaseStopwatch& watch,
               double seconds, double late, ResultRow& row);

}  // namespace forebay::bench
