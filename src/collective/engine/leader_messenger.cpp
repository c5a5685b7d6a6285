// What couriers of both directions share.
#include "collective/engine/leader_messenger.hpp"

#include <algorithm>

namespace forebay::engine {

Parcel* ParcelPair::unused() noexcept {
    for (Parcel& parcel : parcels_) {
        if (!parcel.ticket) {
            return &parcel;
        }
    }
    return nullptr;
}

bool ParcelPair::reap(ports::Communicator& communicator) {
    bool any = false;
    for (Parcel& parcel : parcels_) {
        if (parcel.ticket && communicator.done(*parcel.ticket)) {
            parcel.ticket.reset();
            any = true;
        }
    }
    return any;
}

bool ParcelPair::quiet() const noexcept { return !parcels_[0].ticket && !parcels_[1].ticket; }

Courier::Courier(Crew& crew, const Rounds& rounds, const Staging& staging)
    : crew_{crew},
      rounds_{rounds},
      staging_{staging},
      outward_{crew, rounds},
      inward_{crew, rounds} {}

bool Courier::open(std::int64_t number) {
    Image& one = image(number);
    const auto step = outward_.next(one.window);
    if (!step) {
        return false;
    }
    one.home = rounds_.aggregator(step->id).node;
    one.expected = 0;
    for (std::int32_t i = 0; i < crew_.place().locals; ++i) {
        const plan::Summary& rank = crew_.lane().slot(LocalRank{i}).ballot(Moment::start).summary;
        one.expected += plan::touches(rank, one.window.hull()) ? 1U : 0U;
    }
    if (marks_) {
        coverage_of(number).clear();
    }
    announce(number, 0, plan::Failure::nowhere);
    ++opened_;
    return true;
}

void Courier::announce(std::int64_t number, std::uint32_t phase, std::int64_t end_of_file) {
    WindowControl& control = crew_.lane().control(rounds_.image_index(number));
    control.parts.store(0, std::memory_order_relaxed);
    control.imagined.store(0, std::memory_order_relaxed);
    control.lender.store(0, std::memory_order_relaxed);
    control.expected.store(image(number).expected, std::memory_order_relaxed);
    control.end_of_file.store(end_of_file, std::memory_order_relaxed);
    control.tag.store(image_tag(crew_.call_number(), number, phase), std::memory_order_release);
    control.bell.fetch_add(1, std::memory_order_release);
    crew_.communicator().wake(control.bell);
}

bool Courier::done_by_all(std::int64_t number) {
    return crew_.lane()
               .control(rounds_.image_index(number))
               .parts.load(std::memory_order_acquire) == image(number).expected;
}

std::span<std::byte> Courier::bytes_of(std::int64_t number) {
    return staging_.image(rounds_.image_index(number))
        .first(static_cast<std::size_t>(image(number).window.bytes));
}

pattern::Coverage Courier::coverage_of(std::int64_t number) {
    return staging_.coverage(rounds_.image_index(number), image(number).window.bytes);
}

void Courier::misunderstand(const plan::Window& window, const Error& error) {
    failure_ = plan::first_of(
        failure_, plan::Failure{window.hull().begin.bytes(), static_cast<std::uint32_t>(error.code),
                                plan::Failure::misunderstood});
    misunderstood_ = error;
}

bool Courier::post_receives(std::span<Parcel> buffers, int tag) {
    bool any = false;
    for (Parcel& parcel : buffers) {
        const bool busy = std::any_of(awaited_.begin(), awaited_.end(),
                                      [&](const Awaited& one) { return one.parcel == &parcel; });
        if (busy) {
            continue;
        }
        const auto step = inward_.next();
        if (!step) {
            return any;
        }
        parcel.ticket = crew_.communicator().receive(step->from, tag, parcel.buffer);
        awaited_.push_back(Awaited{*step, &parcel});
        any = true;
    }
    return any;
}

void Courier::note_arrivals() {
    for (Awaited& one : awaited_) {
        one.arrived = one.arrived || crew_.communicator().done(*one.parcel->ticket);
    }
}

bool Courier::next_is_ready() const {
    return !awaited_.empty() && awaited_.front().arrived && is_open(awaited_.front().step);
}

Courier::Awaited Courier::take_next() {
    const Awaited one = awaited_.front();
    awaited_.pop_front();
    return one;
}

bool Courier::is_open(const InwardSteps::Step& step) const {
    const std::size_t index = rounds_.window_index(step.id, step.round);
    return crew_.lane().control(index).tag.load(std::memory_order_acquire) ==
           window_tag(crew_.call_number(), step.round);
}

}  // namespace forebay::engine
