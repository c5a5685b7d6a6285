// Writes between nodes: the leader sends the covered bytes of an image, and the leader of the
// window's node puts them into the window. Message buffers of staging: 0 and 1 send, 2 and 3
// receive.
#include "collective/engine/exchange.hpp"
#include "collective/engine/leader_messenger.hpp"
#include "foundation/pattern/encode.hpp"

#include <cstring>

namespace forebay::engine {

namespace {

constexpr int write_tag = 1;

}  // namespace

WriteMessenger::WriteMessenger(CallTeam& team, const CallRounds& rounds, const Staging& staging)
    : LeaderMessenger{team, rounds, staging},
      out_{staging, 0},
      in_{MessageSlot{staging.message(2), {}}, MessageSlot{staging.message(3), {}}} {
    // A simulator only counts the bytes of a plan without gaps (foundation/ports/imagined.hpp).
    marks_ = team.imagined() == nullptr || !rounds.plan().gapless();
}

bool WriteMessenger::attend() {
    bool any = out_.reap(team_.communicator());
    any = send_filled() || any;
    while (opened_ < sent_ + static_cast<std::int64_t>(images) && open(opened_)) {
        any = true;
    }
    while (post_receives(in_, write_tag) || take_in()) {
        any = true;
    }
    return any;
}

bool WriteMessenger::idle() {
    return outward_.exhausted() && sent_ == opened_ && out_.quiet() && awaited_.empty() &&
           inward_.exhausted();
}

// Sends each image, in order, that all ranks here have filled.
bool WriteMessenger::send_filled() {
    bool any = false;
    while (sent_ < opened_ && done_by_all(sent_)) {
        MessageSlot* message_slot = out_.unused();
        if (message_slot == nullptr) {
            return any;
        }
        const std::size_t size = pack(sent_, message_slot->buffer);
        message_slot->ticket = team_.communicator().send(image(sent_).home, write_tag,
                                                         message_slot->buffer.first(size));
        ++sent_;
        any = true;
    }
    return any;
}

// Unpacks each received message, in order, whose window is open. That is the sending node's part in
// the window.
bool WriteMessenger::take_in() {
    bool any = false;
    note_arrivals();
    while (next_is_ready()) {
        const Awaited one = take_next();
        const auto taken = unpack(one);
        if (!taken) {
            note_malformed(window_, taken.error());
        }
        take_part(team_,
                  team_.node_segment().control(rounds_.window_index(one.step.id, one.step.round)));
        any = true;
    }
    return any;
}

// Packs the covered bytes of an image into `message` and returns its length. In a simulator there
// are no bytes: the message holds the coverage or, for a plan without gaps, only the number of
// bytes.
std::size_t WriteMessenger::pack(std::int64_t number, std::span<std::byte> message) {
    const pattern::Coverage coverage = coverage_of(number);
    if (team_.imagined() == nullptr) {
        return pattern::encode(coverage, bytes_of(number), message);
    }
    std::int64_t bytes = 0;
    std::size_t size = sizeof bytes;
    if (!marks_) {
        const WindowControl& control = team_.node_segment().control(rounds_.image_index(number));
        bytes = control.imagined.load(std::memory_order_relaxed);
        std::memcpy(message.data(), &bytes, sizeof bytes);
    } else {
        bytes = coverage.covered_bytes();
        size = pattern::encode_coverage(coverage, message);
    }
    team_.imagined()->copied({bytes, 1});
    team_.imagined()->absent(bytes);
    return size;
}

// Puts the bytes of a message into the window that they belong to. Returns how many there are.
Result<std::int64_t> WriteMessenger::unpack(const Awaited& one) {
    const std::size_t index = rounds_.window_index(one.step.id, one.step.round);
    rounds_.window(one.step.round, one.step.id, window_);
    pattern::Coverage coverage = staging_.coverage(index, window_.bytes);
    if (team_.imagined() == nullptr) {
        return pattern::decode_into(one.message(), staging_.announced(index, window_.bytes),
                                    coverage);
    }
    Result<std::int64_t> bytes{0};
    if (!marks_) {
        std::memcpy(&*bytes, one.message().data(), sizeof *bytes);
    } else {
        bytes = pattern::decode_coverage(one.message(), coverage);
    }
    team_.node_segment().control(index).imagined.fetch_add(bytes.value_or(0),
                                                           std::memory_order_relaxed);
    team_.imagined()->copied({bytes.value_or(0), 1});
    return bytes;
}

}  // namespace forebay::engine
