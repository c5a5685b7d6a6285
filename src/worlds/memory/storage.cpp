// Bytes are moved when a request completes, not when it is submitted, so that a caller that reuses
// the memory too early is detected.
// found out.
#include "worlds/memory/storage.hpp"

#include <algorithm>
#include <cerrno>

namespace forebay::adapters {

std::uint64_t MemoryHandle::dice_of(const ports::Request& request) {
    const std::int64_t place = request.pieces.empty() ? 0 : request.pieces.front().at.bytes();
    return scramble(file_.faults().seed, static_cast<std::uint64_t>(place), ++attempts_[place]);
}

std::int64_t MemoryHandle::delay_of(const ports::Request& request, std::uint64_t dice) const {
    const StorageFaults& faults = file_.faults();
    std::int64_t delay = 0;
    if (faults.delay_polls_max > 0) {
        delay = static_cast<std::int64_t>(dice %
                                          (static_cast<std::uint64_t>(faults.delay_polls_max) + 1));
    }
    if (faults.slow_target && !request.pieces.empty()) {
        const SlowTargetFault& slow = *faults.slow_target;
        const std::int64_t stripe = request.pieces.front().at.bytes() / slow.stripe_bytes;
        delay += stripe % slow.targets == slow.target ? slow.polls : 0;
    }
    return delay;
}

ports::RequestCompletion MemoryHandle::perform(const ports::Request& request, std::uint64_t dice) {
    if (request.direction != direction_) {
        return {request.ticket, Length{0}, EBADF};
    }
    return file_.perform(request, dice);
}

Result<void> MemoryHandle::sync() {
    expects(in_flight() == 0, "nothing is in flight at sync");
    if (file_.faults().sync_error != 0) {
        return failure(system_error(file_.faults().sync_error, "make durable a file in memory"));
    }
    return {};
}

Result<void> MemoryHandle::close() {
    expects(in_flight() == 0, "nothing is in flight at close");
    if (file_.faults().close_error != 0) {
        return failure(system_error(file_.faults().close_error, "close a file in memory"));
    }
    return {};
}

MemoryStorage::~MemoryStorage() {
    for (const Pending& pending : pending_) {
        static_cast<void>(perform(pending.request, pending.dice));
    }
}

void MemoryStorage::submit(const ports::Request& request) {
    expects(pending_.size() < static_cast<std::size_t>(depth_max), "the depth is not exceeded");
    const std::uint64_t dice = dice_of(request);
    pending_.push_back({request, dice, polls_ + delay_of(request, dice)});
}

std::size_t MemoryStorage::poll(std::span<ports::RequestCompletion> out) {
    ++polls_;
    std::ranges::stable_sort(pending_, {}, &Pending::due);
    std::size_t count = 0;
    while (count < out.size() && count < pending_.size() && pending_[count].due < polls_) {
        out[count] = perform(pending_[count].request, pending_[count].dice);
        ++count;
    }
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
}

std::size_t MemoryStorage::wait(std::span<ports::RequestCompletion> out) {
    expects(!pending_.empty() && !out.empty(), "only what is in flight can complete");
    std::size_t count = 0;
    while (count == 0) {
        count = poll(out);
    }
    return count;
}

Result<std::unique_ptr<ports::FileStorage>> open_memory(MemoryFile& file, IoDirection direction) {
    if (file.faults().open_error != 0) {
        return failure(system_error(file.faults().open_error, "open a file in memory"));
    }
    return std::make_unique<MemoryStorage>(file, direction);
}

}  // namespace forebay::adapters
