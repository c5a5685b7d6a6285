// Captured lseek: moves the offset of the description, here or in the kernel.
#include "capture/captured.hpp"
#include "capture/real.hpp"
#include "foundation/kernel/calls.hpp"
#include "pool/capture/descriptors/offset_lock.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/processes/inside_call.hpp"

#include <cerrno>

namespace forebay::capture {

namespace {

// Moves an offset that is in the kernel. Returns it, or -1 and errno; EBADF if another thread has
// replaced the descriptor.
off_t move_in_kernel(CapturedFile place, std::int64_t by, int whence) noexcept {
    const OffsetLock until_moved{place.file};
    if (!descriptors.refers(place.fd, place.file)) {
        return fail(EBADF);
    }
    return unless_parents([=]() noexcept { return kernel::lseek(place.fd, by, whence); });
}

// Sets the offset to base + by. Returns it, or -1 and errno.
off_t move(CapturedFile place, std::int64_t base, std::int64_t by) noexcept {
    std::int64_t to = 0;
    if (__builtin_add_overflow(base, by, &to) || to < 0) {
        return fail(EINVAL);
    }
    std::int64_t at = place.file.offset.load(std::memory_order_acquire);
    while (at != in_kernel) {
        if (to > sure_max && kernel::lseek(place.fd, to, SEEK_SET) < 0) {
            return -1;
        }
        if (place.file.offset.compare_exchange_weak(at, to, std::memory_order_acq_rel)) {
            return to;
        }
    }
    return move_in_kernel(place, to, SEEK_SET);
}

off_t move_on(CapturedFile place, std::int64_t by) noexcept {
    std::int64_t at = place.file.offset.load(std::memory_order_acquire);
    while (at != in_kernel) {
        std::int64_t to = 0;
        if (__builtin_add_overflow(at, by, &to) || to < 0) {
            return fail(EINVAL);
        }
        if (to > sure_max && kernel::lseek(place.fd, to, SEEK_SET) < 0) {
            return -1;
        }
        if (place.file.offset.compare_exchange_weak(at, to, std::memory_order_acq_rel)) {
            return to;
        }
    }
    return by == 0 ? kernel::lseek(place.fd, 0, SEEK_CUR) : move_in_kernel(place, by, SEEK_CUR);
}

// SEEK_DATA and SEEK_HOLE: drains the file, since only the file system knows its holes.
off_t look_for(CapturedFile place, off_t at, int whence) noexcept {
    const int error = drain(place);
    if (error != 0) {
        return fail(error);
    }
    const off_t found = kernel::lseek(place.fd, at, whence);
    return found < 0 ? -1 : move(place, found, 0);
}

}  // namespace

namespace captured {

off_t lseek(int fd, off_t at, int whence) noexcept {
    return on(
        fd, [&]() noexcept { return real::lseek(fd, at, whence); },
        [&](CapturedFile place) noexcept -> off_t {
            switch (whence) {
                case SEEK_SET: return move(place, 0, at);
                case SEEK_CUR: return move_on(place, at);
                case SEEK_END: {
                    const std::int64_t size = size_of(place);
                    return size < 0 ? fail(static_cast<int>(-size)) : move(place, size, at);
                }
                default: return look_for(place, at, whence);
            }
        });
}

}  // namespace captured

}  // namespace forebay::capture
