// One test of a command line or script: its repetitions, each writing, checking, reading and
// removing as the options say. Called by all ranks of the session together.
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

// Where the human output goes; only rank 0's has an effect.
using Print = std::function<void(const std::string&)>;

// The files of numbers of all tests of a run, which may name the same files.
struct NumberFiles {
    std::map<std::string, std::string> of_ranks;  // lines of each file
    std::set<std::string> begun;                  // files of operations
};

struct TestSetting {
    const TestRanks* session = nullptr;
    const measure::TransferClock* clock = nullptr;
    measure::Monitor* monitor = nullptr;
    Hints hints;
    Print print;
    Print warn;  // a line that is said whatever the format
    NumberFiles* numbers = nullptr;
    // Set while there are files that are to go when the run is ended from outside.
    std::atomic<bool>* holds_files = nullptr;
    Janitor* janitor = nullptr;
};

struct TestEnd {
    measure::ExitStatus status = measure::ExitStatus::good;
    std::string message;  // of an error, the same on all ranks
};

// Fills test.phases and test.warnings.
[[nodiscard]] TestEnd run_test(const TestSetting& setting, ior::TestResult& test);

// Every file that tasks [first, end) can make; directories end in '/' and follow their files.
[[nodiscard]] std::vector<std::string> files_of(const ior::IorOptions& options, std::int64_t first,
                                                std::int64_t end);
// The files that a task makes; a shared one is the first task's.
void remove_files_of(const ior::IorOptions& options, std::int64_t task);

}  // namespace forebay::bench
