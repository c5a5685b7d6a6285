// The budget of a run. A benchmark shares its file system with other users, so it estimates a run
// before it touches anything, prints the estimate, and compares it with what the user allows.
#pragma once

#include "foundation/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace forebay::measure {

// Upper bounds of a run; its duration as far as known in advance (-D, -T, minTimeDuration, …).
struct RunEstimate {
    std::int64_t bytes_written = 0;
    std::int64_t bytes_read = 0;
    std::int64_t bytes_kept_max = 0;  // on the file system at the same time
    std::int64_t files = 0;
    std::optional<double> seconds_min;  // lower bound of the duration
    std::optional<double> seconds;      // upper bound of the duration
};

// An unset limit is unlimited.
struct Budget {
    std::optional<double> seconds;
    std::optional<std::int64_t> bytes;  // written
    std::optional<std::int64_t> files;
    std::optional<double> free_share;  // share of the file system's free space, 0 … 1
};

// "writes 16 MiB into 4 files, reads 16 MiB, holds 16 MiB at a time, time not limited"
[[nodiscard]] std::string describe(const RunEstimate& estimate);

// `free_bytes` is statvfs's available space; nullopt: unknown, so the share is not checked. The
// error names the limit, the excess, and how to allow it. A time budget does not refuse a run of
// unknown duration; the watchdog ends it in time.
Result<void> allowed(const RunEstimate& estimate, const Budget& budget,
                     std::optional<std::int64_t> free_bytes);

// Parse "60", "90s", "5m" or "2h" as seconds; "10%" or "0.1" as 0.1.
Result<double> parse_seconds(const std::string& text);
Result<double> parse_share(const std::string& text);

}  // namespace forebay::measure
