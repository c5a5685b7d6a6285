// A long line as several short ones. A program that reads the output of many tasks at once, as srun
// does, puts lines of some kilobytes together out of pieces of several tasks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::daemon {

// Lines of JSON (forebay.pool.part/1, schema/pool.md), each below 1000 bytes and without its end.
[[nodiscard]] std::vector<std::string> in_parts(std::uint32_t node, std::string_view line);

}  // namespace forebay::daemon
