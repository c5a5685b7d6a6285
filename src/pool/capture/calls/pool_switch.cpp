// Carries out the ioctls of forebay_pool.h: switches the pool off and on for a file, sets the
// file's window, and tells its state. A file that is switched off leaves the pool for a reason that
// can be undone (ThroughReason::switched).
#include "pool/capture/calls/pool_switch.hpp"

#include "capture/real.hpp"
#include "pool/capture/files/files.hpp"
#include "pool/capture/files/known_files.hpp"
#include "pool/capture/files/mounted.hpp"
#include "pool/capture/processes/process.hpp"

#include "forebay_pool.h"
#include "foundation/base/atomics.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <limits>

namespace forebay::capture {

namespace {

// Returns 0 or an errno.
int set(CapturedFile place, const forebay_pool_setting& setting) noexcept {
    const bool off = setting.mode == FOREBAY_POOL_OFF || setting.durability == FOREBAY_POOL_GLOBAL;
    const bool on = setting.mode == FOREBAY_POOL_ON || setting.durability == FOREBAY_POOL_PROCESS;
    if (setting.mode > FOREBAY_POOL_ON || setting.durability > FOREBAY_POOL_GLOBAL || (on && off)) {
        return EINVAL;
    }
    if ((place.file.flags.load(relaxed) & O_ACCMODE) == O_RDONLY) {
        return EBADF;
    }
    if (off) {
        const int error = leave(place, pool::ThroughReason::switched);
        if (error != 0) {
            return error;
        }
    }
    if (!on && setting.window == 0) {
        return 0;
    }
    if (place.file.beside.load(relaxed)) {
        return EBUSY;
    }
    constexpr __u64 most = std::numeric_limits<std::int64_t>::max();
    const int error = adjust(
        place,
        {.window = static_cast<std::int64_t>(std::min<__u64>(setting.window, most)), .back = on});
    if (error == 0 && on) {
        place.file.passes.store(false, std::memory_order_release);
    }
    return error;
}

forebay_pool_state state_of(const pool::FileSlot& slot) noexcept {
    const bool pooled = slot.state.load(relaxed) == pool::FileState::pooled;
    const std::int64_t taken = slot.taken.load(relaxed);
    const std::int64_t waiting = taken - slot.drained.load(relaxed);
    forebay_pool_state said{};
    said.mode = pooled ? FOREBAY_POOL_ON : FOREBAY_POOL_OFF;
    said.durability = pooled ? FOREBAY_POOL_PROCESS : FOREBAY_POOL_GLOBAL;
    said.window = static_cast<__u64>(slot.window.load(relaxed));
    said.taken = static_cast<__u64>(taken);
    said.waiting = static_cast<__u64>(std::max<std::int64_t>(waiting, 0));
    said.error = slot.error.load(relaxed);
    return said;
}

// Waits until all earlier writes are counted in the directory. Returns 0 or an errno.
int fill_state(CapturedFile place, forebay_pool_state& said) noexcept {
    return on_counted(place.file.file(), [&](const pool::FileSlot& slot) noexcept {
        said = state_of(slot);
        return 0;
    });
}

int answer(CapturedFile place, unsigned long request, void* argument) noexcept {
    if (request == FOREBAY_POOL_GET) {
        forebay_pool_state said;
        if (!state.memory.writable(argument, sizeof said)) {
            return EFAULT;
        }
        const int error = fill_state(place, said);
        if (error == 0) {
            std::memcpy(argument, &said, sizeof said);
        }
        return error;
    }
    forebay_pool_setting setting;
    if (state.memory.readable(argument, sizeof setting) != sizeof setting) {
        return EFAULT;
    }
    std::memcpy(&setting, argument, sizeof setting);
    return set(place, setting);
}

}  // namespace

bool is_pool_ioctl(unsigned long request) noexcept {
    return request == FOREBAY_POOL_SET || request == FOREBAY_POOL_GET;
}

namespace {

int carry_out(int fd, unsigned long request, void* argument) noexcept {
    const HeldDescription held{fd};
    if (!held) {
        return real::ioctl(fd, request, argument);
    }
    const int before = errno;
    const CapturedFile place{*held, fd};
    const FileRoute here = route(place);
    if (here == FileRoute::lost) {
        return fail(EIO);
    }
    const bool is_of_mount = is_mounted(place) && request == FOREBAY_POOL_SET;
    const bool known = !is_of_mount && connection.reached() &&
                       connection.life() == DaemonConnection::Life::lives &&
                       held->connection.load(std::memory_order_acquire) == connection.generation();
    if (!known) {
        // Without a pool, the kernel refuses the request. A mount carries it out.
        return real::ioctl(fd, request, argument);
    }
    const int error = answer(place, request, argument);
    errno = before;
    return error == 0 ? 0 : fail(error);
}

}  // namespace

int carry_out_pool_ioctl(int fd, unsigned long request, void* argument) noexcept {
    return in_one_process([&]() noexcept { return carry_out(fd, request, argument); });
}

}  // namespace forebay::capture
