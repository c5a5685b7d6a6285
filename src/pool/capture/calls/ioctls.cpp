// ioctl. The table knows the effect on a file's bytes and length of the requests that Linux carries
// out for every file system, and of those of the file systems that clusters and workstations have.
// It distinguishes requests by their type and number; their sizes differ between 32 and 64 bits.
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "pool/capture/calls/copying.hpp"
#include "pool/capture/calls/pool_switch.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/processes/process.hpp"

#include <linux/fs.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace forebay::capture {

namespace {

enum class Effect {
    none,
    reads,    // the file system's bytes: the file is drained first
    changes,  // bytes, length, or who may write: it leaves the pool
};

struct Request {
    unsigned type;
    unsigned number;
    Effect effect;
};

constexpr unsigned any_number = 0x100;

// The first that fits counts. A request that is not here may do anything: the file is drained.
constexpr std::array<Request, 25> requests{{
    Request{0x00, 2, Effect::none},              // FIGETBSZ
    Request{'T', 0x60, Effect::reads},           // FIOQSIZE
    Request{'T', any_number, Effect::none},      // terminals'; FIOCLEX, FIONBIO, FIOASYNC
    Request{'f', 1, Effect::none},               // FS_IOC_GETFLAGS
    Request{'v', any_number, Effect::none},      // FS_IOC_GETVERSION
    Request{'f', 2, Effect::changes},            // FS_IOC_SETFLAGS: immutable
    Request{'X', 32, Effect::changes},           // FS_IOC_FSSETXATTR
    Request{'X', 10, Effect::changes},           // XFS_IOC_ALLOCSP
    Request{'X', 11, Effect::changes},           // XFS_IOC_FREESP
    Request{'X', 36, Effect::changes},           // XFS_IOC_ALLOCSP64
    Request{'X', 37, Effect::changes},           // XFS_IOC_FREESP64
    Request{'X', 40, Effect::changes},           // FS_IOC_RESVSP
    Request{'X', 41, Effect::changes},           // FS_IOC_UNRESVSP
    Request{'X', 42, Effect::changes},           // FS_IOC_RESVSP64
    Request{'X', 43, Effect::changes},           // FS_IOC_UNRESVSP64
    Request{'X', 57, Effect::changes},           // FS_IOC_ZERO_RANGE
    Request{'X', 109, Effect::changes},          // XFS_IOC_SWAPEXT
    Request{'X', 129, Effect::changes},          // XFS_IOC_EXCHANGE_RANGE
    Request{'X', 131, Effect::changes},          // XFS_IOC_COMMIT_RANGE
    Request{'f', 15, Effect::changes},           // EXT4_IOC_MOVE_EXT
    Request{'f', 17, Effect::changes},           // EXT4_IOC_SWAP_BOOT
    Request{'f', 133, Effect::changes},          // FS_IOC_ENABLE_VERITY
    Request{'f', 219, Effect::changes},          // LL_IOC_LOV_SWAP_LAYOUTS, of Lustre
    Request{0x94, 64, Effect::changes},          // BTRFS_IOC_ENCODED_WRITE
    Request{0xf5, any_number, Effect::changes},  // F2FS_IOC_…: atomic writes, ranges
}};

Effect effect_of(unsigned long request) noexcept {
    const unsigned type = _IOC_TYPE(request);
    const unsigned number = _IOC_NR(request);
    const auto* const found = std::ranges::find_if(requests, [&](const Request& one) noexcept {
        return one.type == type && (one.number == number || one.number == any_number);
    });
    return found == requests.end() ? Effect::reads : found->effect;
}

// The kernel compares what lies on the file system.
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

// 0 or an errno.
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
        default: break;
    }
    if (!descriptors.captured(fd)) [[likely]] {
        return 0;
    }
    switch (effect_of(request)) {
        case Effect::none: return 0;
        case Effect::reads: return drain_if_captured(fd);
        case Effect::changes: break;
    }
    return leave_if_captured(fd, pool::Reason::asked);
}

// FIONREAD, by which libstdc++ asks how much of a file is left to read.
int tell_left(Place place, void* to) noexcept {
    const std::int64_t size = size_of(place);
    if (size < 0) {
        return fail(static_cast<int>(-size));
    }
    const off_t at = captured::lseek(place.fd, 0, SEEK_CUR);
    if (at < 0) {
        return -1;
    }
    const auto left = static_cast<int>(size - at);  // the kernel's answer is as odd for more
    if (!state.memory.writable(to, sizeof left)) {
        return fail(EFAULT);
    }
    std::memcpy(to, &left, sizeof left);
    return 0;
}

}  // namespace

namespace captured {

int ioctl(int fd, unsigned long request, void* argument) noexcept {
    if (is_switch(request)) {
        return switch_file(fd, request, argument);
    }
    if (request == FIONREAD) {
        return on(
            fd, [&]() noexcept { return real::ioctl(fd, request, argument); },
            [&](Place place) noexcept { return tell_left(place, argument); });
    }
    const int error = capturing() ? prepare_ioctl(fd, request, argument) : 0;
    return error != 0 ? fail(error) : real::ioctl(fd, request, argument);
}

}  // namespace captured

}  // namespace forebay::capture
