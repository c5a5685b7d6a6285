// Helpers to map and unmap shared memory that another process passed as a descriptor.
#pragma once

#include "foundation/kernel/calls.hpp"

#include <cstddef>
#include <sys/mman.h>
#include <sys/stat.h>

namespace forebay::pool {

inline void close_if_open(int fd) noexcept {
    if (fd >= 0) {
        kernel::close(fd);
    }
}

inline void unmapped(const void* at, std::size_t bytes) noexcept {
    if (at != nullptr) {
        kernel::munmap(const_cast<void*>(at), bytes);
    }
}

// How much of the memory behind a descriptor is mapped, and for which access.
struct MappedRoom {
    std::size_t bytes = 0;
    int protection = PROT_READ;
};

// Maps the first `room.bytes` bytes of `fd` (MAP_SHARED). Returns null if that fails or the file is
// shorter.
[[nodiscard]] inline std::byte* map_whole(int fd, const MappedRoom& room) noexcept {
    struct stat found{};
    if (fd < 0 || kernel::fstat(fd, &found) != 0 ||
        static_cast<std::size_t>(found.st_size) < room.bytes) {
        return nullptr;
    }
    void* const at =
        kernel::mmap(nullptr, room.bytes, room.protection, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (at == MAP_FAILED) {
        return nullptr;
    }
    kernel::madvise(at, room.bytes, MADV_DONTDUMP);
    return static_cast<std::byte*>(at);
}

}  // namespace forebay::pool
