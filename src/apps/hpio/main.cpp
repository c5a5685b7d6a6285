// forebay-hpio: parse → estimate and gate → run → report.
#include "bench/hpio/program/report.hpp"
#include "bench/session/output.hpp"
#include "bench/session/together.hpp"
#include "bench/session/words.hpp"

#include <cstdio>
#include <fmt/format.h>

namespace forebay::bench {
namespace {

Report start(const Session& session, const std::vector<std::string>& command) {
    Report report;
    report.command = command;
    report.started = utc_now();
    report.mpi = session.mpi_version();
    report.host = session.host();
    report.ranks = session.ranks();
    report.nodes = session.nodes();
    if (auto warning = session.oversubscribed()) {
        report.warnings.push_back(*warning);
    }
    return report;
}

// The same on every rank: what the command asks for, and whether that is allowed.
Result<void> plan(const Session& session, const hpio::Command& request, Report& report) {
    auto estimate = hpio::estimate(request, session.ranks());
    if (!estimate) {
        return failure(estimate.error());
    }
    report.estimate = *estimate;
    std::int64_t memory = 0;
    for (const hpio::Point& point : request.points) {
        const hpio::Job job{.pattern = resolved(point.pattern, session.ranks()).value(),
                            .ranks = session.ranks()};
        memory = std::max(memory, job.memory_layout(Rank{0}).extent_bytes());
    }
    const auto own = static_cast<std::int64_t>(measure::Histogram::buckets * sizeof(std::uint64_t) +
                                               2 * hpio::Content::chunk_bytes);
    report.memory_bytes = memory + own;
    return {};
}

Result<void> run_all(Session& session, const hpio::Command& request, Report& report,
                     Leftover& leftover) {
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

bool any_wrong(const Report& report) {
    return std::any_of(report.points.begin(), report.points.end(), [](const PointResult& one) {
        return one.wrong_data_bytes + one.wrong_gap_bytes > 0;
    });
}

void warn_of_cache(const hpio::Command& request, Report& report) {
    const bool reads =
        std::any_of(request.points.begin(), request.points.end(),
                    [](const hpio::Point& one) { return one.direction == hpio::Direction::read; });
    if (reads && !request.drop_caches) {
        report.warnings.emplace_back(
            "reads come from this node's page cache (the files were just "
            "written here). Give -e to drop them, or more bytes than "
            "memory.");
    }
}

ExitStatus run(Session& session, const hpio::Command& request, Report& report) {
    Leftover leftover(session.janitor());
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
    if (!done) {
        report.error = done.error().message;
        report.status = status_of(done.error());
    } else if (any_wrong(report)) {
        report.status = ExitStatus::data_wrong;
    }
    if (!session.is_first()) {
        return report.status;
    }
    print(further(request, report));
    for (const auto& [path, text] : {std::pair{request.json_file, as_json(request, report)},
                                     std::pair{request.csv_file, as_csv(report)}}) {
        if (auto written = write_text(path, text); !written) {
            complain(written.error().message);
            report.status = ExitStatus::input_output;
        }
    }
    if (!report.error.empty()) {
        complain(report.error);
    }
    return report.status;
}

ExitStatus program(Session& session, const Words& words) {
    const auto request = hpio::parse_command(std::span(words.read).subspan(1));
    if (!request) {
        return session.is_first() ? complain(request.error().message, ExitStatus::usage)
                                  : ExitStatus::usage;
    }
    if (request->help || request->version) {
        if (session.is_first()) {
            print(request->help ? hpio::help_text() : fmt::format("{}\n", FOREBAY_VERSION));
        }
        return ExitStatus::good;
    }
    Report report = start(session, words.shown);
    if (auto planned = plan(session, *request, report); !planned) {
        return session.is_first() ? complain(planned.error().message, ExitStatus::usage)
                                  : ExitStatus::usage;
    }
    if (session.is_first()) {
        print(heading(*request, report));
    }
    const Result<void> gate = session.is_first()
                                  ? measure::allowed(report.estimate, request->limits.budget,
                                                     free_bytes(request->directory))
                                  : Result<void>{};
    if (auto fine = session.agreed(gate); !fine) {
        return session.is_first() ? complain(gate.error().message, ExitStatus::refused)
                                  : ExitStatus::refused;
    }
    if (request->dry_run) {
        if (session.is_first()) {
            print("dry run: nothing was touched\n");
        }
        return ExitStatus::good;
    }
    const Result<void> places = session.is_first()
                                    ? can_write_all({request->json_file, request->csv_file})
                                    : Result<void>{};
    if (!session.agreed(places)) {
        return session.is_first() ? complain(places.error().message, ExitStatus::usage)
                                  : ExitStatus::usage;
    }
    return run(session, *request, report);
}

}  // namespace
}  // namespace forebay::bench

int main(int argc, char** argv) {
    using namespace forebay::bench;
    Session session(&argc, &argv);
    const Words words(argc, argv);
    return exit_code([&] { return program(session, words); }, "Use smaller patterns.");
}
