// The table of calls that libforebay_posix.so (the preloaded capture library) offers to Forebay's
// other libraries in the same process. They use this table instead of libc's calls, because their
// own calls bypass the capture. dlsym(RTLD_DEFAULT, calls_symbol) finds a pointer to PoolCalls, or
// null if the library is not preloaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/types.h>

namespace forebay::pool {

inline constexpr std::uint32_t calls_version = 5;
inline constexpr const char* calls_symbol = "forebay_pool_calls";

// Bytes of this process' log that are lent to other processes; see LogReservation in
// pool/client/log_writer.hpp.
struct LentBytes {
    std::uint64_t position;
    std::size_t place;
    std::byte* begin;
    std::size_t bytes;
};

// Functions named as libc's behave as libc's do: results, errno, and effects on files that are not
// pooled. The others that can fail return an errno, or 0.
//
// If the job runs on several nodes, ranks that open a file together choose a number for it, its
// group. Between group_opens(group) and group_opens(0), open() of the calling thread makes
// descriptors that are read and written as if there were no pool, while open_part() makes
// descriptors whose writes are deposits. Precondition: the ranks write disjoint bytes by them.
// Before a descriptor of the first kind is used, settle() has to drain the deposits of all nodes
// into the file.
struct PoolCalls {
    std::uint32_t version;
    // Whether files below this path belong in the pool.
    bool (*covers)(const char* path);
    int (*open)(const char* path, int flags, mode_t mode);
    int (*close)(int fd);
    ssize_t (*pread)(int fd, void* to, std::size_t bytes, off_t at);
    ssize_t (*pwrite)(int fd, const void* from, std::size_t bytes, off_t at);
    int (*fsync)(int fd);
    // Number of nodes of the pool's job; 0 if no daemon can be reached.
    std::uint32_t (*nodes)();
    // Sets the group of the files that the calling thread opens from now on; 0 ends it.
    void (*group_opens)(std::uint64_t group);
    int (*open_part)(const char* path, int flags, std::uint64_t group);
    // Whether the daemon knows the file with this device and inode.
    bool (*knows)(dev_t device, ino_t inode);
    // Has all nodes drain the file. Returns 0, or an errno: the deposits of one of them cannot be
    // had.
    int (*settle)(dev_t device, ino_t inode);
    // The error that close() would have for a descriptor that wrote to the file: an errno if
    // deposits are known not to reach the file system, whichever process made them; else 0.
    int (*arrives)(dev_t device, ino_t inode);
    // Lets other processes write to this process' log. Returns the name by which they reach it; 0
    // if it cannot be lent.
    std::uint64_t (*lend_log)();
    // Memory of the log of that name, mapped for writing; null if there is none.
    std::byte* (*reach_log)(std::uint64_t name);
    // Reserves `bytes` bytes of this process' log for the file. False: no memory is free at the
    // moment.
    bool (*lend)(int fd, std::size_t bytes, LentBytes* lent);
    // As pwrite of bytes of a loan. `taken` is set to true if the pool has the bytes, which then
    // are no part of the loan any more; if false, they were written to the file directly, or not at
    // all.
    ssize_t (*write_lent)(int fd, const LentBytes* part, off_t at, bool* taken);
    // Returns a part of a loan that was not taken.
    void (*give_back)(const LentBytes* part);
    // Prepares memory of a log that reach_log() returned for its first write.
    void (*prepare)(std::byte* begin, std::size_t bytes);
};

}  // namespace forebay::pool
