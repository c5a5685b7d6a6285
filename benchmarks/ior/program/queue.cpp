// Submits and completes transfers through io_uring.
#include "benchmarks/ior/program/queue.hpp"

#include <cerrno>
#include <fmt/format.h>

namespace forebay::bench {

Result<std::unique_ptr<TransferQueue>> TransferQueue::make(std::int64_t depth, int fd,
                                                           const measure::TransferClock& clock) {
    std::unique_ptr<TransferQueue> made(new TransferQueue(fd, clock));
    const int wrong = ::io_uring_queue_init(static_cast<unsigned>(depth), &made->ring_, 0);
    if (wrong != 0) {
        const Error why = system_error(-wrong, "set up io_uring for --iodepth");
        return failure({ErrorCode::input_output, -wrong,
                        fmt::format("{} (The kernel or the container may forbid it.) Leave "
                                    "--iodepth out.",
                                    why.message)});
    }
    made->open_ = true;
    return made;
}

TransferQueue::~TransferQueue() {
    if (open_) {
        ::io_uring_queue_exit(&ring_);
    }
}

Result<void> TransferQueue::submit(Way way, std::size_t slot, Offset at,
                                   std::span<std::byte> bytes) {
    io_uring_sqe* const entry = ::io_uring_get_sqe(&ring_);
    const auto size = static_cast<unsigned>(bytes.size());
    const auto place = static_cast<std::uint64_t>(at.bytes());
    if (entry == nullptr) {
        return failure(system_error(EBUSY, "submit a transfer"));
    }
    if (way == Way::write) {
        ::io_uring_prep_write(entry, fd_, bytes.data(), size, place);
    } else {
        ::io_uring_prep_read(entry, fd_, bytes.data(), size, place);
    }
    ::io_uring_sqe_set_data64(entry, slot);
    int submitted = 0;
    do {
        submitted = ::io_uring_submit(&ring_);
    } while (submitted == -EINTR || submitted == -EAGAIN);
    if (submitted < 1) {
        return failure(system_error(submitted < 0 ? -submitted : EBUSY, "submit a transfer"));
    }
    note();
    return {};
}

void TransferQueue::note() noexcept {
    io_uring_cqe* entry = nullptr;
    while (::io_uring_peek_cqe(&ring_, &entry) == 0) {
        ended_.push_back({::io_uring_cqe_get_data64(entry), entry->res, clock_.now_ns()});
        ::io_uring_cqe_seen(&ring_, entry);
    }
}

Result<std::optional<TransferQueue::Finished>> TransferQueue::wait(std::int64_t until_ns) {
    note();
    while (ended_.empty()) {
        io_uring_cqe* entry = nullptr;
        int waited = 0;
        if (until_ns == 0) {
            waited = ::io_uring_wait_cqe(&ring_, &entry);
        } else {
            const std::int64_t left = until_ns - clock_.now_ns();
            if (left <= 0) {
                return std::nullopt;
            }
            __kernel_timespec limit{left / 1'000'000'000, left % 1'000'000'000};
            waited = ::io_uring_wait_cqe_timeout(&ring_, &entry, &limit);
        }
        const bool again = waited == 0 || waited == -EINTR || waited == -ETIME || waited == -EAGAIN;
        if (!again) {
            return failure(system_error(-waited, "wait for a transfer"));
        }
        note();
    }
    const Finished first = ended_.front();
    ended_.pop_front();
    return first;
}

}  // namespace forebay::bench
