// Captured ioctl. A table lists the effect on a file's bytes and length of the requests that Linux
// implements for every file system, and of those of file systems on clusters and workstations.
// Requests are compared by type and number only; their sizes differ between 32 and 64 bits.
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "pool/capture/calls/copying.hpp"
#include "pool/capture/calls/pool_switch.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/files/mounted.hpp"
#include "pool/capture/processes/process.hpp"

#include <linux/fs.h>
#include <linux/loop.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace forebay::capture {

namespace {

// LOOP_CONFIGURE of linux/loop.h (since Linux 5.8), and EXT4_IOC_MOVE_EXT of ext4's own header.
constexpr unsigned long loop_configure = 0x4c0a;
constexpr unsigned long move_extents = _IOC(_IOC_READ | _IOC_WRITE, 'f', 15, 40);
constexpr std::size_t move_extents_donor_at = 4;

enum class IoctlEffect {
    none,
    reads,    // reads the file system's bytes: the file is drained first
    changes,  // changes bytes, length or permissions: the file leaves the pool
};

struct KnownIoctl {
    unsigned type;
    unsigned number;
    IoctlEffect effect;
};

// For KnownIoctl::number: matches all requests of the type.
constexpr unsigned any_number = 0x100;

// The first match counts. A request that is not listed may do anything: the file is drained.
constexpr std::array<KnownIoctl, 25> requests{{
    KnownIoctl{0x00, 2, IoctlEffect::none},              // FIGETBSZ
    KnownIoctl{'T', 0x60, IoctlEffect::reads},           // FIOQSIZE
    KnownIoctl{'T', any_number, IoctlEffect::none},      // terminals'; FIOCLEX, FIONBIO, FIOASYNC
    KnownIoctl{'f', 1, IoctlEffect::none},               // FS_IOC_GETFLAGS
    KnownIoctl{'v', any_number, IoctlEffect::none},      // FS_IOC_GETVERSION
    KnownIoctl{'f', 2, IoctlEffect::changes},            // FS_IOC_SETFLAGS: immutable
    KnownIoctl{'X', 32, IoctlEffect::changes},           // FS_IOC_FSSETXATTR
    KnownIoctl{'X', 10, IoctlEffect::changes},           // XFS_IOC_ALLOCSP
    KnownIoctl{'X', 11, IoctlEffect::changes},           // XFS_IOC_FREESP
    KnownIoctl{'X', 36, IoctlEffect::changes},           // XFS_IOC_ALLOCSP64
    KnownIoctl{'X', 37, IoctlEffect::changes},           // XFS_IOC_FREESP64
    KnownIoctl{'X', 40, IoctlEffect::changes},           // FS_IOC_RESVSP
    KnownIoctl{'X', 41, IoctlEffect::changes},           // FS_IOC_UNRESVSP
    KnownIoctl{'X', 42, IoctlEffect::changes},           // FS_IOC_RESVSP64
    KnownIoctl{'X', 43, IoctlEffect::changes},           // FS_IOC_UNRESVSP64
    KnownIoctl{'X', 57, IoctlEffect::changes},           // FS_IOC_ZERO_RANGE
    KnownIoctl{'X', 109, IoctlEffect::changes},          // XFS_IOC_SWAPEXT
    KnownIoctl{'X', 129, IoctlEffect::changes},          // XFS_IOC_EXCHANGE_RANGE
    KnownIoctl{'X', 131, IoctlEffect::changes},          // XFS_IOC_COMMIT_RANGE
    KnownIoctl{'f', 15, IoctlEffect::changes},           // EXT4_IOC_MOVE_EXT
    KnownIoctl{'f', 17, IoctlEffect::changes},           // EXT4_IOC_SWAP_BOOT
    KnownIoctl{'f', 133, IoctlEffect::changes},          // FS_IOC_ENABLE_VERITY
    KnownIoctl{'f', 219, IoctlEffect::changes},          // LL_IOC_LOV_SWAP_LAYOUTS, of Lustre
    KnownIoctl{0x94, 64, IoctlEffect::changes},          // BTRFS_IOC_ENCODED_WRITE
    KnownIoctl{0xf5, any_number, IoctlEffect::changes},  // F2FS_IOC_…: atomic writes, ranges
}};

IoctlEffect effect_of(unsigned long request) noexcept {
    const unsigned type = _IOC_TYPE(request);
    const unsigned number = _IOC_NR(request);
    const auto* const found = std::ranges::find_if(requests, [&](const KnownIoctl& one) noexcept {
        return one.type == type && (one.number == number || one.number == any_number);
    });
    return found == requests.end() ? IoctlEffect::reads : found->effect;
}

// FIDEDUPERANGE compares bytes in the file system: all files are drained. Returns 0 or an errno.
int prepare_comparison(int fd, const void* argument) noexcept {
    file_dedupe_range range{};
    if (state.memory.readable(argument, sizeof range) != sizeof range) {
        return EFAULT;
    }
    std::memcpy(&range, argument, sizeof range);
    const auto* const others = static_cast<const std::byte*>(argument) + sizeof range;
    const std::size_t bytes = range.dest_count * sizeof(file_dedupe_range_info);
    if (range.dest_count > 0 && state.memory.readable(others, bytes) != bytes) {
        return EFAULT;
    }
    int error = prepare_source(fd);
    for (std::size_t i = 0; i < range.dest_count && error == 0; ++i) {
        file_dedupe_range_info other{};
        std::memcpy(&other, others + i * sizeof other, sizeof other);
        error = drain_if_captured(static_cast<int>(other.dest_fd));
    }
    return error;
}

// For a request whose argument points to a number, `at` bytes on, of the file that it uses: that
// file leaves. Returns 0 or an errno.
int prepare_named_in(const void* argument, std::size_t at) noexcept {
    int other = -1;
    const auto* const from = static_cast<const std::byte*>(argument) + at;
    if (state.memory.readable(from, sizeof other) != sizeof other) {
        return 0;  // the kernel refuses it
    }
    std::memcpy(&other, from, sizeof other);
    return leave_if_captured(other, pool::ThroughReason::copied);
}

// Returns 0 or an errno.
int prepare_ioctl(int fd, unsigned long request, const void* argument) noexcept {
    switch (request) {
        case FICLONE:
            return prepare_copy(static_cast<int>(reinterpret_cast<std::intptr_t>(argument)), fd);
        case FICLONERANGE: {
            const auto* const range = static_cast<const file_clone_range*>(argument);
            return state.memory.readable(range, sizeof *range) == sizeof *range
                       ? prepare_copy(static_cast<int>(range->src_fd), fd)
                       : EFAULT;
        }
        case FIDEDUPERANGE: return prepare_comparison(fd, argument);
        // A loop device's file is read and written by the kernel.
        case LOOP_SET_FD:
        case LOOP_CHANGE_FD:
            return leave_if_captured(static_cast<int>(reinterpret_cast<std::intptr_t>(argument)),
                                     pool::ThroughReason::copied);
        case loop_configure: return prepare_named_in(argument, 0);
        default: break;
    }
    if (request == move_extents) {
        const int error = prepare_named_in(argument, move_extents_donor_at);
        if (error != 0) {
            return error;
        }
    }
    if (!descriptors.captured(fd)) [[likely]] {
        return 0;
    }
    switch (effect_of(request)) {
        case IoctlEffect::none: return 0;
        case IoctlEffect::reads: return drain_if_captured(fd);
        case IoctlEffect::changes: break;
    }
    return leave_if_captured(fd, pool::ThroughReason::asked);
}

// FIONREAD, by which libstdc++ asks how many bytes of a file are left to read.
int tell_left(CapturedFile place, void* to) noexcept {
    const std::int64_t size = size_of(place);
    if (size < 0) {
        return fail(static_cast<int>(-size));
    }
    const off_t at = captured::lseek(place.fd, 0, SEEK_CUR);
    if (at < 0) {
        return -1;
    }
    const auto left = static_cast<int>(size - at);  // the kernel truncates to int, too
    if (!state.memory.writable(to, sizeof left)) {
        return fail(EFAULT);
    }
    std::memcpy(to, &left, sizeof left);
    return 0;
}

}  // namespace

namespace captured {

int ioctl(int fd, unsigned long request, void* argument) noexcept {
    if (is_pool_ioctl(request)) {
        return carry_out_pool_ioctl(fd, request, argument);
    }
    if (request == FIONREAD) {
        refresh_size_of(fd);
        return on(
            fd, [&]() noexcept { return real::ioctl(fd, request, argument); },
            [&](CapturedFile place) noexcept { return tell_left(place, argument); });
    }
    const int error = capturing() ? prepare_ioctl(fd, request, argument) : 0;
    return error != 0 ? fail(error) : real::ioctl(fd, request, argument);
}

}  // namespace captured

}  // namespace forebay::capture
