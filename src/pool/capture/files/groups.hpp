// Files that ranks on several nodes open together: functions behind PoolCalls in
// pool/client/calls.hpp, which documents them.
#pragma once

#include <cstdint>
#include <sys/types.h>

namespace forebay::capture {

[[nodiscard]] std::uint32_t nodes_of_job() noexcept;
void group_opens(std::uint64_t group) noexcept;
[[nodiscard]] int open_part(const char* path, int flags, std::uint64_t group) noexcept;
[[nodiscard]] bool knows(dev_t device, ino_t inode) noexcept;
// Both return 0 or an errno.
[[nodiscard]] int settle(dev_t device, ino_t inode) noexcept;
[[nodiscard]] int arrives(dev_t device, ino_t inode) noexcept;

}  // namespace forebay::capture
