// What libforebay_posix.so offers to Forebay's other libraries in the same process: the calls that
// it captures, by a table, since these libraries make no libc calls that could be captured. Found
// by dlsym(RTLD_DEFAULT, calls_symbol): a pointer to PoolCalls; absent where nothing is preloaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/types.h>

namespace forebay::pool {

inline constexpr std::uint32_t calls_version = 2;
inline constexpr const char* calls_symbol = "forebay_pool_calls";

// As libc's calls: results, errno, and what they do to files that are not pooled.
//
// Where the pool's job has several nodes, ranks on them that open a file together choose a number
// for that, its group. Within group_opens() the calling thread's open() makes descriptors that libc
// reads and writes, as if there were no pool, while open_part() makes those whose writes are
// deposits: all ranks' parts must write disjoint bytes. Before one of the first kind is used,
// settle() has to bring into the file what the parts deposited.
struct PoolCalls {
    std::uint32_t version;
    // Whether files below this path are pooled.
    bool (*covers)(const char* path);
    int (*open)(const char* path, int flags, mode_t mode);
    int (*close)(int fd);
    ssize_t (*pread)(int fd, void* to, std::size_t bytes, off_t at);
    ssize_t (*pwrite)(int fd, const void* from, std::size_t bytes, off_t at);
    int (*fsync)(int fd);
    // Nodes of the pool's job; 0: there is no daemon to be reached.
    std::uint32_t (*nodes)();
    // Until it is called again with 0: the group of what the calling thread opens.
    void (*group_opens)(std::uint64_t group);
    int (*open_part)(const char* path, int flags, std::uint64_t group);
    // Whether the daemon knows the file.
    bool (*knows)(dev_t device, ino_t inode);
    // All nodes have drained the file. -1 and errno: what one of them has cannot be had.
    int (*settle)(dev_t device, ino_t inode);
};

}  // namespace forebay::pool
