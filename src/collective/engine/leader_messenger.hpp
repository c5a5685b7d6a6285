// The task of a node's leader: messages between nodes, one per (node, aggregator, round). Ranks of
// a node put their bytes for another node's window into an image here, as if it were the window;
// the leader sends what is covered. Reads go the other way, after the node has said what it wants.
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

// A message buffer and the operation it is used by.
struct MessageSlot {
    std::span<std::byte> buffer;
    std::optional<ports::Communicator::Ticket> ticket;
};

// Two buffers that are used in turn.
class MessageSlotPair {
public:
    MessageSlotPair(const Staging& staging, std::size_t first)
        : message_slots_{MessageSlot{staging.message(first), {}},
                         MessageSlot{staging.message(first + 1), {}}} {}

    // A buffer without an operation; nullptr: both are in use.
    [[nodiscard]] MessageSlot* unused() noexcept;
    // Frees the buffers of sends that have ended. True when any has.
    bool reap(ports::Communicator& communicator);
    [[nodiscard]] bool quiet() const noexcept;

private:
    std::array<MessageSlot, 2> message_slots_;
};

// The part of a leader's work that writes and reads share: images for windows of other nodes.
class LeaderMessenger : public ProgressTask {
public:
    LeaderMessenger(CallTeam& team, const CallRounds& rounds, const Staging& staging);

    // All messages of the known rounds have been dealt with.
    [[nodiscard]] virtual bool idle() = 0;
    [[nodiscard]] bool settled() override { return idle(); }
    // Messages that made no sense: up to where everything is fine, and what was wrong with one.
    [[nodiscard]] const plan::FirstFailure& failure() const noexcept { return failure_; }
    [[nodiscard]] const std::optional<Error>& misunderstood() const noexcept {
        return misunderstood_;
    }

protected:
    static constexpr auto images = static_cast<std::size_t>(plan::images_for_others);
    struct Image {
        plan::Window window;
        NodeId home;
        std::uint32_t expected = 0;
    };
    // A message about a window here.
    struct Awaited {
        InwardSteps::Step step;
        MessageSlot* message_slot;
        bool arrived = false;
    };

    [[nodiscard]] Image& image(std::int64_t number) noexcept {
        return images_[static_cast<std::size_t>(number) % images];
    }
    // Opens image number `number` for the next outward step; false when there is none now.
    bool open(std::int64_t number);
    // Lets this node's ranks at it, for the `phase`-th time.
    void announce(std::int64_t number, std::uint32_t phase, std::int64_t end_of_file);
    [[nodiscard]] bool done_by_all(std::int64_t number);
    [[nodiscard]] std::span<std::byte> bytes_of(std::int64_t number);
    [[nodiscard]] pattern::Coverage coverage_of(std::int64_t number);
    // Receives what the next inward steps bring into those buffers that nothing awaited is to fill.
    bool post_receives(std::span<MessageSlot> buffers, int tag);
    // Messages are taken in the order of their keys; one may wait for its window to be opened.
    void note_arrivals();
    [[nodiscard]] bool next_is_ready() const;
    Awaited take_next();
    // The message about `window` made no sense.
    void misunderstand(const plan::Window& window, const Error& error);

    CallTeam& team_;
    const CallRounds& rounds_;
    const Staging& staging_;
    OutwardSteps outward_;
    InwardSteps inward_;
    std::deque<Awaited> awaited_;
    std::array<Image, images> images_;
    std::int64_t opened_ = 0;
    bool marks_ = true;  // ranks mark which bytes they give or want

private:
    // The window that (aggregator, round) has on this node is open.
    [[nodiscard]] bool is_open(const InwardSteps::Step& step) const;

    plan::FirstFailure failure_;
    std::optional<Error> misunderstood_;
};

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
    plan::Window window_;  // of the message that is being taken in
    std::int64_t sent_ = 0;
};

class ReadMessenger final : public LeaderMessenger {
public:
    ReadMessenger(CallTeam& team, const CallRounds& rounds, const Staging& staging);
    bool attend() override;
    [[nodiscard]] bool idle() override;

private:
    bool ask();
    bool take_data();
    bool give();
    std::size_t pack(const pattern::Coverage& wants, std::span<const std::byte> bytes,
                     std::span<std::byte> message);
    Result<std::int64_t> unpack(std::int64_t number, std::span<const std::byte> message);

    MessageSlotPair wants_out_;
    MessageSlotPair data_out_;
    std::array<MessageSlot, 2> wants_in_;
    std::array<MessageSlot, 2> data_in_;  // of image number n at n mod 2
    std::int64_t asked_ = 0;              // images whose wants are sent
    std::int64_t given_ = 0;              // images whose data is there
    std::int64_t taken_ = 0;              // images that all ranks have used up
};

}  // namespace forebay::engine
