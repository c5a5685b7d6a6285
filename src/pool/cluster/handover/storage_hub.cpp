// Requests get tickets of the hub while they are in flight.
#include "pool/cluster/handover/storage_hub.hpp"

#include "foundation/base/contracts.hpp"
#include "foundation/ports/completions.hpp"

#include <array>

namespace forebay::cluster {

void StorageHub::submit(StorageShare& share, const ports::Request& request) {
    ports::Request sent = request;
    sent.ticket = next_++;
    sent_.emplace(sent.ticket, Sent{&share, request.ticket});
    storage_->submit(sent);
}

void StorageHub::collect(bool waits) {
    std::array<ports::RequestCompletion, 16> some;
    const std::size_t count = waits ? storage_->wait(some) : storage_->poll(some);
    for (ports::RequestCompletion done : std::span{some}.first(count)) {
        const auto found = sent_.find(done.ticket);
        invariant(found != sent_.end(), "what completes was sent");
        done.ticket = found->second.ticket;
        found->second.share->done_.push_back(done);
        sent_.erase(found);
    }
}

std::size_t StorageShare::poll(std::span<ports::RequestCompletion> out) {
    hub_.collect(false);
    return ports::take_oldest(done_, out);
}

std::size_t StorageShare::wait(std::span<ports::RequestCompletion> out) {
    while (done_.empty()) {
        hub_.collect(true);
    }
    return ports::take_oldest(done_, out);
}

}  // namespace forebay::cluster
