// Writes all of it, however many calls that takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay::adapters {

// At byte `at` of the file. 0 or an errno; EIO where the file system takes nothing and says
// nothing.
[[nodiscard]] int write_whole(int fd, std::span<const std::byte> bytes, std::int64_t at);

}  // namespace forebay::adapters
