// From a benchmark's command line to its run: parse, plan, gate, run. All ranks refuse a run before
// anything is touched, and rank 0 says why.
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

// The steps that differ from one benchmark to another. A `Command` has command_line::RunOptions; a
// `Report` is a RunReport.
template <class Command, class Report>
struct ProgramSteps {
    Result<Command> (*parse)(std::span<const std::string> words);
    std::string (*help)();
    // The same on every rank: the estimate and the memory.
    Result<void> (*plan)(const BenchmarkSession& session, const Command& request, Report& report);
    std::string (*heading)(const Command& request, const Report& report);
    // Free bytes, of which the run may take a share; nullopt: not known.
    std::optional<std::int64_t> (*free_bytes)(const Command& request);
    // Files that will have results.
    std::vector<std::string> (*outputs)(const Command& request);
    ExitStatus (*run)(BenchmarkSession& session, const Command& request, Report& report);
};

// forebay's version, with a newline.
[[nodiscard]] std::string version_line();
// The program's exit status for an error that all ranks know of; rank 0 prints it.
ExitStatus refused(const BenchmarkSession& session, const Error& error, ExitStatus status);
// Collective: what rank 0 finds counts, as `status` where it is an error; nullopt: go on.
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

// All of main(): what the process returns. `advice` is given where a rank has no memory left.
template <class Command, class Report>
[[nodiscard]] int run_program(const ProgramSteps<Command, Report>& steps, const std::string& advice,
                              int argc, char** argv) {
    BenchmarkSession session(&argc, &argv);
    const CommandWords words(argc, argv);
    return exit_code([&] { return follow(steps, session, words); }, advice);
}

}  // namespace forebay::bench
