// A benchmark's output, and where it goes.
#pragma once

#include "benchmarks/measure/exit_status.hpp"
#include "foundation/base/result.hpp"

#include <string>
#include <vector>

namespace forebay::bench {

void print(const std::string& text);
// On standard error, after "forebay: ".
measure::ExitStatus complain(const std::string& message,
                             measure::ExitStatus status = measure::ExitStatus::input_output);
// Whole or not at all, but for what is no regular file (/dev/null); an empty path writes nothing,
// "-" standard output.
Result<void> write_text(const std::string& path, const std::string& text);

// Whether write_text will find a place there, as far as can be seen before.
Result<void> can_write(const std::string& path);
Result<void> can_write_all(const std::vector<std::string>& paths);

}  // namespace forebay::bench
