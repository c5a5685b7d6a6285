// The human output: IOR's blocks and tables column by column, so that scripts that parse them go
// on working. After `Summary of all tests:` come the tables of distribution_tables.hpp.
#pragma once

#include "benchmarks/ior/results.hpp"

#include <string>

namespace forebay::ior {

// "IOR-…: MPI Coordinated Test of Parallel I/O", Began, Command line, Machine.
[[nodiscard]] std::string head_text(const RunResult& run, std::int64_t verbose);
// TestID … FS, Options:.
[[nodiscard]] std::string test_text(const TestResult& test);
// "Results:" and the head of its table; -vv shows the data's seed between them.
[[nodiscard]] std::string results_head(const TestResult& test);
[[nodiscard]] std::string seed_line(const TestResult& test);
// -vv with -Z: how many files nobody reads, one task, two …; `sources`: whose data each task reads.
[[nodiscard]] std::string hits_line(const std::vector<std::int64_t>& sources);
[[nodiscard]] std::string phase_row(const PhaseResult& phase, const IorOptions& options);
// -vvv: when each rank began and ended what, by its own clock.
[[nodiscard]] std::string moments_text(const TestResult& test, const PhaseResult& phase);
[[nodiscard]] std::string remove_row(double seconds, std::int64_t repetition);
// "Max Write: …" and "Max Read:  …" of -v.
[[nodiscard]] std::string maxima_text(const TestResult& test);
[[nodiscard]] std::string summary_text(const RunResult& run);

// A number in IOR's ten columns: six decimals below 1, two below 3600, none above; "-" if negative.
[[nodiscard]] std::string column(double value);

// The options block as name and value, for the text and JSON.
struct NamedValue {
    std::string name;
    std::string value;
    bool number = false;
};
// Capacity, Used Capacity, Inodes, Used Inodes; empty when the file system is not known.
[[nodiscard]] std::vector<NamedValue> file_system_block(const TestResult& test);
[[nodiscard]] std::vector<NamedValue> option_block(const TestResult& test);
[[nodiscard]] std::vector<NamedValue> parameter_block(const TestResult& test);

// Phases of one access of a test, summarised over the repetitions.
struct SummaryRow {
    std::string access;
    std::vector<double> bandwidths;  // MiB/s, of each repetition
    std::vector<double> operations;  // as IOR's OPs: bandwidth by transfer size
    std::vector<double> seconds;
    double bytes_mean = 0.0;
    const PhaseResult* last = nullptr;
};
[[nodiscard]] std::vector<SummaryRow> summary_rows(const TestResult& test);

}  // namespace forebay::ior
