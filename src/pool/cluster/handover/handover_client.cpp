// Keeps offers until they are written, refused, or the writer has ended.
#include "pool/cluster/handover/handover_client.hpp"

#include "foundation/base/contracts.hpp"

#include <utility>
#include <vector>

namespace forebay::cluster {

using protocol::HandoverReply;

std::uint64_t HandoverClient::offer(const FileForOthers& file,
                                    std::span<const ports::Piece> pieces) {
    expects(is_open() && has_place(), "an offer reaches the writer");
    const std::uint64_t number = next_++;
    protocol::HandoverOffer words{.number = number, .file = file.identity, .path = file.path};
    std::int64_t bytes = 0;
    for (const ports::Piece& piece : pieces) {
        words.ranges.push_back({piece.at.bytes(), piece.bytes.size()});
        bytes += std::ssize(piece.bytes);
    }
    Offer kept{.path = file.path, .pieces = pieces, .bytes = bytes, .outcome = {}};
    kept.since_ns = clock_.now_ns();
    const bool is_new = offers_.try_emplace(number, std::move(kept)).second;
    invariant(is_new, "each offer has a number of its own");
    post_.offer(writer_, words);
    return number;
}

std::optional<HandoverClient::Outcome> HandoverClient::take(std::uint64_t number) {
    const auto found = offers_.find(number);
    expects(found != offers_.end(), "an outcome is taken once");
    const std::optional<Outcome> outcome = found->second.outcome;
    if (outcome) {
        offers_.erase(found);
    }
    return outcome;
}

void HandoverClient::forget(std::uint64_t number) {
    const auto found = offers_.find(number);
    if (found == offers_.end()) {
        return;
    }
    if (!found->second.handed_over && !found->second.outcome) {
        post_.reply(writer_, {.kind = HandoverReply::Kind::withdrawn, .number = number});
    }
    offers_.erase(found);
}

bool HandoverClient::run_once() {
    bool any = false;
    for (const auto& [node, reply] : post_.replies()) {
        if (node == writer_) {
            take_reply(reply);
            any = true;
        }
    }
    return give_up_what_can_be() || any;
}

// A reply of another node is input: one that does not fit the offer's state is ignored. If it said
// that bytes are written which were not sent, they would be lost; so it counts only afterwards.
void HandoverClient::take_reply(const HandoverReply& reply) {
    const auto found = offers_.find(reply.number);
    if (found == offers_.end() || found->second.outcome) {
        return;
    }
    Offer& offer = found->second;
    switch (reply.kind) {
        case HandoverReply::Kind::accepted:
            if (!offer.handed_over) {
                hand_over(reply.number, offer);
            }
            return;
        case HandoverReply::Kind::refused:
            offer.outcome = Outcome{.kind = Outcome::Kind::not_now};
            return;
        case HandoverReply::Kind::wrong_file:
            offer.outcome = Outcome{.kind = Outcome::Kind::wrong_file};
            return;
        case HandoverReply::Kind::written: {
            const bool whole = std::int64_t{reply.bytes} == offer.bytes;
            if (offer.handed_over && reply.bytes <= offer.bytes && whole == (reply.error == 0)) {
                bytes_ += reply.bytes;
                offer.outcome = Outcome{.kind = Outcome::Kind::written,
                                        .bytes = Length{reply.bytes},
                                        .error = reply.error};
            }
            return;
        }
        case HandoverReply::Kind::withdrawn: return;
    }
}

void HandoverClient::hand_over(std::uint64_t number, Offer& offer) {
    std::vector<std::byte> bytes;
    bytes.reserve(static_cast<std::size_t>(offer.bytes));
    for (const ports::Piece& piece : offer.pieces) {
        bytes.insert(bytes.end(), piece.bytes.begin(), piece.bytes.end());
    }
    offer.handed_over = true;
    post_.hand_over(writer_, number, std::move(bytes));
}

// If the writer has ended, it writes nothing more. What it did not accept it does not have, and
// will not get.
bool HandoverClient::give_up_what_can_be() {
    if (offers_.empty()) {
        return false;
    }
    bool any = false;
    const bool reachable = is_open();
    const bool ended = post_.has_ended(writer_);
    const std::int64_t now = clock_.now_ns();
    for (auto& [number, offer] : offers_) {
        const bool is_late = !reachable || now - offer.since_ns >= accepted_within_ns;
        const bool is_over = ended || (!offer.handed_over && is_late);
        if (offer.outcome || !is_over) {
            continue;
        }
        post_.reply(writer_, {.kind = HandoverReply::Kind::withdrawn, .number = number});
        offer.outcome = Outcome{.kind = Outcome::Kind::not_now};
        any = true;
    }
    return any;
}

std::optional<HandoverClient::StuckBytes> HandoverClient::stuck() {
    if (offers_.empty() || is_open()) {
        return std::nullopt;
    }
    StuckBytes stuck{.node = post_.name_of(writer_)};
    for (const auto& [number, offer] : offers_) {
        if (offer.handed_over && !offer.outcome) {
            stuck.bytes += offer.bytes;
            stuck.path = offer.path;
        }
    }
    return stuck.bytes > 0 ? std::optional{std::move(stuck)} : std::nullopt;
}

}  // namespace forebay::cluster
