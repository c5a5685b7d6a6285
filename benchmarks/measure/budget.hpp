// A benchmark is a guest on a file system that others work on. It estimates a run before it touches
// anything, prints the estimate, and compares it with what the user allows.
#pragma once

#include "foundation/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace forebay::measure {

// Upper bounds of a run; its time as far as known before it (-D, -T, minTimeDuration, …).
struct RunEstimate {
    std::int64_t bytes_written = 0;
    std::int64_t bytes_read = 0;
    std::int64_t bytes_kept_max = 0;  // on the file system at the same time
    std::int64_t files = 0;
    std::optional<double> seconds_min;  // it takes so long for certain
    std::optional<double> seconds;      // it is over by then
};

// Unset is unlimited.
struct Budget {
    std::optional<double> seconds;
    std::optional<std::int64_t> bytes;  // written
    std::optional<std::int64_t> files;
    std::optional<double> free_share;  // of the space free on the file system, 0 … 1
};

// "writes 16 MiB into 4 files, reads 16 MiB, holds 16 MiB at a time, time not limited"
[[nodiscard]] std::string describe(const RunEstimate& estimate);

// `free_bytes`: what statvfs says is available; nullopt: not known, then the share is not checked.
// The error says which limit, by how much, and how to allow it. A time budget does not refuse a run
// of unknown length: the watchdog ends that one.
Result<void> allowed(const RunEstimate& estimate, const Budget& budget,
                     std::optional<std::int64_t> free_bytes);

// "60", "90s", "5m", "2h" → seconds; "10%" or "0.1" → 0.1.
Result<double> parse_seconds(const std::string& text);
Result<double> parse_share(const std::string& text);

}  // namespace forebay::measure
