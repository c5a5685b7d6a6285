// Tells when the kernel has no request for the server any more. That a file was closed (RELEASE)
// and that its inode is not used any more (FORGET) the server hears after close() and unlink() have
// returned, and until then it has the file open, which takes room. So a call that finds the file
// system full waits for these requests, and is tried again: no program shall see a full disk that
// would not be full without the mount.
#pragma once

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <poll.h>
#include <thread>

namespace forebay::mount {

class UnansweredRequests {
public:
    // From before a thread tries to read a request, until it was answered or there was none.
    class Busy {
    public:
        explicit Busy(UnansweredRequests& unanswered) noexcept : unanswered_{unanswered} {
            unanswered_.busy_.fetch_add(1);
            unanswered_.begun_.fetch_add(1);
        }
        Busy(const Busy&) = delete;
        Busy& operator=(const Busy&) = delete;
        ~Busy() { unanswered_.busy_.fetch_sub(1); }

    private:
        UnansweredRequests& unanswered_;
    };

    static bool is_full(int error) noexcept { return error == ENOSPC || error == EDQUOT; }

    // Waits, for a second at most, until all requests but those that wait here are answered, and
    // none is queued in `fd`. False: it did not come to that. Precondition: this thread is busy,
    // and does not lead. `threads` serve: one of them has to go on reading.
    [[nodiscard]] bool wait(int fd, std::uint32_t threads) noexcept {
        const auto until = std::chrono::steady_clock::now() + wait_max;
        const bool others_read = waiting_.fetch_add(1) + 1 < threads;
        bool quiet = false;
        while (others_read && !quiet && std::chrono::steady_clock::now() < until) {
            quiet = is_quiet(fd);
            if (!quiet) {
                std::this_thread::sleep_for(look_pause);
            }
        }
        waiting_.fetch_sub(1);
        return quiet;
    }

private:
    static constexpr auto wait_max = std::chrono::seconds{1};
    static constexpr auto look_pause = std::chrono::microseconds{100};

    // A thread that begins to read meanwhile may have taken a request that was neither answered
    // nor queued when it was looked for.
    [[nodiscard]] bool is_quiet(int fd) const noexcept {
        const std::uint64_t begun = begun_.load();
        if (busy_.load() > waiting_.load()) {
            return false;
        }
        pollfd queue{.fd = fd, .events = POLLIN, .revents = 0};
        return ::poll(&queue, 1, 0) == 0 && begun_.load() == begun;
    }

    std::atomic<std::uint32_t> busy_ = 0;
    std::atomic<std::uint32_t> waiting_ = 0;  // of the busy threads
    std::atomic<std::uint64_t> begun_ = 0;
};

}  // namespace forebay::mount
