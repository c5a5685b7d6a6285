// The lines of a run's record as values, and their JSON. The format is schema/record.md; Python
// decodes it.
#pragma once

#include "foundation/base/result.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace forebay::record {

struct JobLine {
    std::string forebay;  // version
    std::string mpi;      // the MPI library's own name for itself
    std::string family;
    std::int64_t ranks = 0;
    std::int64_t rank = 0;  // rank in MPI_COMM_WORLD of the process that writes the line
    std::int64_t nodes = 0;
    std::int64_t pid = 0;
    std::string host;
    std::string command;
    std::string started;  // ISO 8601, UTC
};

// The end of a process that has written a JobLine.
struct EndLine {
    std::int64_t rank = 0;  // in MPI_COMM_WORLD
    std::int64_t pid = 0;
    std::string host;
    std::int64_t process_ns = 0;  // from the start of the process to MPI_Finalize
};

// Totals for one direction of a file. Durations in nanoseconds.
struct FileTraffic {
    std::int64_t calls = 0;
    std::int64_t bytes = 0;
    std::int64_t rounds = 0;
    std::int64_t requests = 0;
    std::int64_t bypassed_calls = 0;
    std::int64_t lent_bytes = 0;
    std::int64_t total_ns = 0;
    std::int64_t exchange_ns = 0;
    std::int64_t storage_ns = 0;
    std::int64_t wait_ns = 0;
    std::int64_t found_limit = 0;  // requests in flight per target; 0: not searched for
};

// A straggler among the storage targets. Rates in bytes per second.
struct SlowTargetLine {
    std::int64_t target = 0;  // index in the layout
    bool writes = true;
    double rate = 0;
    double usual_rate = 0;
    std::int64_t limit = 0;  // its best number of requests in flight; 0: not found
};

struct PassedThrough {
    std::string call;
    std::int64_t calls = 0;
    std::int64_t bytes = 0;  // -1: not known
    std::string reason;
};

struct ErrorNote {
    std::string call;
    std::string error_class;
    std::string message;
};

struct FileLine {
    std::string path;
    bool closed = true;
    std::int64_t ranks = 0;
    std::int64_t nodes = 0;
    std::vector<std::int32_t> aggregators;
    std::int64_t targets = 1;
    std::int64_t stripe_bytes = 0;
    std::int64_t open_ns = 0;
    std::vector<std::pair<std::string, std::string>> settings;
    FileTraffic write;
    FileTraffic read;
    std::vector<PassedThrough> passed_through;
    std::vector<ErrorNote> errors;
    std::vector<SlowTargetLine> slow_targets;
    std::vector<std::string> warnings;  // texts for users
};

// One line of JSON, without a newline.
[[nodiscard]] std::string to_json(const JobLine& line);
[[nodiscard]] std::string to_json(const FileLine& line);
[[nodiscard]] std::string to_json(const EndLine& line);

// Appends `line` and a newline in one write, so that the lines of concurrent jobs do not mix.
Result<void> append_line(const std::string& path, std::string line);

}  // namespace forebay::record
