// Chooses for each read whether another node is asked.
#include "pool/core/prefetch/peer_storage.hpp"

#include "foundation/base/contracts.hpp"
#include "pool/protocol/limits.hpp"

namespace forebay::pool {

PeerStorage::~PeerStorage() {
    for (const auto& [number, request] : asked_) {
        passed_.forget(number);
    }
}

void PeerStorage::submit(const ports::Request& request) {
    constexpr auto block = static_cast<std::int64_t>(block_bytes);
    if (request.pieces.size() == 1 && !request.at_once) {
        const ports::Piece& piece = request.pieces.front();
        const std::int64_t within = piece.at.bytes() % block;
        const bool one_block = !piece.bytes.empty() && within + std::ssize(piece.bytes) <= block;
        const auto number = one_block ? ask_(piece) : std::nullopt;
        if (number) {
            const bool is_new = asked_.emplace(*number, request).second;
            invariant(is_new, "a question has a number of its own");
            return;
        }
    }
    own().submit(request);
}

std::size_t PeerStorage::poll(std::span<ports::RequestCompletion> out) {
    std::size_t done = own().poll(out);
    for (auto at = asked_.begin(); at != asked_.end() && done < out.size();) {
        const auto outcome = passed_.take(at->first);
        if (!outcome) {
            ++at;
            continue;
        }
        const ports::Request request = at->second;
        at = asked_.erase(at);
        if (outcome->refused) {
            own().submit(request);
        } else {
            out[done++] = {.ticket = request.ticket,
                           .bytes = Length{static_cast<std::int64_t>(outcome->bytes)}};
        }
    }
    return done;
}

// The daemon receives no messages while it waits here, so that outstanding requests to other nodes
// are given up and read from the file system.
std::size_t PeerStorage::wait(std::span<ports::RequestCompletion> out) {
    if (const std::size_t done = poll(out); done > 0) {
        return done;
    }
    for (const auto& [number, request] : std::exchange(asked_, {})) {
        passed_.forget(number);
        own().submit(request);
    }
    return own().wait(out);
}

}  // namespace forebay::pool
