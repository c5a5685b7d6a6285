// Several transfers of a rank under way at a time (--iodepth), by io_uring. When each of them has
// ended is noted when the queue is asked, so whoever computes meanwhile should ask it often.
#pragma once

#include "benchmarks/measure/transfer_clock.hpp"
#include "foundation/base/result.hpp"
#include "foundation/base/units.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <liburing.h>
#include <memory>
#include <optional>
#include <span>

namespace forebay::bench {

class TransferQueue {
public:
    enum class Way { write, read };
    struct Finished {
        std::size_t slot = 0;
        std::int64_t result = 0;  // bytes, or -errno
        std::int64_t ended_ns = 0;
    };

    // For as many transfers as `depth` at a time, of the file `fd`.
    static Result<std::unique_ptr<TransferQueue>> make(std::int64_t depth, int fd,
                                                       const measure::TransferClock& clock);
    ~TransferQueue();
    TransferQueue(const TransferQueue&) = delete;
    TransferQueue& operator=(const TransferQueue&) = delete;
    TransferQueue(TransferQueue&&) = delete;
    TransferQueue& operator=(TransferQueue&&) = delete;

    // `slot`: any number of the caller's; `bytes` stay until it has finished. After an error it is
    // not under way.
    Result<void> submit(Way way, std::size_t slot, Offset at, std::span<std::byte> bytes);
    // Notes what has ended until now, without waiting.
    void note() noexcept;
    // The next that has ended; nullopt when none has at `until_ns` (0: waits for ever).
    // After an error nothing is known of what is under way.
    [[nodiscard]] Result<std::optional<Finished>> wait(std::int64_t until_ns);

private:
    TransferQueue(int fd, const measure::TransferClock& clock) noexcept : fd_(fd), clock_(clock) {}

    int fd_;
    measure::TransferClock clock_;
    io_uring ring_{};
    bool open_ = false;
    std::deque<Finished> ended_;
};

}  // namespace forebay::bench
