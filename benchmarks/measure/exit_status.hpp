// A benchmark's exit status means the same for every program of the bench; documented in
// docs/benchmarks.md. The number of errors is never a status: 256 errors would read as success. For
// a run that a signal ended it is 128 plus the signal's number (exit_status() of monitor.hpp).
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
