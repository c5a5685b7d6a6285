// What a benchmark's exit status says, the same for every program of the bench; documented in
// docs/benchmarks.md. Numbers of errors never are a status: 256 of them would read as success. A
// run that a signal ended has 128 and the signal's number (exit_status() of monitor.hpp).
#pragma once

namespace forebay::measure {

enum class ExitStatus {
    good = 0,
    usage = 1,         // the command line or script makes no sense; nothing was touched
    input_output = 2,  // a file system call failed
    data_wrong = 3,    // everything worked, and what was read is not what was written
    time_limit = 4,    // the watchdog ended a run that stood still
    refused = 5,       // the budget does not allow it; nothing was touched
};

[[nodiscard]] constexpr int code(ExitStatus status) noexcept { return static_cast<int>(status); }

}  // namespace forebay::measure
