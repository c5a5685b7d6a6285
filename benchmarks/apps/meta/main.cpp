// main() of forebay-meta: parses, estimates and checks the budget, runs, and reports.
#include "benchmarks/meta/program/report.hpp"
#include "benchmarks/meta/program/storm.hpp"
#include "benchmarks/session/output.hpp"
#include "benchmarks/session/steps.hpp"

#include <algorithm>
#include <filesystem>

namespace forebay::bench {
namespace {

// The bytes of memory that a run needs: histograms (of a row, of a phase, and copies for merging),
// the spreads of the rows, and the data of a file.
std::int64_t memory_of(const meta::MetaCommand& request, std::size_t ramp, std::int32_t ranks) {
    const auto histogram =
        static_cast<std::int64_t>(measure::LatencyHistogram::buckets * sizeof(std::uint64_t));
    const std::int64_t rows = static_cast<std::int64_t>(ramp) *
                              (request.mode == meta::MetaMode::mdtest
                                   ? 10
                                   : 6 * static_cast<std::int64_t>(request.storms.size()));
    const std::int64_t row = histogram + std::int64_t{ranks} * 8 + 1024;
    return rows * row + 4 * histogram + std::max(request.write_bytes, request.read_bytes) + 65536;
}

Result<void> plan(const BenchmarkSession& session, const meta::MetaCommand& request,
                  MetaReport& report) {
    const auto estimate = meta::estimate(request, session.ranks());
    if (!estimate) {
        return failure(estimate.error());
    }
    report.estimate = *estimate;
    const auto ramp = ramp_of(request, session.ranks());
    report.memory_bytes = memory_of(request, ramp->size(), session.ranks());
    return {};
}

Result<void> run_all(BenchmarkSession& session, const meta::MetaCommand& request,
                     MadeDirectories& made, MdtestOutcome& outcome) {
    const auto ramp = ramp_of(request, session.ranks());
    for (const std::int64_t tasks : *ramp) {
        if (request.mode == meta::MetaMode::mdtest) {
            if (auto fine = run_mdtest(session, request, tasks, made, outcome); !fine) {
                return fine;
            }
            continue;
        }
        for (const meta::Storm storm : request.storms) {
            if (auto fine = run_storm(session, request, storm, tasks, made, outcome); !fine) {
                return fine;
            }
        }
    }
    return {};
}

// Free bytes on the file system of `path`, or of its nearest ancestor that exists.
std::optional<std::int64_t> free_at(std::string path) {
    auto bytes = free_bytes(path);
    while (!bytes && path.find('/') != std::string::npos) {
        path.resize(path.rfind('/'));
        bytes = free_bytes(path.empty() ? "/" : path);
    }
    return bytes ? bytes : free_bytes(".");
}

// The smallest number of free bytes of any directory of -d.
std::optional<std::int64_t> least_free(const meta::MetaCommand& request) {
    std::optional<std::int64_t> least;
    for (const std::string& directory : request.directories) {
        const auto here = free_at(directory);
        least = least && here ? std::min(*least, *here) : here ? here : least;
    }
    return least;
}

// Directories of -d, and their ancestors, that this run will create, ancestors first. They are
// removed after the run, if they are empty.
std::vector<std::string> missing(const BenchmarkSession& session,
                                 const meta::MetaCommand& request) {
    std::vector<std::string> folders;
    std::error_code error;
    for (const std::string& folder : request.directories) {
        std::filesystem::path path;
        for (const std::filesystem::path& part : std::filesystem::path(folder)) {
            path /= part;
            if (session.is_first() && !part.empty() && !std::filesystem::exists(path, error)) {
                folders.insert(folders.begin(), path.string());
            }
        }
    }
    return folders;
}

ExitStatus run(BenchmarkSession& session, const meta::MetaCommand& request, MetaReport& report) {
    const std::int64_t before = peak_memory_bytes();
    MadeDirectories made(session.janitor(), missing(session, request));
    session.watch({.stall_seconds = request.limits.stall_seconds,
                   .limit_seconds = request.limits.budget.seconds,
                   .live = request.live,
                   .counted = measure::CountedUnit::operations,
                   .clean_up = [&made] { made.remove(); }});
    const auto done = run_all(session, request, made, report.outcome);
    made.end();
    session.unwatch();
    report.memory_grown_bytes =
        static_cast<std::int64_t>(session.most(static_cast<double>(peak_memory_bytes() - before)));
    conclude(report, done, report.outcome.wrong_files > 0);
    if (report.status == ExitStatus::good && request.warnings_are_errors &&
        report.warnings.size() + request.advice.size() > 0) {
        report.status = ExitStatus::input_output;
        report.error =
            "there were warnings (--warningAsErrors takes them for errors). See them above.";
    }
    if (!session.is_first()) {
        return report.status;
    }
    print(tables(request, report));
    return publish(report, {{request.json_file, as_json(request, report)},
                            {request.csv_file, as_csv(report)},
                            {request.ranks_csv_file, ranks_csv(report)}});
}

// All output files; for the files of each rank, rank 0's stands for them.
std::vector<std::string> outputs(const meta::MetaCommand& request) {
    std::vector<std::string> paths{request.json_file, request.csv_file, request.ranks_csv_file};
    if (request.creates) {
        paths.push_back(request.stonewall_file);
    }
    if (!request.operations_prefix.empty()) {
        paths.push_back(request.operations_prefix + "-0-0.csv");
    }
    return paths;
}

}  // namespace
}  // namespace forebay::bench

int main(int argc, char** argv) {
    using namespace forebay::bench;
    namespace meta = forebay::meta;
    const ProgramSteps<meta::MetaCommand, MetaReport> steps{.parse = meta::parse_command,
                                                            .help = meta::help_text,
                                                            .plan = plan,
                                                            .heading = heading,
                                                            .free_bytes = least_free,
                                                            .outputs = outputs,
                                                            .run = run};
    return run_program(steps, "Use fewer items.", argc, argv);
}
