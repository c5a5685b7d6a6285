// The frame of a benchmark program: parse, plan, check the budget, run. All ranks refuse a run
// before anything is touched, and rank 0 prints the reason.
#pragma once

#include "benchmarks/measure/budget.hpp"
#include "benchmarks/session/output.hpp"
#include "benchmarks/session/run_report.hpp"
#include "benchmarks/session/session.hpp"
#include "benchmarks/session/together.hpp"
#include "benchmarks/session/words.hpp"
#include "foundation/base/result.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace forebay::bench {

// The steps that differ between benchmarks. `Command` derives from command_line::RunOptions, and
// `Report` from RunReport.
template <class Command, class Report>
struct ProgramSteps {
    Result<Command> (*parse)(std::span<const std::string> words);
    std::string (*help)();
    // Computes the estimate and the memory, equally on every rank.
    Result<void> (*plan)(const BenchmarkSession& session, const Command& request, Report& report);
    std::string (*heading)(const Command& request, const Report& report);
    // Free bytes, of which the run may use a share; nullopt: unknown.
    std::optional<std::int64_t> (*free_bytes)(const Command& request);
    // The output files.
    std::vector<std::string> (*outputs)(const Command& request);
    ExitStatus (*run)(BenchmarkSession& session, const Command& request, Report& report);
};

// Forebay's version, with a newline.
[[nodiscard]] std::string version_line();
// The exit status for an error that all ranks have; rank 0 prints it.
ExitStatus refused(const BenchmarkSession& session, const Error& error, ExitStatus status);
// Collective: calls `of_first` on rank 0. Returns `status` if that is an error; nullopt: go on.
[[nodiscard]] std::optional<ExitStatus> stopped(const BenchmarkSession& session,
                                                const std::function<Result<void>()>& of_first,
                                                ExitStatus status);

template <class Command, class Report>
ExitStatus follow(const ProgramSteps<Command, Report>& steps, BenchmarkSession& session,
                  const CommandWords& words) {
    const Result<Command> request = steps.parse(std::span(words.read).subspan(1));
    if (!request) {
        return refused(session, request.error(), ExitStatus::usage);
    }
    if (request->help || request->version) {
        if (session.is_first()) {
            print(request->help ? steps.help() : version_line());
        }
        return ExitStatus::good;
    }
    Report report;
    begin(report, session, words.shown);
    if (auto planned = steps.plan(session, *request, report); !planned) {
        return refused(session, planned.error(), ExitStatus::usage);
    }
    if (session.is_first()) {
        print(steps.heading(*request, report));
    }
    const auto gate = [&] {
        return measure::allowed(report.estimate, request->limits.budget,
                                steps.free_bytes(*request));
    };
    if (auto status = stopped(session, gate, ExitStatus::refused)) {
        return *status;
    }
    if (request->dry_run) {
        if (session.is_first()) {
            print("dry run: nothing was touched\n");
        }
        return ExitStatus::good;
    }
    const auto places = [&] { return can_write_all(steps.outputs(*request)); };
    if (auto status = stopped(session, places, ExitStatus::usage)) {
        return *status;
    }
    return steps.run(session, *request, report);
}

// The whole of main(): returns the process's status. `advice` is printed if a rank runs out of
// memory.
template <class Command, class Report>
[[nodiscard]] int run_program(const ProgramSteps<Command, Report>& steps, const std::string& advice,
                              int argc, char** argv) {
    BenchmarkSession session(&argc, &argv);
    const CommandWords words(argc, argv);
    return exit_code([&] { return follow(steps, session, words); }, advice);
}

}  // namespace forebay::bench
