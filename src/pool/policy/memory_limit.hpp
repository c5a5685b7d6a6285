// How much memory the control groups of a process leave it: which files say so, and what these say.
// Pages of the pool are charged to the group of whichever process writes them first, so that a pool
// which is sized by the node's memory has the kernel end a program in a smaller group.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::pool {

struct MemoryLimit {
    std::int64_t bytes = 0;
    std::string file = {};  // the control group's that sets it; empty: the machine's memory
    bool operator==(const MemoryLimit&) const noexcept = default;
};

// Files with limits that hold for a process, those of its own group first, then those of the groups
// above it: of the memory controller of version 1, of version 2, or of both where both are mounted.
// `groups` and `mounts` are the texts of /proc/self/cgroup and /proc/self/mountinfo. Within a
// container only groups mounted in it can be named; memory.stat of version 1 tells of the groups
// above, too.
[[nodiscard]] std::vector<std::string> memory_limit_files(std::string_view groups,
                                                          std::string_view mounts);

// `limit`, or what the text of one of these files says, if that is less. Not everything that can be
// named is there: an empty text says nothing.
[[nodiscard]] MemoryLimit lesser_limit(MemoryLimit limit, std::string_view file,
                                       std::string_view text);

// The most that the pool may use if nobody says: a tenth of the memory, from 64 MiB to 16 GiB, but
// never more than a quarter of it. 0 bytes: it is not known how much there is.
[[nodiscard]] std::int64_t usual_cap(std::int64_t memory_bytes) noexcept;

// The cap that somebody wants, bounded: not less than a pool can work with, and no more than half
// of what a control group allows, beyond which the kernel would end programs. `limit` as above.
[[nodiscard]] std::int64_t bounded_cap(std::int64_t wanted_bytes,
                                       const MemoryLimit& limit) noexcept;

inline constexpr std::int64_t cap_least = std::int64_t{4} << 20;

}  // namespace forebay::pool
