// The progress task of a node's leader: messages between nodes, one for each (node, aggregator,
// round). For every window of another node in which its ranks have bytes, the leader opens an
// *image*, a buffer on this node that stands for the window. Writes: the ranks put their bytes into
// the image, and the leader sends those that are covered. Reads: the ranks mark the bytes that they
// want, the leader sends these marks to the window's node and receives the bytes into the image.
#pragma once

#include "collective/engine/call_team.hpp"
#include "collective/engine/rounds.hpp"
#include "collective/engine/steps.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>

namespace forebay::engine {

// A message buffer, and the send or receive that uses it (nullopt: none).
struct MessageSlot {
    std::span<std::byte> buffer;
    std::optional<ports::Communicator::Ticket> ticket;
};

// Two buffers for sending, numbers `first` and `first` + 1 of staging.
class MessageSlotPair {
public:
    MessageSlotPair(const Staging& staging, std::size_t first)
        : message_slots_{MessageSlot{staging.message(first), {}},
                         MessageSlot{staging.message(first + 1), {}}} {}

    // A buffer that no send uses; nullptr: both are in use.
    [[nodiscard]] MessageSlot* unused() noexcept;
    // Frees the buffers of sends that have ended. Returns whether there was one.
    bool reap(ports::Communicator& communicator);
    // Whether no send is under way.
    [[nodiscard]] bool quiet() const noexcept;

private:
    std::array<MessageSlot, 2> message_slots_;
};

// The work that writes and reads have in common: images for windows of other nodes, and messages
// about windows of this node.
class LeaderMessenger : public ProgressTask {
public:
    LeaderMessenger(CallTeam& team, const CallRounds& rounds, const Staging& staging);

    // Whether all messages of the known rounds have been sent, received and used.
    [[nodiscard]] virtual bool idle() = 0;
    [[nodiscard]] bool messages_done() override { return idle(); }
    // Malformed messages of other nodes (untrusted input): the lowest file offset that is
    // concerned, and what was wrong with the last one.
    [[nodiscard]] const plan::FirstFailure& failure() const noexcept { return failure_; }
    [[nodiscard]] const std::optional<Error>& malformed() const noexcept { return malformed_; }

protected:
    static constexpr auto images = static_cast<std::size_t>(plan::images_for_others);
    struct Image {
        plan::Window window;
        // The node that has the window, and the number of ranks here that take part in the image.
        NodeId home;
        std::uint32_t expected = 0;
    };
    // A receive that was posted, for a message about a window of this node.
    struct Awaited {
        InwardSteps::Step step;
        MessageSlot* message_slot;
        std::optional<std::size_t> arrived;  // the length of the message, once it is here

        // Empty before the message has arrived.
        [[nodiscard]] std::span<const std::byte> message() const {
            return message_slot->buffer.first(arrived.value_or(0));
        }
    };

    [[nodiscard]] Image& image(std::int64_t number) noexcept {
        return images_[static_cast<std::size_t>(number) % images];
    }
    // Opens image number `number` for the next outward step. Returns false if there is none in the
    // rounds known so far.
    bool open(std::int64_t number);
    // Opens the image to this node's ranks. `phase`: see image_tag(). `end_of_file`: reads take
    // only bytes below this file offset.
    void announce(std::int64_t number, std::uint32_t phase, std::int64_t end_of_file);
    // Whether all ranks of this node that take part have done so in the present phase.
    [[nodiscard]] bool done_by_all(std::int64_t number);
    [[nodiscard]] std::span<std::byte> bytes_of(std::int64_t number);
    [[nodiscard]] pattern::Coverage coverage_of(std::int64_t number);
    // Posts receives for the next inward steps, into those of `buffers` that no awaited message
    // uses. Returns whether any was posted.
    bool post_receives(std::span<MessageSlot> buffers, int tag);
    // Messages are used in the order of their keys (steps.hpp), in whatever order they arrive. The
    // first of them may have to wait until its window is open.
    void note_arrivals();
    [[nodiscard]] bool next_is_ready() const;
    Awaited take_next();
    // Notes that a message about `window` was malformed.
    void note_malformed(const plan::Window& window, const Error& error);

    CallTeam& team_;
    const CallRounds& rounds_;
    const Staging& staging_;
    OutwardSteps outward_;
    InwardSteps inward_;
    std::deque<Awaited> awaited_;
    std::array<Image, images> images_;
    // Images that have been opened so far.
    std::int64_t opened_ = 0;
    bool marks_ = true;  // ranks mark, in the coverage, which bytes they give or want

private:
    // Whether the window of the step, which is on this node, is open.
    [[nodiscard]] bool is_open(const InwardSteps::Step& step) const;

    plan::FirstFailure failure_;
    std::optional<Error> malformed_;
};

// Writes: sends filled images, and puts received bytes into this node's windows.
class WriteMessenger final : public LeaderMessenger {
public:
    WriteMessenger(CallTeam& team, const CallRounds& rounds, const Staging& staging);
    bool attend() override;
    [[nodiscard]] bool idle() override;

private:
    bool send_filled();
    bool take_in();
    std::size_t pack(std::int64_t number, std::span<std::byte> message);
    Result<std::int64_t> unpack(const Awaited& one);

    MessageSlotPair out_;
    std::array<MessageSlot, 2> in_;
    plan::Window window_;  // the window of the message that is being unpacked
    // Images that have been sent so far.
    std::int64_t sent_ = 0;
};

// Reads, on both sides. For an image: asks for the bytes that ranks want, and receives them. For a
// window of this node: receives what another node wants, and sends it.
class ReadMessenger final : public LeaderMessenger {
public:
    ReadMessenger(CallTeam& team, const CallRounds& rounds, const Staging& staging);
    bool attend() override;
    [[nodiscard]] bool idle() override;

private:
    bool send_wants();
    bool receive_data();
    Result<std::int64_t> take_answer(std::int64_t number, std::span<const std::byte> message);
    bool answer_wants();
    std::size_t pack(const pattern::Coverage& wants, std::span<const std::byte> bytes,
                     std::span<std::byte> message);
    Result<std::int64_t> unpack(std::int64_t number, std::span<const std::byte> message);

    MessageSlotPair wants_out_;
    MessageSlotPair data_out_;
    std::array<MessageSlot, 2> wants_in_;
    std::array<MessageSlot, 2> data_in_;  // that of image number n is at n mod 2
    // Numbers of images: released_ ≤ arrived_ ≤ asked_ ≤ opened_.
    std::int64_t asked_ = 0;     // images whose wanted bytes have been asked for
    std::int64_t arrived_ = 0;   // images whose data has arrived, for ranks to copy
    std::int64_t released_ = 0;  // images that ranks are done with, so that they are free again
};

}  // namespace forebay::engine
