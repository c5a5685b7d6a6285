// Converts requests to calls of the node's client, and sleeps until they have ended.
#include "worlds/simgrid/mounted_storage.hpp"

#include "foundation/base/contracts.hpp"

#include <fmt/format.h>

namespace forebay::adapters {

template <class Over>
void MountedStorage::sleep_until(Over over) {
    while (!over()) {
        waits_ = true;
        machine_.sleep_for_storage(rank_);
    }
}

void MountedStorage::wake() {
    if (waits_) {
        waits_ = false;
        machine_.storage_is_through(rank_);
    }
}

void MountedStorage::submit(const ports::Request& request) {
    expects(request.pieces.size() == 1 && !done_, "one call at a time, of one piece");
    const ports::Piece& piece = request.pieces.front();
    const Length bytes{static_cast<std::int64_t>(piece.bytes.size())};
    const SimulatedMount::Asked asked{file_, request.direction, {piece.at.bytes(), bytes.bytes()}};
    if (mount_.call_at_once(rank_, asked)) {
        done_ = ports::RequestCompletion{request.ticket, bytes, 0};
        return;
    }
    machine_.settle(rank_);
    mount_.call(rank_, asked, [this, ticket = request.ticket, bytes](int system) {
        done_ = ports::RequestCompletion{ticket, system == 0 ? bytes : Length{0}, system};
        wake();
    });
}

std::size_t MountedStorage::poll(std::span<ports::RequestCompletion> out) {
    if (!done_ || out.empty()) {
        return 0;
    }
    out.front() = *std::exchange(done_, std::nullopt);
    return 1;
}

std::size_t MountedStorage::wait(std::span<ports::RequestCompletion> out) {
    sleep_until([this] { return done_.has_value(); });
    return poll(out);
}

Result<void> MountedStorage::sync() {
    machine_.settle(rank_);
    std::optional<int> failed;
    mount_.sync(rank_, [&](int system) {
        failed = system;
        wake();
    });
    sleep_until([&] { return failed.has_value(); });
    return *failed == 0
               ? Result<void>{}
               : failure({ErrorCode::input_output, *failed,
                          fmt::format("what was written could not be stored (errno {})", *failed)});
}

}  // namespace forebay::adapters
