// Runs one test of a command line or script: repetitions of write, check, read and remove phases as
// the options say. Called by all ranks of the session together.
#pragma once

#include "benchmarks/ior/program/backend.hpp"
#include "benchmarks/ior/program/phase.hpp"
#include "benchmarks/ior/program/surroundings.hpp"
#include "benchmarks/ior/program/test_ranks.hpp"
#include "benchmarks/ior/results.hpp"
#include "benchmarks/measure/exit_status.hpp"
#include "benchmarks/measure/monitor.hpp"
#include "benchmarks/session/janitor.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <string>

namespace forebay::bench {

// Prints text for users; has an effect on rank 0 only.
using Print = std::function<void(const std::string&)>;

// The files of numbers of all tests of a run; several tests may name the same file.
struct NumberFiles {
    std::map<std::string, std::string> of_ranks;  // lines of each file
    std::set<std::string> begun;                  // files of operations that have been truncated
};

struct TestSetting {
    const TestRanks* session = nullptr;
    const measure::TransferClock* clock = nullptr;
    measure::Monitor* monitor = nullptr;
    Hints hints;
    Print print;
    Print warn;  // prints a line in every output format
    NumberFiles* numbers = nullptr;
    // True while there are files that must be removed if the run is ended from outside.
    std::atomic<bool>* holds_files = nullptr;
    Janitor* janitor = nullptr;
};

struct TestEnd {
    measure::ExitStatus status = measure::ExitStatus::good;
    std::string message;  // of an error; the same on all ranks
};

// Fills in test.phases and test.warnings.
[[nodiscard]] TestEnd run_test(const TestSetting& setting, ior::TestResult& test);

// All files that tasks [first, end) may create; directories end in '/' and follow their files.
[[nodiscard]] std::vector<std::string> files_of(const ior::IorOptions& options, std::int64_t first,
                                                std::int64_t end);
// Removes the files that a task creates; a shared file belongs to the first task.
void remove_files_of(const ior::IorOptions& options, std::int64_t task);

}  // namespace forebay::bench
