// Sends requests to parents, and copies the parts of their answers into the caller's memory.
#include "pool/cluster/peer_reads/peer_read_client.hpp"

#include "foundation/base/contracts.hpp"
#include "pool/protocol/limits.hpp"

#include <algorithm>
#include <utility>

namespace forebay::cluster {

std::optional<std::uint64_t> PeerReadClient::ask(const ReadWish& wish) {
    expects(!wish.piece.bytes.empty() && wish.piece.bytes.size() <= pool::block_bytes,
            "a request is for a part of one block");
    const tokens::Parent parent = parents_(wish.file);
    if (parent.grant == 0 || !post_.reachable(parent.node)) {
        return std::nullopt;
    }
    const std::uint64_t number = next_++;
    const bool is_new =
        asked_.try_emplace(number, Asked{.of = parent.node, .to = wish.piece.bytes, .outcome = {}})
            .second;
    invariant(is_new, "each request has a number of its own");
    post_.ask(parent.node, {.file = wish.file,
                            .grant = parent.grant,
                            .number = number,
                            .at = wish.piece.at.bytes(),
                            .bytes = static_cast<std::uint32_t>(wish.piece.bytes.size()),
                            .file_bytes = wish.seen.bytes,
                            .modified_ns = wish.seen.modified_ns,
                            .changed_ns = wish.seen.changed_ns});
    return number;
}

std::optional<PeerReadClient::Outcome> PeerReadClient::take(std::uint64_t number) {
    const auto found = asked_.find(number);
    if (found == asked_.end()) {
        return Outcome{.refused = true};
    }
    const std::optional<Outcome> outcome = found->second.outcome;
    if (outcome) {
        ensures(outcome->bytes <= found->second.to.size(), "what came has room where it lies");
        asked_.erase(found);
    }
    return outcome;
}

bool PeerReadClient::run_once() {
    bool any = false;
    for (const PeerTransport::ReceivedPart& one : post_.passed()) {
        take_part(one.from, one.part);
        any = true;
    }
    for (auto& [number, asked] : asked_) {
        if (!asked.outcome && !post_.reachable(asked.of)) {
            asked.outcome = Outcome{.refused = true};
            any = true;
        }
    }
    return any;
}

// Takes a part of an answer. A part that does not fit counts as a refusal, so that the file is read
// instead: what another node sends is untrusted input.
void PeerReadClient::take_part(tokens::Node from, const protocol::PeerReadPart& part) {
    const auto found = asked_.find(part.number);
    if (found == asked_.end() || found->second.of != from || found->second.outcome) {
        return;
    }
    Asked& asked = found->second;
    const bool fits = !part.refused && part.whole <= asked.to.size() && part.begin == asked.got &&
                      part.bytes.size() <= part.whole - asked.got;
    if (!fits) {
        asked.outcome = Outcome{.refused = true};
        return;
    }
    std::ranges::copy(part.bytes, asked.to.subspan(asked.got).begin());
    asked.got += part.bytes.size();
    invariant(asked.got <= asked.to.size(), "a part that fits stays within its memory");
    bytes_ += static_cast<std::int64_t>(part.bytes.size());
    if (asked.got == part.whole) {
        asked.outcome = Outcome{.bytes = asked.got};
    }
}

std::unique_ptr<ports::FileStorage> read_by(std::unique_ptr<ports::FileStorage> own,
                                            PeerReadClient& passed, tokens::FileKey file,
                                            std::shared_ptr<const ports::ChangeStamp> seen) {
    return std::make_unique<pool::PeerStorage>(
        std::move(own), passed, [&passed, file, seen = std::move(seen)](const ports::Piece& piece) {
            return passed.ask({.file = file, .seen = *seen, .piece = piece});
        });
}

}  // namespace forebay::cluster
