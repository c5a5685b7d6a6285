// Writes between nodes: the covered bytes of an image go out, and into the window they belong to.
#include "collective/engine/exchange.hpp"
#include "collective/engine/leader_messenger.hpp"
#include "foundation/pattern/encode.hpp"

#include <cstring>

namespace forebay::engine {

namespace {

constexpr int write_tag = 1;

}  // namespace

WriteCourier::WriteCourier(Crew& crew, const Rounds& rounds, const Staging& staging)
    : Courier{crew, rounds, staging},
      out_{staging, 0},
      in_{Parcel{staging.message(2), {}}, Parcel{staging.message(3), {}}} {
    marks_ = crew.imagined() == nullptr || !rounds.plan().gapless();
}

bool WriteCourier::attend() {
    bool any = out_.reap(crew_.communicator());
    any = send_filled() || any;
    while (opened_ < sent_ + static_cast<std::int64_t>(images) && open(opened_)) {
        any = true;
    }
    while (post_receives(in_, write_tag) || take_in()) {
        any = true;
    }
    return any;
}

bool WriteCourier::idle() {
    return outward_.exhausted() && sent_ == opened_ && out_.quiet() && awaited_.empty() &&
           inward_.exhausted();
}

bool WriteCourier::send_filled() {
    bool any = false;
    while (sent_ < opened_ && done_by_all(sent_)) {
        Parcel* parcel = out_.unused();
        if (parcel == nullptr) {
            return any;
        }
        const std::size_t size = pack(sent_, parcel->buffer);
        parcel->ticket =
            crew_.communicator().send(image(sent_).home, write_tag, parcel->buffer.first(size));
        ++sent_;
        any = true;
    }
    return any;
}

bool WriteCourier::take_in() {
    bool any = false;
    note_arrivals();
    while (next_is_ready()) {
        const Awaited one = take_next();
        const auto taken = unpack(one);
        if (!taken) {
            misunderstand(window_, taken.error());
        }
        take_part(crew_, crew_.lane().control(rounds_.window_index(one.step.id, one.step.round)));
        any = true;
    }
    return any;
}

// The covered bytes of an image as a message; returns its length. Where bytes are not there, which
// they are or, without gaps, how many.
std::size_t WriteCourier::pack(std::int64_t number, std::span<std::byte> message) {
    const pattern::Coverage coverage = coverage_of(number);
    if (crew_.imagined() == nullptr) {
        return pattern::encode(coverage, bytes_of(number), message);
    }
    std::int64_t bytes = 0;
    std::size_t size = sizeof bytes;
    if (!marks_) {
        const WindowControl& control = crew_.lane().control(rounds_.image_index(number));
        bytes = control.imagined.load(std::memory_order_relaxed);
        std::memcpy(message.data(), &bytes, sizeof bytes);
    } else {
        bytes = coverage.covered_bytes();
        size = pattern::encode_coverage(coverage, message);
    }
    crew_.imagined()->copied({bytes, 1});
    crew_.imagined()->absent(bytes);
    return size;
}

// Puts a message into the window that it belongs to.
Result<std::int64_t> WriteCourier::unpack(const Awaited& one) {
    const std::size_t index = rounds_.window_index(one.step.id, one.step.round);
    rounds_.window(one.step.round, one.step.id, window_);
    pattern::Coverage coverage = staging_.coverage(index, window_.bytes);
    if (crew_.imagined() == nullptr) {
        return pattern::decode_into(one.parcel->buffer, staging_.announced(index, window_.bytes),
                                    coverage);
    }
    Result<std::int64_t> bytes{0};
    if (!marks_) {
        std::memcpy(&*bytes, one.parcel->buffer.data(), sizeof *bytes);
    } else {
        bytes = pattern::decode_coverage(one.parcel->buffer, coverage);
    }
    crew_.lane().control(index).imagined.fetch_add(bytes.value_or(0), std::memory_order_relaxed);
    crew_.imagined()->copied({bytes.value_or(0), 1});
    return bytes;
}

}  // namespace forebay::engine
