// Renders a record as table, JSON and CSV.
#include "benchmarks/hpio/program/report.hpp"

#include "benchmarks/measure/csv.hpp"
#include "benchmarks/measure/statistics.hpp"
#include "benchmarks/session/json.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace forebay::bench {

namespace {

using hpio::AveragingMethod;
using hpio::RegionPattern;

constexpr double mebibyte = 1024.0 * 1024.0;

double rate(std::int64_t bytes, double seconds) {
    return seconds > 0 ? static_cast<double>(bytes) / seconds : 0.0;
}

std::vector<double> column(const std::vector<RepetitionTimes>& from,
                           double RepetitionTimes::* member) {
    std::vector<double> values;
    values.reserve(from.size());
    for (const RepetitionTimes& one : from) {
        values.push_back(one.*member);
    }
    return values;
}

// The repetitions that -a includes in the table.
std::vector<RepetitionTimes> averaged(const PointResult& result, AveragingMethod average) {
    std::vector<RepetitionTimes> kept = result.repetitions;
    std::sort(kept.begin(), kept.end(), [](const RepetitionTimes& a, const RepetitionTimes& b) {
        return a.io_seconds < b.io_seconds;
    });
    if (average == AveragingMethod::best) {
        kept.resize(1);
    } else if (average == AveragingMethod::without_extremes && kept.size() > 2) {
        kept = {kept.begin() + 1, kept.end() - 1};
    }
    return kept;
}

double mean(const std::vector<RepetitionTimes>& of, double RepetitionTimes::* member) {
    return measure::summarise(column(of, member)).mean;
}

std::string parameters(const PointResult& result) {
    if (const auto* regions = std::get_if<RegionPattern>(&result.point.pattern)) {
        return fmt::format("{},{},{}", regions->count, regions->size_bytes, regions->spacing_bytes);
    }
    return describe(result.job.pattern);
}

std::string title(const PointResult& result) {
    return fmt::format("{} | {} | {} | {}", name_of(result.point.direction), result.point.test,
                       short_name(result.point.pattern), name_of(result.point.method));
}

std::vector<double> rates(const PointResult& result) {
    std::vector<double> values;
    values.reserve(result.repetitions.size());
    for (const RepetitionTimes& one : result.repetitions) {
        values.push_back(rate(result.job.data_bytes(), one.io_seconds));
    }
    return values;
}

// The share of the file, up to its last byte, that no rank writes.
double hole_share(const hpio::ResolvedPattern& job) {
    return 1.0 - rate(job.data_bytes(), static_cast<double>(job.watched_bytes()));
}

Json point_json(const PointResult& result) {
    Json repetitions = Json::array();
    const std::int64_t bytes = result.job.data_bytes();
    for (std::size_t at = 0; at < result.repetitions.size(); ++at) {
        const RepetitionTimes& one = result.repetitions[at];
        repetitions.push_back(
            {{"repetition", at},
             {"seconds_open", one.open_seconds},
             {"seconds_io", one.io_seconds},
             {"seconds_sync", one.sync_seconds},
             {"seconds_close", one.close_seconds},
             {"seconds_total", one.total_seconds},
             {"seconds_first_done", one.first_done_seconds},
             {"bytes_per_second", rate(bytes, one.io_seconds)},
             {"bytes_per_second_synced", rate(bytes, one.io_seconds + one.sync_seconds)}});
    }
    return {{"name", title(result)},
            {"direction", name_of(result.point.direction)},
            {"test", result.point.test},
            {"method", name_of(result.point.method)},
            {"shape", short_name(result.point.pattern)},
            {"parameters", parameters(result)},
            {"pattern", describe(result.job.pattern)},
            {"bytes", bytes},
            {"hole_share", hole_share(result.job)},
            {"repetitions", repetitions},
            {"bytes_per_second", median_json(rates(result))},
            {"latency", latency_json(result.latency)},
            {"ranks", spread_json(result.io)},
            {"wrong_data_bytes", result.wrong_data_bytes},
            {"wrong_gap_bytes", result.wrong_gap_bytes},
            {"mismatches", result.mismatches},
            {"warnings", result.warnings}};
}

// Describes the confidence interval of the rates. One run has none; that of few runs has low
// coverage.
std::string interval_text(const PointResult& result) {
    const auto interval = measure::median_interval(rates(result));
    if (result.repetitions.size() < 2) {
        return "one run";
    }
    return fmt::format("{:.2f} to {:.2f} with {:.0f} % certainty, {} runs",
                       interval.lower / mebibyte, interval.upper / mebibyte,
                       interval.coverage * 100, result.repetitions.size());
}

std::string point_text(const PointResult& result) {
    const auto us = [&](double q) {
        return static_cast<double>(result.latency.quantile(q)) / 1000.0;
    };
    const double first =
        measure::median(column(result.repetitions, &RepetitionTimes::first_done_seconds));
    const double last = measure::median(column(result.repetitions, &RepetitionTimes::io_seconds));
    const std::int64_t bytes = result.job.data_bytes();
    return fmt::format(
        "{} | {}\n"
        "  MiB/s    median {:.2f} ({}); first done {:.2f}, last done {:.2f}\n"
        "  call     p50 {:.1f} us, p90 {:.1f}, p99 {:.1f}, p99.9 {:.1f}, max {:.1f} ({} calls)\n"
        "  ranks    {:.6f} to {:.6f} s, median {:.6f}; slowest: rank {} on {}\n"
        "  holes    {:.1f} % of the file\n",
        title(result), parameters(result), measure::median(rates(result)) / mebibyte,
        interval_text(result), rate(bytes, first) / mebibyte, rate(bytes, last) / mebibyte, us(0.5),
        us(0.9), us(0.99), us(0.999), static_cast<double>(result.latency.max()) / 1000.0,
        result.latency.total(), result.io.least, result.io.most, result.io.median,
        result.io.slowest_rank, result.io.slowest_host, hole_share(result.job) * 100);
}

}  // namespace

std::string heading(const hpio::HpioCommand& request, const HpioReport& report) {
    std::string text = fmt::format(
        "forebay-hpio {}: noncontiguous I/O, verified\n"
        "command line      : {}\n"
        "started           : {}\n"
        "MPI               : {}\n"
        "procs             : {} on {} node(s)\n"
        "directory         : {}\n"
        "points            : {}, {} repetition(s) each\n"
        "estimate          : {}\n"
        "memory of a rank  : {} B, the histogram's {} B among them\n",
        FOREBAY_VERSION, fmt::join(report.command, " "), report.started, report.mpi, report.ranks,
        report.nodes, request.directory, request.points.size(), request.repetitions,
        measure::describe(report.estimate), report.memory_bytes,
        measure::LatencyHistogram::buckets * sizeof(std::uint64_t));
    for (const std::string& advice : request.advice) {
        text += fmt::format("advice            : {}\n", advice);
    }
    return text;
}

std::string table_rows(const hpio::HpioCommand& request, const PointResult& result,
                       const PointResult* before) {
    std::string text;
    if (before == nullptr || title(*before) != title(result)) {
        text += fmt::format(
            "\n{}\n"
            "----------------time (seconds)--------------|-bandwidth (MB/s)|---parameter---\n"
            "  open  |   io   |  sync  | close  | total  |   IO   |  IOsyn | ct,sz,spacing\n",
            title(result));
    }
    const auto kept = averaged(result, request.average);
    const double io = mean(kept, &RepetitionTimes::io_seconds);
    const double sync = mean(kept, &RepetitionTimes::sync_seconds);
    text += fmt::format("{:7.3f} |{:7.3f} |{:7.3f} |{:7.3f} |{:7.3f} |{:.3f} |{:.3f} | {}\n",
                        mean(kept, &RepetitionTimes::open_seconds), io, sync,
                        mean(kept, &RepetitionTimes::close_seconds),
                        mean(kept, &RepetitionTimes::total_seconds),
                        rate(result.job.data_bytes(), io) / mebibyte,
                        rate(result.job.data_bytes(), io + sync) / mebibyte, parameters(result));
    return text;
}

std::string further(const hpio::HpioCommand& request, const HpioReport& report) {
    std::string text = "\nFurther results:\n";
    std::int64_t wrong = 0;
    for (const PointResult& result : report.points) {
        text += point_text(result);
        wrong += result.wrong_data_bytes + result.wrong_gap_bytes > 0 ? 1 : 0;
        if (result.wrong_data_bytes + result.wrong_gap_bytes > 0) {
            text += fmt::format("  WRONG    {} B of data, {} B of gaps\n", result.wrong_data_bytes,
                                result.wrong_gap_bytes);
        }
        for (const std::string& mismatch : result.mismatches) {
            text += "  WRONG    " + mismatch + "\n";
        }
        for (const std::string& warning : result.warnings) {
            text += "  WARNING  " + warning + "\n";
        }
    }
    for (const std::string& warning : report.warnings) {
        text += "WARNING: " + warning + "\n";
    }
    if (!report.error.empty()) {
        return text;
    }
    const std::size_t tests = report.points.size();
    const bool looked = request.verify != hpio::VerifiedData::nothing;
    text += wrong > 0 ? fmt::format("\n**{} of ({}) test(s) found wrong data!**\n", wrong, tests)
                      : fmt::format("\n**All ({}) test(s) passed without any errors!**{}\n", tests,
                                    looked ? "" : " (nothing was verified)");
    return text;
}

std::string as_json(const hpio::HpioCommand& request, const HpioReport& report) {
    Json points = Json::array();
    for (const PointResult& result : report.points) {
        points.push_back(point_json(result));
    }
    return dumped(record_json("forebay.bench.hpio/1", report,
                              {{"directory", request.directory},
                               {"seed", request.seed},
                               {"verify", static_cast<int>(request.verify)},
                               {"memory_bytes", report.memory_bytes}},
                              {{"warnings", report.warnings}, {"points", points}}));
}

std::string as_csv(const HpioReport& report) {
    std::string text =
        "direction,test,shape,method,parameters,repetition,seconds_open,seconds_io,seconds_sync,"
        "seconds_close,seconds_total,bytes,bytes_per_second,wrong_data_bytes,wrong_gap_bytes\n";
    for (const PointResult& result : report.points) {
        for (std::size_t at = 0; at < result.repetitions.size(); ++at) {
            const RepetitionTimes& one = result.repetitions[at];
            const std::int64_t bytes = result.job.data_bytes();
            text += fmt::format(
                "{},{},{},{},{},{},{:.9f},{:.9f},{:.9f},{:.9f},{:.9f},{},{},{},{}\n",
                name_of(result.point.direction), result.point.test,
                short_name(result.point.pattern), name_of(result.point.method),
                measure::csv_field(parameters(result)), at, one.open_seconds, one.io_seconds,
                one.sync_seconds, one.close_seconds, one.total_seconds, bytes,
                rate(bytes, one.io_seconds), result.wrong_data_bytes, result.wrong_gap_bytes);
        }
    }
    return text;
}

}  // namespace forebay::bench
