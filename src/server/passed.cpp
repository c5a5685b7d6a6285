#include "server/passed.hpp"

#include "pool/shared/limits.hpp"

#include <algorithm>
#include <utility>

namespace forebay::server {

std::optional<std::uint64_t> Passed::ask(const Wish& wish) {
    const registry::Parent parent = parents_(wish.file);
    if (parent.grant == 0 || !post_.reachable(parent.node)) {
        return std::nullopt;
    }
    const std::uint64_t number = next_++;
    asked_[number] = {.of = parent.node, .to = wish.piece.bytes, .outcome = {}};
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

std::optional<Passed::Outcome> Passed::take(std::uint64_t number) {
    const auto found = asked_.find(number);
    if (found == asked_.end()) {
        return Outcome{.refused = true};
    }
    const std::optional<Outcome> outcome = found->second.outcome;
    if (outcome) {
        asked_.erase(found);
    }
    return outcome;
}

bool Passed::turn() {
    bool any = false;
    for (const Post::Passed& one : post_.passed()) {
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

// What does not fit together is as good as a refusal: the file is read then.
void Passed::take_part(registry::Node from, const wire::Part& part) {
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
    bytes_ += static_cast<std::int64_t>(part.bytes.size());
    if (asked.got == part.whole) {
        asked.outcome = Outcome{.bytes = asked.got};
    }
}

PassedStorage::~PassedStorage() {
    for (const auto& [number, request] : asked_) {
        passed_.forget(number);
    }
}

void PassedStorage::submit(const ports::Request& request) {
    constexpr auto block = static_cast<std::int64_t>(pool::block_bytes);
    if (request.pieces.size() == 1 && !request.at_once) {
        const ports::Piece& piece = request.pieces.front();
        const std::int64_t within = piece.at.bytes() % block;
        const bool one_block = !piece.bytes.empty() && within + std::ssize(piece.bytes) <= block;
        const auto number =
            one_block ? passed_.ask({.file = file_, .seen = *seen_, .piece = piece}) : std::nullopt;
        if (number) {
            asked_[*number] = request;
            return;
        }
    }
    own_->submit(request);
}

std::size_t PassedStorage::poll(std::span<ports::Completion> out) {
    std::size_t done = own_->poll(out);
    for (auto at = asked_.begin(); at != asked_.end() && done < out.size();) {
        const auto outcome = passed_.take(at->first);
        if (!outcome) {
            ++at;
            continue;
        }
        const ports::Request request = at->second;
        at = asked_.erase(at);
        if (outcome->refused) {
            own_->submit(request);
        } else {
            out[done++] = {.ticket = request.ticket,
                           .bytes = Length{static_cast<std::int64_t>(outcome->bytes)}};
        }
    }
    return done;
}

// Nobody hears the other nodes meanwhile: what they have not passed on is read.
std::size_t PassedStorage::wait(std::span<ports::Completion> out) {
    if (const std::size_t done = poll(out); done > 0) {
        return done;
    }
    for (const auto& [number, request] : std::exchange(asked_, {})) {
        passed_.forget(number);
        own_->submit(request);
    }
    return own_->wait(out);
}

}  // namespace forebay::server
