// How much memory the control groups (cgroups) of a process leave it: which files hold the limits,
// and how to read them. Pure. A page of the pool is charged to the cgroup of the process that
// touches it first; a pool that is sized by the memory of the node would get a program in a smaller
// cgroup killed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::pool {

struct MemoryLimit {
    std::int64_t bytes = 0;
    std::string file = {};  // the file that holds the limit; empty: the machine's memory
    bool operator==(const MemoryLimit&) const noexcept = default;
};

// The files with memory limits that apply to a process: first those of its own cgroup, then those
// of the cgroups above it, for version 1 of the memory controller, version 2, or both if both are
// mounted. `groups` and `mounts` are the contents of /proc/self/cgroup and /proc/self/mountinfo. In
// a container only the cgroups that are mounted there have files; memory.stat of version 1 also
// tells the minimum of the limits above.
[[nodiscard]] std::vector<std::string> memory_limit_files(std::string_view groups,
                                                          std::string_view mounts);

// The smaller of `limit` and the limit in `text`, the content of `file`. An empty text is no limit:
// some of the files may not exist.
[[nodiscard]] MemoryLimit lesser_limit(MemoryLimit limit, std::string_view file,
                                       std::string_view text);

// The default cap of the pool: a tenth of the memory, from 64 MiB to 16 GiB, but never more than a
// quarter of the memory. If the size of the memory is not known (`memory_bytes` <= 0), it is 64
// MiB.
[[nodiscard]] std::int64_t usual_cap(std::int64_t memory_bytes) noexcept;

// The cap that the user wants, bounded: at least `cap_least`, below which a pool cannot work, and
// at most half of what a cgroup allows, since beyond its limit the kernel kills programs.
[[nodiscard]] std::int64_t bounded_cap(std::int64_t wanted_bytes,
                                       const MemoryLimit& limit) noexcept;

// Whether what the pool writes to files must not stay dirty in the page cache: the kernel counts
// these pages to the cgroup, cannot drop them, and writes them out when it sees fit. With version 1
// of the memory controller it kills programs where the cgroup is full of them.
[[nodiscard]] bool has_no_room_for_dirty_pages(const MemoryLimit& limit) noexcept;

// Below this (2 GiB). A larger cgroup holds what some seconds of draining leave dirty.
inline constexpr std::int64_t dirty_room_min = std::int64_t{2} << 30;

inline constexpr std::int64_t cap_least = std::int64_t{4} << 20;

}  // namespace forebay::pool
