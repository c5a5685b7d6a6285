// Renders a record as tables, JSON and CSV.
#include "benchmarks/meta/program/report.hpp"

#include "benchmarks/measure/csv.hpp"
#include "benchmarks/measure/saturated.hpp"
#include "benchmarks/measure/statistics.hpp"
#include "benchmarks/meta/table.hpp"
#include "benchmarks/session/json.hpp"
#include "foundation/base/counted.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace forebay::bench {

namespace {

// The order of mdtest's table.
constexpr std::array<std::string_view, 10> table_order{
    "Directory creation", "Directory stat", "Directory rename", "Directory removal",
    "File creation",      "File stat",      "File read",        "File removal",
    "Tree creation",      "Tree removal"};

std::vector<double> rates(const ResultRow& row) {
    std::vector<double> values;
    values.reserve(row.rounds.size());
    for (const Round& one : row.rounds) {
        values.push_back(one.rate());
    }
    return values;
}

std::vector<double> milliseconds(const ResultRow& row) {
    std::vector<double> values;
    values.reserve(row.rounds.size());
    for (const Round& one : row.rounds) {
        values.push_back(one.rate() > 0 ? 1000.0 / one.rate() : 0.0);
    }
    return values;
}

std::string mdtest_table(const MetaReport& report, std::int64_t tasks, meta::TableUnit unit) {
    std::vector<meta::OperationRates> rows;
    for (const std::string_view name : table_order) {
        for (const ResultRow& row : report.outcome.rows.all()) {
            if (row.name == name && row.ranks == tasks) {
                rows.push_back(
                    {row.name, unit == meta::TableUnit::seconds ? milliseconds(row) : rates(row)});
            }
        }
    }
    return meta::summary_table(rows, unit);
}

std::string latency_rows(const MetaReport& report) {
    std::string text = fmt::format(
        "\nLatency of a call in microseconds, all ranks and iterations:\n"
        "   {:<9} {:<20} {:>6} {:>10} {:>12} {:>9} {:>9} {:>9} {:>9} {:>10}  {}\n",
        "Mode", "Operation", "Ranks", "Calls", "ops/sec", "p50", "p90", "p99", "p99.9", "max",
        "Slowest");
    for (const ResultRow& row : report.outcome.rows.all()) {
        const auto us = [&](double q) {
            return static_cast<double>(row.latency.quantile(q)) / 1000.0;
        };
        text += fmt::format(
            "   {:<9} {:<20} {:>6} {:>10} {:>12.1f} {:>9.1f} {:>9.1f} {:>9.1f} "
            "{:>9.1f} {:>10.1f}  rank {} on {} ({:.2f} x median)\n",
            row.mode, row.name, row.ranks, row.latency.total(), measure::median(rates(row)),
            us(0.5), us(0.9), us(0.99), us(0.999), static_cast<double>(row.latency.max()) / 1000.0,
            row.spread.slowest_rank, row.spread.slowest_host,
            row.spread.median > 0 ? row.spread.most / row.spread.median : 1.0);
    }
    return text;
}

std::string rank_rows(const MetaReport& report) {
    std::string text = "\nSeconds of each rank, last iteration:\n";
    for (const ResultRow& row : report.outcome.rows.all()) {
        text += fmt::format("   {} ({}): {:.6f}\n", row.name, counted(row.ranks, "rank"),
                            fmt::join(row.spread.ranks, " "));
    }
    return text;
}

Json row_json(const ResultRow& row) {
    Json iterations = Json::array();
    for (std::size_t at = 0; at < row.rounds.size(); ++at) {
        const Round& one = row.rounds[at];
        iterations.push_back({{"repetition", at},
                              {"operations", one.operations},
                              {"seconds", one.seconds},
                              {"seconds_first_done", one.first_done_seconds},
                              {"operations_per_second", one.rate()}});
    }
    return {{"mode", row.mode},
            {"name", row.name},
            {"ranks", row.ranks},
            {"repetitions", iterations},
            {"operations_per_second", median_json(rates(row))},
            {"latency", latency_json(row.latency)},
            {"spread", spread_json(row.spread)}};
}

}  // namespace

std::string heading(const meta::MetaCommand& request, const MetaReport& report) {
    std::string text = fmt::format(
        "-- started at {} --\n\n"
        "forebay-meta {} was launched with {} total task(s) on {} node(s)\n"
        "Command line used: {}\n"
        "MPI                 : {}\n"
        "Path                : {}\n"
        "Estimate            : {}\n"
        "Memory of a rank    : at most {} B beside the MPI's, whatever the number of files\n",
        report.started, FOREBAY_VERSION, report.ranks, report.nodes, fmt::join(report.command, " "),
        report.mpi, fmt::join(request.directories, " "), measure::describe(report.estimate),
        report.memory_bytes);
    for (const std::string& advice : request.advice) {
        text += "Advice: " + advice + "\n";
    }
    return text + fmt::format("{} tasks, {} files/directories\n\n", report.ranks,
                              measure::saturated_product(report.ranks, request.items));
}

std::string tables(const meta::MetaCommand& request, const MetaReport& report) {
    std::string text;
    std::vector<std::int64_t> seen;
    for (const ResultRow& row : report.outcome.rows.all()) {
        const bool known = std::find(seen.begin(), seen.end(), row.ranks) != seen.end();
        if (request.mode != meta::MetaMode::mdtest || known) {
            continue;
        }
        seen.push_back(row.ranks);
        text += seen.size() > 1 ? fmt::format("\n{} tasks\n", row.ranks) : std::string();
        if (request.print_rate) {
            text += mdtest_table(report, row.ranks, meta::TableUnit::operations_per_second);
        }
        if (request.print_time) {
            text += mdtest_table(report, row.ranks, meta::TableUnit::seconds);
        }
    }
    text += latency_rows(report);
    text += request.show_ranks ? rank_rows(report) : std::string();
    text += fmt::format(
        "\nMemory grew by {} B while measuring, on the rank that grew most, its MPI's "
        "among them\n",
        report.memory_grown_bytes);
    for (const std::string& mismatch : report.outcome.mismatches) {
        text += "WRONG: " + mismatch + "\n";
    }
    if (report.outcome.wrong_files > 0) {
        text += fmt::format("WRONG: {} file(s) hold other data than were written\n",
                            report.outcome.wrong_files);
    }
    for (const std::string& warning : report.warnings) {
        text += "WARNING: " + warning + "\n";
    }
    return text + fmt::format("-- finished at {} --\n", utc_now());
}

std::string as_json(const meta::MetaCommand& request, const MetaReport& report) {
    Json rows = Json::array();
    for (const ResultRow& row : report.outcome.rows.all()) {
        rows.push_back(row_json(row));
    }
    return dumped(record_json("forebay.bench.meta/1", report,
                              {{"directories", request.directories},
                               {"items_per_rank", request.items},
                               {"memory_bytes", report.memory_bytes},
                               {"memory_grown_bytes", report.memory_grown_bytes}},
                              {{"wrong_files", report.outcome.wrong_files},
                               {"mismatches", report.outcome.mismatches},
                               {"warnings", report.warnings},
                               {"rows", rows}}));
}

std::string as_csv(const MetaReport& report) {
    std::string text =
        "mode,operation,ranks,repetition,operations,seconds,seconds_first_done,"
        "operations_per_second,calls,seconds_p50,seconds_p90,seconds_p99,seconds_p999,"
        "seconds_max\n";
    for (const ResultRow& row : report.outcome.rows.all()) {
        const auto at = [&](double q) {
            return static_cast<double>(row.latency.quantile(q)) * 1e-9;
        };
        for (std::size_t number = 0; number < row.rounds.size(); ++number) {
            const Round& one = row.rounds[number];
            text += fmt::format(
                "{},{},{},{},{},{:.9f},{:.9f},{},{},{:.9f},{:.9f},{:.9f},{:.9f},"
                "{:.9f}\n",
                row.mode, measure::csv_field(row.name), row.ranks, number, one.operations,
                one.seconds, one.first_done_seconds, one.rate(), row.latency.total(), at(0.5),
                at(0.9), at(0.99), at(0.999), static_cast<double>(row.latency.max()) * 1e-9);
        }
    }
    return text;
}

std::string ranks_csv(const MetaReport& report) {
    std::string text = "mode,operation,ranks,rank,seconds\n";
    for (const ResultRow& row : report.outcome.rows.all()) {
        for (std::size_t rank = 0; rank < row.spread.ranks.size(); ++rank) {
            text += fmt::format("{},{},{},{},{:.9f}\n", row.mode, measure::csv_field(row.name),
                                row.ranks, rank, row.spread.ranks[rank]);
        }
    }
    return text;
}

}  // namespace forebay::bench
