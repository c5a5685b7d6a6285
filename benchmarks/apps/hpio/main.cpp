// main() of forebay-hpio: parses, estimates and checks the budget, runs, and reports.
#include "benchmarks/hpio/program/report.hpp"
#include "benchmarks/session/output.hpp"
#include "benchmarks/session/steps.hpp"

#include <algorithm>

namespace forebay::bench {
namespace {

// Fills in the report's estimate and the bytes of memory that the command needs.
Result<void> plan(const BenchmarkSession& session, const hpio::HpioCommand& request,
                  HpioReport& report) {
    auto estimate = hpio::estimate(request, session.ranks());
    if (!estimate) {
        return failure(estimate.error());
    }
    report.estimate = *estimate;
    std::int64_t memory = 0;
    for (const hpio::Point& point : request.points) {
        const hpio::ResolvedPattern job{.pattern = resolved(point.pattern, session.ranks()).value(),
                                        .ranks = session.ranks()};
        memory = std::max(memory, job.memory_layout(Rank{0}).extent_bytes());
    }
    const auto own =
        static_cast<std::int64_t>(measure::LatencyHistogram::buckets * sizeof(std::uint64_t) +
                                  2 * hpio::FileContent::chunk_bytes);
    report.memory_bytes = memory + own;
    return {};
}

Result<void> run_all(BenchmarkSession& session, const hpio::HpioCommand& request,
                     HpioReport& report, LeftoverFile& leftover) {
    const PointResult* before = nullptr;
    report.points.reserve(request.points.size());
    for (std::size_t number = 0; number < request.points.size(); ++number) {
        auto result = run_point(session, request, number, leftover);
        if (!result) {
            return failure(result.error());
        }
        report.points.push_back(std::move(*result));
        if (session.is_first()) {
            print(table_rows(request, report.points.back(), before));
        }
        before = &report.points.back();
    }
    return {};
}

bool any_wrong(const HpioReport& report) {
    return std::any_of(report.points.begin(), report.points.end(), [](const PointResult& one) {
        return one.wrong_data_bytes + one.wrong_gap_bytes > 0;
    });
}

void warn_of_cache(const hpio::HpioCommand& request, HpioReport& report) {
    const bool reads = std::any_of(
        request.points.begin(), request.points.end(),
        [](const hpio::Point& one) { return one.direction == hpio::HpioDirection::read; });
    if (reads && !request.drop_caches) {
        report.warnings.emplace_back(
            "reads come from this node's page cache (the files were just "
            "written here). Give -e to drop them, or more bytes than "
            "memory.");
    }
}

ExitStatus run(BenchmarkSession& session, const hpio::HpioCommand& request, HpioReport& report) {
    LeftoverFile leftover(session.janitor());
    session.watch({.stall_seconds = request.limits.stall_seconds,
                   .limit_seconds = request.limits.budget.seconds,
                   .live = request.live,
                   .clean_up = [&leftover, &session] {
                       session.janitor().run_ends();
                       leftover.remove();
                   }});
    const auto done = run_all(session, request, report, leftover);
    session.unwatch();
    warn_of_cache(request, report);
    conclude(report, done, any_wrong(report));
    if (!session.is_first()) {
        return report.status;
    }
    print(further(request, report));
    return publish(report, {{request.json_file, as_json(request, report)},
                            {request.csv_file, as_csv(report)}});
}

}  // namespace
}  // namespace forebay::bench

int main(int argc, char** argv) {
    using namespace forebay::bench;
    namespace hpio = forebay::hpio;
    const ProgramSteps<hpio::HpioCommand, HpioReport> steps{
        .parse = hpio::parse_command,
        .help = hpio::help_text,
        .plan = plan,
        .heading = heading,
        .free_bytes =
            [](const hpio::HpioCommand& request) { return free_bytes(request.directory); },
        .outputs =
            [](const hpio::HpioCommand& request) {
                return std::vector<std::string>{request.json_file, request.csv_file};
            },
        .run = run};
    return run_program(steps, "Use smaller patterns.", argc, argv);
}
