// Writes between nodes: the covered bytes of an image go out, and into the window they belong to.
#include "engine/call.hpp"
#include "engine/courier.hpp"
#include "pattern/encode.hpp"

#include <algorithm>

namespace forebay::engine {

namespace {

constexpr int data_tag = 1;

}  // namespace

WriteCourier::WriteCourier(Crew& crew, const Rounds& rounds, const Staging& staging)
    : Courier{crew, rounds, staging},
      out_{staging, 0},
      in_{Parcel{staging.message(2), {}}, Parcel{staging.message(3), {}}} {}

bool WriteCourier::attend() {
    bool any = out_.reap(crew_.communicator());
    any = send_filled() || any;
    while (opened_ < sent_ + static_cast<std::int64_t>(images) && open(opened_)) {
        any = true;
    }
    any = post_receives() || any;
    return take_in() || any;
}

bool WriteCourier::idle() {
    return outward_.exhausted() && sent_ == opened_ && out_.quiet() && coming_.empty() &&
           inward_.exhausted();
}

bool WriteCourier::send_filled() {
    bool any = false;
    while (sent_ < opened_ && done_by_all(sent_)) {
        Parcel* parcel = out_.unused();
        if (parcel == nullptr) {
            return any;
        }
        const std::size_t size =
            pattern::encode(coverage_of(sent_), bytes_of(sent_), parcel->buffer);
        parcel->ticket =
            crew_.communicator().send(image(sent_).home, data_tag, parcel->buffer.first(size));
        ++sent_;
        any = true;
    }
    return any;
}

bool WriteCourier::post_receives() {
    bool any = false;
    for (Parcel& parcel : in_) {
        const bool busy = std::any_of(coming_.begin(), coming_.end(),
                                      [&](const Expected& one) { return one.parcel == &parcel; });
        if (busy) {
            continue;
        }
        const auto step = inward_.next();
        if (!step) {
            return any;
        }
        parcel.ticket = crew_.communicator().receive(step->from, data_tag, parcel.buffer);
        coming_.push_back(Expected{*step, &parcel});
        any = true;
    }
    return any;
}

// Messages are taken in the order of their keys; one may wait for its window to be opened.
bool WriteCourier::take_in() {
    bool any = false;
    for (Expected& one : coming_) {
        one.arrived = one.arrived || crew_.communicator().done(*one.parcel->ticket);
    }
    while (!coming_.empty() && coming_.front().arrived && is_open(coming_.front().step)) {
        const Expected one = coming_.front();
        coming_.pop_front();
        const std::size_t index = rounds_.window_index(one.step.id, one.step.round);
        plan::Window window;
        rounds_.window(one.step.round, one.step.id, window);
        pattern::Coverage coverage = staging_.coverage(index, window.bytes);
        const auto bytes = staging_.image(index).first(static_cast<std::size_t>(window.bytes));
        const auto taken = pattern::decode_into(one.parcel->buffer, bytes, coverage);
        if (!taken) {
            failure_ = first_of(failure_, Failure{window.hull().begin.bytes(),
                                                  static_cast<std::uint32_t>(taken.error().code),
                                                  taken.error().system});
        }
        take_part(crew_, crew_.lane().control(index));
        any = true;
    }
    return any;
}

}  // namespace forebay::engine
