// A stub of pool::PoolCalls (pool/client/calls.hpp) for tests: file calls go straight to the file
// system. Every path counts as pooled, on one node; nothing is deposited, no memory is lent, and no
// call fails by itself.
#pragma once

#include "pool/mpi_bridge/storage.hpp"

#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

namespace forebay::interposer::scripted {

inline int open_plainly(const char* path, int flags, mode_t mode) {
    return ::open(path, flags, mode);
}

inline constexpr pool::PoolCalls plain_calls{
    .version = pool::calls_version,
    .covers = [](const char*) { return true; },
    .open = &open_plainly,
    .close = &::close,
    .pread = &::pread,
    .pwrite = &::pwrite,
    .fsync = &::fsync,
    // One node: no group is needed, every file is known, and there is nothing to drain.
    .nodes = [] { return std::uint32_t{1}; },
    .group_opens = [](std::uint64_t) {},
    .open_part = [](const char* path, int flags, std::uint64_t) { return ::open(path, flags); },
    .knows = [](dev_t, ino_t) { return true; },
    .settle = [](dev_t, ino_t) { return 0; },
    .arrives = [](dev_t, ino_t) { return 0; },
    // Lends no memory: log name 0, no mapping, no bytes.
    .lend_log = [] { return std::uint64_t{0}; },
    .reach_log = [](std::uint64_t) -> std::byte* { return nullptr; },
    .lend = [](int, std::size_t, pool::LentBytes*) { return false; },
    .write_lent = [](int, const pool::LentBytes*, off_t, bool*) { return ssize_t{-1}; },
    .give_back = [](const pool::LentBytes*) {},
    .prepare = [](std::byte*, std::size_t) {},
};

}  // namespace forebay::interposer::scripted
