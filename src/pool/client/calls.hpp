// What libforebay_posix.so offers to Forebay's other libraries in the same process: the calls that
// it captures, by a table, since these libraries make no libc calls that could be captured. Found
// by dlsym(RTLD_DEFAULT, calls_symbol): a pointer to PoolCalls; absent where nothing is preloaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/types.h>

namespace forebay::pool {

inline constexpr std::uint32_t calls_version = 1;
inline constexpr const char* calls_symbol = "forebay_pool_calls";

// As libc's calls: results, errno, and what they do to files that are not pooled.
struct PoolCalls {
    std::uint32_t version;
    // Whether files below this path are pooled.
    bool (*covers)(const char* path);
    int (*open)(const char* path, int flags, mode_t mode);
    int (*close)(int fd);
    ssize_t (*pread)(int fd, void* to, std::size_t bytes, off_t at);
    ssize_t (*pwrite)(int fd, const void* from, std::size_t bytes, off_t at);
    int (*fsync)(int fd);
};

}  // namespace forebay::pool
