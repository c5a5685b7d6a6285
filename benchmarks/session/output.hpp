// A benchmark's output: standard output, messages and files.
#pragma once

#include "benchmarks/measure/exit_status.hpp"
#include "foundation/base/result.hpp"

#include <string>
#include <vector>

namespace forebay::bench {

void print(const std::string& text);
// Prints to standard error, after "forebay: ".
measure::ExitStatus complain(const std::string& message,
                             measure::ExitStatus status = measure::ExitStatus::input_output);
// Replaces a regular file atomically, or writes to a special one (/dev/null). An empty path writes
// nothing, "-" writes to standard output.
Result<void> write_text(const std::string& path, const std::string& text);

// Checks, as far as possible in advance, whether write_text() will succeed.
Result<void> can_write(const std::string& path);
Result<void> can_write_all(const std::vector<std::string>& paths);

}  // namespace forebay::bench
