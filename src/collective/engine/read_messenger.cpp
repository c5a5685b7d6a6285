// Reads between nodes, by two messages for each image. The reading node sends the coverage of the
// bytes that its ranks want; the node that has the window answers with these bytes. Message buffers
// of staging:
//   0, 1  sends of wants      2, 3  sends of data
//   4, 5  receives of wants   6, 7  receives of data
#include "collective/engine/exchange.hpp"
#include "collective/engine/leader_messenger.hpp"
#include "foundation/pattern/encode.hpp"

#include <cstring>

namespace forebay::engine {

namespace {

constexpr int want_tag = 2;
constexpr int read_tag = 3;

// A data message begins with the file offset at which the file was found to end.
constexpr std::size_t prefix_bytes = sizeof(std::int64_t);

}  // namespace

ReadMessenger::ReadMessenger(CallTeam& team, const CallRounds& rounds, const Staging& staging)
    : LeaderMessenger{team, rounds, staging},
      wants_out_{staging, 0},
      data_out_{staging, 2},
      wants_in_{MessageSlot{staging.message(4), {}}, MessageSlot{staging.message(5), {}}},
      data_in_{MessageSlot{staging.message(6), {}}, MessageSlot{staging.message(7), {}}} {}

bool ReadMessenger::attend() {
    bool any = wants_out_.reap(team_.communicator());
    any = data_out_.reap(team_.communicator()) || any;
    any = send_wants() || any;
    any = receive_data() || any;
    while (released_ < arrived_ && done_by_all(released_)) {
        ++released_;
        any = true;
    }
    while (opened_ < released_ + static_cast<std::int64_t>(images) && open(opened_)) {
        any = true;
    }
    any = post_receives(wants_in_, want_tag) || any;
    return answer_wants() || any;
}

bool ReadMessenger::idle() {
    return outward_.exhausted() && released_ == opened_ && wants_out_.quiet() &&
           data_out_.quiet() && awaited_.empty() && inward_.exhausted();
}

// For each image in which all ranks have marked the bytes that they want: posts the receive of the
// data, and sends the request for it.
bool ReadMessenger::send_wants() {
    bool any = false;
    while (asked_ < opened_ && done_by_all(asked_)) {
        MessageSlot* message_slot = wants_out_.unused();
        if (message_slot == nullptr) {
            return any;
        }
        MessageSlot& answer = data_in_[static_cast<std::size_t>(asked_) % images];
        const NodeId home = image(asked_).home;
        answer.ticket = team_.communicator().receive(home, read_tag, answer.buffer);
        const std::size_t size =
            pattern::encode_coverage(coverage_of(asked_), message_slot->buffer);
        message_slot->ticket =
            team_.communicator().send(home, want_tag, message_slot->buffer.first(size));
        ++asked_;
        any = true;
    }
    return any;
}

// For each image whose data has arrived, in order: unpacks it and opens the image to the ranks
// here, which advances `arrived_`. attend() advances `released_` when they have copied it.
bool ReadMessenger::receive_data() {
    bool any = false;
    while (arrived_ < asked_) {
        MessageSlot& answer = data_in_[static_cast<std::size_t>(arrived_) % images];
        const auto length = team_.communicator().done(*answer.ticket);
        if (!length) {
            return any;
        }
        answer.ticket.reset();
        const auto end_of_file = take_answer(arrived_, answer.buffer.first(*length));
        if (!end_of_file) {
            note_malformed(image(arrived_).window, end_of_file.error());
        }
        // After a malformed message ranks copy nothing, as if the file ended at 0.
        announce(arrived_++, 1, end_of_file.value_or(0));
        any = true;
    }
    return any;
}

// Puts the bytes of a data message into image number `number`. Returns the file offset at which the
// sender found the file to end. Ranks copy all that they wanted below that offset, so a message
// that gives less is malformed.
Result<std::int64_t> ReadMessenger::take_answer(std::int64_t number,
                                                std::span<const std::byte> message) {
    if (message.size() < prefix_bytes) {
        return forebay::failure(pattern::unusable_message("it is cut short"));
    }
    std::int64_t end_of_file = 0;
    std::memcpy(&end_of_file, message.data(), prefix_bytes);
    if (end_of_file < 0) {
        return forebay::failure(pattern::unusable_message("the file ends before byte 0 in it"));
    }
    const std::int64_t wanted = coverage_of(number).covered_bytes();
    const auto given = unpack(number, message.subspan(prefix_bytes));
    if (!given) {
        return given;
    }
    // Bytes that were given are marked now, like those that were wanted.
    const bool same = *given == wanted && coverage_of(number).covered_bytes() == wanted;
    if (!same && end_of_file > image(number).window.hull().begin.bytes()) {
        return forebay::failure(
            pattern::unusable_message("it has other bytes than those asked for"));
    }
    return end_of_file;
}

// For each request of another node, in order, whose window has been read: sends the bytes that it
// wants. That is the other node's part in the window; no image of this node is concerned.
bool ReadMessenger::answer_wants() {
    bool any = false;
    note_arrivals();
    while (next_is_ready()) {
        MessageSlot* out = data_out_.unused();
        if (out == nullptr) {
            return any;
        }
        const Awaited one = take_next();
        const std::size_t index = rounds_.window_index(one.step.id, one.step.round);
        WindowControl& control = team_.node_segment().control(index);
        plan::Window window;
        rounds_.window(one.step.round, one.step.id, window);
        // A window that is read needs no coverage of its own, so its bitmap is free to hold what
        // the other node wants.
        pattern::Coverage wants = staging_.coverage(index, window.bytes);
        wants.clear();
        std::int64_t end_of_file = control.end_of_file.load(std::memory_order_relaxed);
        const auto wanted = pattern::decode_coverage(one.message(), wants);
        if (!wanted) {
            note_malformed(window, wanted.error());
            end_of_file = 0;
        }
        std::memcpy(out->buffer.data(), &end_of_file, prefix_bytes);
        const auto bytes = staging_.image(index).first(static_cast<std::size_t>(window.bytes));
        const std::size_t size = pack(wants, bytes, out->buffer.subspan(prefix_bytes));
        out->ticket = team_.communicator().send(one.step.from, read_tag,
                                                out->buffer.first(prefix_bytes + size));
        take_part(team_, control);
        any = true;
    }
    return any;
}

// Packs the wanted bytes into `message` and returns its length. In a simulator there are no bytes
// (foundation/ports/imagined.hpp): the message holds only their number, and the simulated time of
// copying and sending them is charged.
std::size_t ReadMessenger::pack(const pattern::Coverage& wants, std::span<const std::byte> bytes,
                                std::span<std::byte> message) {
    if (team_.imagined() == nullptr) {
        return pattern::encode(wants, bytes, message);
    }
    const std::int64_t wanted = wants.covered_bytes();
    std::memcpy(message.data(), &wanted, sizeof wanted);
    team_.imagined()->copied({wanted, 1});
    team_.imagined()->absent(wanted);
    return sizeof wanted;
}

// Puts the bytes of a data message into image number `number` (a simulator only charges for it).
// Returns how many there are.
Result<std::int64_t> ReadMessenger::unpack(std::int64_t number,
                                           std::span<const std::byte> message) {
    pattern::Coverage coverage = coverage_of(number);
    if (team_.imagined() == nullptr) {
        return pattern::decode_into(message, bytes_of(number), coverage);
    }
    std::int64_t bytes = 0;
    std::memcpy(&bytes, message.data(), sizeof bytes);
    team_.imagined()->copied({bytes, 1});
    return bytes;
}

}  // namespace forebay::engine
