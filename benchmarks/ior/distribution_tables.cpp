// The tables after IOR's summary. Their rows start with a number, so that scripts which search for
// lines starting with "write" or "read" find IOR's rows only.
#include "benchmarks/ior/distribution_tables.hpp"

#include "benchmarks/ior/tables.hpp"
#include "benchmarks/measure/statistics.hpp"

#include <fmt/format.h>
#include <iterator>

namespace forebay::ior {

namespace {

std::string time_text(double seconds) {
    if (seconds < 1e-6) {
        return fmt::format("{:.0f}ns", seconds * 1e9);
    }
    if (seconds < 1e-3) {
        return fmt::format("{:.1f}us", seconds * 1e6);
    }
    return seconds < 1.0 ? fmt::format("{:.2f}ms", seconds * 1e3) : fmt::format("{:.3f}s", seconds);
}

std::string quantile_text(const measure::LatencyHistogram& latency, double fraction) {
    return time_text(static_cast<double>(latency.quantile(fraction)) * 1e-9);
}

// The columns Test#, iter (or reps) and access.
std::string row_begin(const TestResult& test, std::int64_t repetition, std::string_view access) {
    return fmt::format("{:>5} {:>5} {:<9}", test.id, repetition, access);
}

std::string head_begin(std::string_view repetition) {
    return fmt::format("{:>5} {:>5} {:<9}", "Test#", repetition, "access");
}

std::string latency_row(const TestResult& test, const PhaseResult& phase) {
    const auto& l = phase.latency;
    return fmt::format("{} {:>10} {:>10} {:>10} {:>10} {:>10} {:>12}\n",
                       row_begin(test, phase.repetition, phase.access), quantile_text(l, 0.5),
                       quantile_text(l, 0.9), quantile_text(l, 0.99), quantile_text(l, 0.999),
                       time_text(static_cast<double>(l.max()) * 1e-9), l.total());
}

std::string done_row(const TestResult& test, const PhaseResult& phase) {
    return fmt::format("{} {:>12} {:>14.2f} {:>11} {:>13.2f}\n",
                       row_begin(test, phase.repetition, phase.access), time_text(phase.first_done),
                       phase.first_done_mib, time_text(phase.last_done), phase.last_done_mib);
}

std::string spread_row(const TestResult& test, const PhaseResult& phase) {
    const auto busy = [&](std::int64_t rank) {
        const RankTimes& times = phase.ranks[static_cast<std::size_t>(rank)];
        return times.transfers_end - times.transfers_begin;
    };
    const auto at = static_cast<std::size_t>(phase.slowest_rank);
    const auto node = phase.ranks[at].node;
    std::string host = "?";
    for (const NodeSpread& one : phase.nodes) {
        host = one.node == node ? one.host : host;
    }
    const NodeSpread& slowest = phase.nodes.front();
    return fmt::format("{} {:>10} {:>10} {:>10} {:>12} {}, slowest node {} ({:.2f} MiB/s)\n",
                       row_begin(test, phase.repetition, phase.access),
                       time_text(busy(phase.fastest_rank)), time_text(phase.median_rank_seconds),
                       time_text(busy(phase.slowest_rank)),
                       fmt::format("rank {}", phase.slowest_rank), "on " + host, slowest.host,
                       slowest.bandwidth_mib);
}

std::string median_row(const TestResult& test, const SummaryRow& row) {
    const auto interval = measure::median_interval(row.bandwidths);
    return fmt::format("{} {:>14.2f} {:>10.2f} {:>10.2f} {:>9.1f}%\n",
                       row_begin(test, std::ssize(row.bandwidths), row.access),
                       measure::median(row.bandwidths), interval.lower, interval.upper,
                       interval.coverage * 100);
}

template <class Row>
std::string of_all_phases(const RunResult& run, Row row) {
    std::string text;
    for (const TestResult& test : run.tests) {
        for (const PhaseResult& phase : test.phases) {
            if (!phase.ranks.empty()) {
                text += row(test, phase);
            }
        }
    }
    return text;
}

// A single repetition has no median worth printing.
std::string medians_text(const RunResult& run) {
    std::string rows;
    for (const TestResult& test : run.tests) {
        for (const SummaryRow& row : summary_rows(test)) {
            rows += row.bandwidths.size() > 1 ? median_row(test, row) : std::string();
        }
    }
    return rows.empty() ? rows
                        : "\nMedian of repetitions (MiB/s):\n" +
                              fmt::format("{} {:>14} {:>10} {:>10} {:>10}\n", head_begin("reps"),
                                          "median", "lower", "upper", "coverage") +
                              rows;
}

}  // namespace

std::string distribution_text(const RunResult& run) {
    const std::string latency = of_all_phases(run, latency_row);
    if (latency.empty()) {
        return {};
    }
    std::string text = "\nLatency of transfers, all ranks together:\n";
    text += fmt::format("{} {:>10} {:>10} {:>10} {:>10} {:>10} {:>12}\n", head_begin("iter"), "p50",
                        "p90", "p99", "p99.9", "max", "transfers");
    text += latency + "\nRanks done with their transfers:\n";
    text += fmt::format("{} {:>12} {:>14} {:>11} {:>13}\n", head_begin("iter"), "first after",
                        "at MiB/s", "last after", "at MiB/s");
    text += of_all_phases(run, done_row) + "\nSpread of ranks:\n";
    text += fmt::format("{} {:>10} {:>10} {:>10} {:>12}\n", head_begin("iter"), "fastest", "median",
                        "slowest", "which");
    text += of_all_phases(run, spread_row) + medians_text(run);
    std::string warnings;
    for (const TestResult& test : run.tests) {
        for (const auto* const lines : {&test.warnings, &test.advice}) {
            for (const std::string& line : *lines) {
                warnings += fmt::format("  {}\n", line);
            }
        }
    }
    return warnings.empty() ? text : text + "\nTo be considered:\n" + warnings;
}

}  // namespace forebay::ior
