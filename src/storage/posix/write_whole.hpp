// Writes a whole buffer, in as many calls as it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay::adapters {

// Writes `bytes` at offset `at`. Returns 0 or an errno; EIO if pwrite writes nothing and reports no
// error.
[[nodiscard]] int write_whole(int fd, std::span<const std::byte> bytes, std::int64_t at);

}  // namespace forebay::adapters
