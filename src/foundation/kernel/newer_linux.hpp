// Numbers, constants and structures of Linux that the headers of Linux 4.18 and glibc 2.28 lack, as
// clusters have them (RHEL 8). All other sources take them from here, so that Forebay compiles
// there (tools/checks/newer.py). The values are the same on every architecture. A kernel that is
// older than the number in the comment fails at run time, mostly with ENOSYS or EINVAL.
#pragma once

#include <cstdint>

namespace forebay::kernel {

// Numbers of system calls.
namespace number {

inline constexpr long io_uring_setup = 425;  // Linux 5.1
inline constexpr long fsconfig = 431;        // 5.2
inline constexpr long pidfd_open = 434;      // 5.3
inline constexpr long clone3 = 435;          // 5.3
inline constexpr long close_range = 436;     // 5.9
inline constexpr long openat2 = 437;         // 5.6
inline constexpr long pidfd_getfd = 438;     // 5.6
inline constexpr long epoll_pwait2 = 441;    // 5.11
inline constexpr long mount_setattr = 442;   // 5.12
inline constexpr long fchmodat2 = 452;       // 6.6
inline constexpr long setxattrat = 463;      // 6.13
inline constexpr long removexattrat = 466;   // 6.13
inline constexpr long file_setattr = 469;    // 6.17

}  // namespace number

inline constexpr int populate_read = 22;                   // MADV_POPULATE_READ, 5.14
inline constexpr int populate_write = 23;                  // MADV_POPULATE_WRITE, 5.14
inline constexpr int seal_future_write = 0x0010;           // F_SEAL_FUTURE_WRITE, 5.1
inline constexpr unsigned own_table = 1U << 1U;            // CLOSE_RANGE_UNSHARE, 5.9
inline constexpr unsigned close_on_exec = 1U << 2U;        // CLOSE_RANGE_CLOEXEC, 5.11
inline constexpr int set_io_flusher = 57;                  // PR_SET_IO_FLUSHER, 5.6
inline constexpr unsigned reconfigure = 7;                 // FSCONFIG_CMD_RECONFIGURE, 5.2
inline constexpr std::uint64_t resolve_no_symlinks = 0x4;  // RESOLVE_NO_SYMLINKS, 5.6
inline constexpr std::uint32_t xfs_magic = 0x58465342;     // XFS_SUPER_MAGIC
inline constexpr std::uint32_t fuse_copy_file_range = 47;  // FUSE_COPY_FILE_RANGE, 4.20

// The first version of struct open_how, 5.6.
struct OpenHow {
    std::uint64_t flags = 0;
    std::uint64_t mode = 0;
    std::uint64_t resolve = 0;
};

// The first version of struct clone_args, 5.3.
struct CloneArguments {
    std::uint64_t flags = 0;
    std::uint64_t process_descriptor = 0;
    std::uint64_t child_number = 0;
    std::uint64_t parent_number = 0;
    std::uint64_t exit_signal = 0;
    std::uint64_t stack = 0;
    std::uint64_t stack_size = 0;
    std::uint64_t thread_storage = 0;
};

}  // namespace forebay::kernel
