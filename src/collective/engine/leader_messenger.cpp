// Opening images and receiving messages in order, for both directions.
#include "collective/engine/leader_messenger.hpp"

#include "collective/engine/window_opening.hpp"

#include <algorithm>

namespace forebay::engine {

MessageSlot* MessageSlotPair::unused() noexcept {
    for (MessageSlot& message_slot : message_slots_) {
        if (!message_slot.ticket) {
            return &message_slot;
        }
    }
    return nullptr;
}

bool MessageSlotPair::reap(ports::Communicator& communicator) {
    bool any = false;
    for (MessageSlot& message_slot : message_slots_) {
        if (message_slot.ticket && communicator.done(*message_slot.ticket)) {
            message_slot.ticket.reset();
            any = true;
        }
    }
    return any;
}

bool MessageSlotPair::quiet() const noexcept {
    return !message_slots_[0].ticket && !message_slots_[1].ticket;
}

LeaderMessenger::LeaderMessenger(CallTeam& team, const CallRounds& rounds, const Staging& staging)
    : team_{team},
      rounds_{rounds},
      staging_{staging},
      outward_{team, rounds},
      inward_{team, rounds} {}

bool LeaderMessenger::open(std::int64_t number) {
    Image& one = image(number);
    const auto step = outward_.next(one.window);
    if (!step) {
        return false;
    }
    one.home = rounds_.aggregator(step->id).node;
    one.expected = 0;
    for (std::int32_t i = 0; i < team_.place().locals; ++i) {
        const plan::Summary& rank =
            team_.node_segment().slot(LocalRank{i}).vote(VoteMoment::start).summary;
        one.expected += plan::touches(rank, one.window.hull()) ? 1U : 0U;
    }
    if (marks_) {
        coverage_of(number).clear();
    }
    announce(number, 0, plan::FirstFailure::nowhere);
    ++opened_;
    return true;
}

void LeaderMessenger::announce(std::int64_t number, std::uint32_t phase, std::int64_t end_of_file) {
    WindowControl& control = team_.node_segment().control(rounds_.image_index(number));
    open_window(control, {.tag = image_tag(team_.call_number(), number, phase),
                          .expected = image(number).expected,
                          .end_of_file = end_of_file});
    team_.communicator().wake(control.bell);
}

bool LeaderMessenger::done_by_all(std::int64_t number) {
    return team_.node_segment()
               .control(rounds_.image_index(number))
               .parts.load(std::memory_order_acquire) == image(number).expected;
}

std::span<std::byte> LeaderMessenger::bytes_of(std::int64_t number) {
    return staging_.image(rounds_.image_index(number))
        .first(static_cast<std::size_t>(image(number).window.bytes));
}

pattern::Coverage LeaderMessenger::coverage_of(std::int64_t number) {
    return staging_.coverage(rounds_.image_index(number), image(number).window.bytes);
}

void LeaderMessenger::note_malformed(const plan::Window& window, const Error& error) {
    failure_ = plan::first_of(failure_, plan::FirstFailure{window.hull().begin.bytes(),
                                                           static_cast<std::uint32_t>(error.code),
                                                           plan::FirstFailure::malformed_message});
    malformed_ = error;
}

bool LeaderMessenger::post_receives(std::span<MessageSlot> buffers, int tag) {
    bool any = false;
    for (MessageSlot& message_slot : buffers) {
        const bool busy = std::any_of(awaited_.begin(), awaited_.end(), [&](const Awaited& one) {
            return one.message_slot == &message_slot;
        });
        if (busy) {
            continue;
        }
        const auto step = inward_.next();
        if (!step) {
            return any;
        }
        message_slot.ticket = team_.communicator().receive(step->from, tag, message_slot.buffer);
        awaited_.push_back(Awaited{*step, &message_slot, std::nullopt});
        any = true;
    }
    return any;
}

void LeaderMessenger::note_arrivals() {
    for (Awaited& one : awaited_) {
        if (!one.arrived) {
            one.arrived = team_.communicator().done(*one.message_slot->ticket);
        }
    }
}

bool LeaderMessenger::next_is_ready() const {
    return !awaited_.empty() && awaited_.front().arrived && is_open(awaited_.front().step);
}

LeaderMessenger::Awaited LeaderMessenger::take_next() {
    const Awaited one = awaited_.front();
    awaited_.pop_front();
    return one;
}

bool LeaderMessenger::is_open(const InwardSteps::Step& step) const {
    const std::size_t index = rounds_.window_index(step.id, step.round);
    return team_.node_segment().control(index).tag.load(std::memory_order_acquire) ==
           window_tag(team_.call_number(), step.round);
}

}  // namespace forebay::engine
