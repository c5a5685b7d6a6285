// Renders IOR's output, column by column, so that scripts that parse it still work. The tables of
// distribution_tables.hpp follow `Summary of all tests:`.
#pragma once

#include "benchmarks/ior/results.hpp"

#include <string>

namespace forebay::ior {

// The lines "IOR-…: MPI Coordinated Test of Parallel I/O", Began, Command line and Machine.
[[nodiscard]] std::string head_text(const RunResult& run, std::int64_t verbose);
// The lines from TestID to FS, and Options:.
[[nodiscard]] std::string test_text(const TestResult& test);
// "Results:" and the table's header; with -vv the data's seed is between them.
[[nodiscard]] std::string results_head(const TestResult& test);
[[nodiscard]] std::string seed_line(const TestResult& test);
// -vv with -Z: how many files are read by no task, one task, two …; `sources` has the task whose
// data each task reads.
[[nodiscard]] std::string hits_line(const std::vector<std::int64_t>& sources);
[[nodiscard]] std::string phase_row(const PhaseResult& phase, const IorOptions& options);
// -vvv: when each rank began and ended each step, on its own clock.
[[nodiscard]] std::string moments_text(const TestResult& test, const PhaseResult& phase);
[[nodiscard]] std::string remove_row(double seconds, std::int64_t repetition);
// The lines "Max Write: …" and "Max Read:  …" of -v.
[[nodiscard]] std::string maxima_text(const TestResult& test);
[[nodiscard]] std::string summary_text(const RunResult& run);

// A number in IOR's ten columns: six decimals below 1, two below 3600, else none; "-" if negative.
[[nodiscard]] std::string column(double value);

// An entry of the options block, for text and JSON.
struct NamedValue {
    std::string name;
    std::string value;
    bool number = false;
};
// Capacity, Used Capacity, Inodes and Used Inodes; empty if the file system is unknown.
[[nodiscard]] std::vector<NamedValue> file_system_block(const TestResult& test);
[[nodiscard]] std::vector<NamedValue> option_block(const TestResult& test);
[[nodiscard]] std::vector<NamedValue> parameter_block(const TestResult& test);

// The phases of one access of a test, summarised over its repetitions.
struct SummaryRow {
    std::string access;
    std::vector<double> bandwidths;  // MiB/s of each repetition
    std::vector<double> operations;  // IOR's OPs: bandwidth divided by transfer size
    std::vector<double> seconds;
    double bytes_mean = 0.0;
    const PhaseResult* last = nullptr;
};
[[nodiscard]] std::vector<SummaryRow> summary_rows(const TestResult& test);

}  // namespace forebay::ior
