// The exit statuses that all benchmarks share; documented in docs/benchmarks.md. The number of
// errors is never a status, since 256 would read as success. A run ended by a signal exits with 128
// plus its number (exit_status() of monitor.hpp).
#pragma once

namespace forebay::measure {

enum class ExitStatus {
    good = 0,
    usage = 1,         // the command line or script is invalid; nothing was touched
    input_output = 2,  // a file system call failed
    data_wrong = 3,    // the data read is not the data written
    time_limit = 4,    // the watchdog ended a run that had stalled
    refused = 5,       // the budget does not allow the run; nothing was touched
};

[[nodiscard]] constexpr int code(ExitStatus status) noexcept { return static_cast<int>(status); }

}  // namespace forebay::measure
