// Calls that libforebay_posix.so offers to Forebay's other libraries in the same process: the ones
// that it captures, as a table, since these libraries make no libc calls that could be captured.
// dlsym(RTLD_DEFAULT, calls_symbol) finds a pointer to PoolCalls, or nothing where nothing is
// preloaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/types.h>

namespace forebay::pool {

inline constexpr std::uint32_t calls_version = 4;
inline constexpr const char* calls_symbol = "forebay_pool_calls";

// Bytes of this process' log that are lent; see LogReservation in pool/client/log_writer.hpp.
struct LentBytes {
    std::uint64_t position;
    std::size_t place;
    std::byte* begin;
    std::size_t bytes;
};

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
    // The result that close() of a descriptor would have that wrote to the file, whoever did: 0, or
    // -1 and errno, where deposits cannot arrive as far as is known.
    int (*arrives)(dev_t device, ino_t inode);
    // Lets other processes write to this process' log: the name by which they reach it; 0: it
    // cannot be lent.
    std::uint64_t (*lend_log)();
    // The log of that name, to be written to where it is lent; null: there is none.
    std::byte* (*reach_log)(std::uint64_t name);
    // So many bytes of the own log, for the file. False: none are free at the moment.
    bool (*lend)(int fd, std::size_t bytes, LentBytes* lent);
    // As pwrite of bytes of a loan. `taken`: whether the pool has them, so that they are no part of
    // the loan any more; else the file has them, or nobody.
    ssize_t (*write_lent)(int fd, const LentBytes* part, off_t at, bool* taken);
    // Part of a loan that was not taken.
    void (*give_back)(const LentBytes* part);
    // Bytes of a reached log will be written for the first time.
    void (*prepare)(std::byte* begin, std::size_t bytes);
};

}  // namespace forebay::pool
