// Splits a long line of output into short ones, because launchers like srun may interleave pieces
// of lines of some kilobytes from several tasks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::daemon {

// Lines of JSON (forebay.pool.part/1, schema/pool.md), each shorter than 1000 bytes, without
// newlines.
[[nodiscard]] std::vector<std::string> in_parts(std::uint32_t node, std::string_view line);

}  // namespace forebay::daemon
