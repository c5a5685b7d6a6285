// Common to the two sources of Connection: the daemon's memory as a process maps it, and whose turn
// it is to ask.
#pragma once

#include "foundation/kernel/calls.hpp"
#include "pool/capture/connection/connection.hpp"

#include <cstddef>
#include <ctime>
#include <sys/mman.h>
#include <sys/stat.h>

namespace forebay::capture {

inline constexpr timespec nap{.tv_sec = 0, .tv_nsec = 10'000'000};

inline void close_if_open(int fd) noexcept {
    if (fd >= 0) {
        kernel::close(fd);
    }
}

inline void unmapped(const void* at, std::size_t bytes) noexcept {
    if (at != nullptr) {
        kernel::munmap(const_cast<void*>(at), bytes);
    }
}

struct Room {
    std::size_t bytes = 0;
    int protection = PROT_READ;
};

[[nodiscard]] inline std::byte* map_whole(int fd, const Room& room) noexcept {
    struct stat found{};
    if (fd < 0 || kernel::fstat(fd, &found) != 0 ||
        static_cast<std::size_t>(found.st_size) < room.bytes) {
        return nullptr;
    }
    void* const at =
        kernel::mmap(nullptr, room.bytes, room.protection, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (at == MAP_FAILED) {
        return nullptr;
    }
    kernel::madvise(at, room.bytes, MADV_DONTDUMP);
    return static_cast<std::byte*>(at);
}

// One question at a time, and no signal handler meanwhile.
class Connection::Turn {
public:
    explicit Turn(Connection& connection) noexcept
        : turn_{connection.turn_}, signals_{kernel::hold_signals()} {
        std::uint32_t nobody = 0;
        if (turn_.compare_exchange_strong(nobody, 1, std::memory_order_acquire)) {
            return;
        }
        while (turn_.exchange(2, std::memory_order_acquire) != 0) {
            kernel::futex_wait(turn_, 2, nap);
        }
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() {
        if (turn_.exchange(0, std::memory_order_release) == 2) {
            kernel::futex_wake(turn_, 1);
        }
        kernel::give_signals(signals_);
    }

private:
    std::atomic<std::uint32_t>& turn_;
    kernel::Signals signals_;
};

}  // namespace forebay::capture
