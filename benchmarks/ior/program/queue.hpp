// Keeps several transfers of a rank in flight (--iodepth) by io_uring. The time at which a transfer
// ended is noted when the queue is polled, so a caller that computes in between should call note()
// often.
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
        std::int64_t result = 0;  // bytes, or a negative errno
        std::int64_t ended_ns = 0;
    };

    // A queue for `depth` transfers in flight on the file `fd`.
    static Result<std::unique_ptr<TransferQueue>> make(std::int64_t depth, int fd,
                                                       const measure::TransferClock& clock);
    ~TransferQueue();
    TransferQueue(const TransferQueue&) = delete;
    TransferQueue& operator=(const TransferQueue&) = delete;
    TransferQueue(TransferQueue&&) = delete;
    TransferQueue& operator=(TransferQueue&&) = delete;

    // Starts a transfer. `slot` is any number chosen by the caller; `bytes` must live until it has
    // finished. After an error the transfer is not in flight.
    Result<void> submit(Way way, std::size_t slot, Offset at, std::span<std::byte> bytes);
    // Notes the transfers that have ended until now, without blocking.
    void note() noexcept;
    // The next transfer that has ended; nullopt if none has by `until_ns` (0: no time limit). After
    // an error the state of transfers in flight is unknown.
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
