// Walks through the rounds: waits until a window is open, copies by loop nest, and counts the part
// as done.
#include "collective/engine/exchange.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>

namespace forebay::engine {

void take_part(CallTeam& team, WindowControl& control) {
    const std::uint32_t expected = control.expected.load(std::memory_order_relaxed);
    if (control.parts.fetch_add(1, std::memory_order_acq_rel) + 1 == expected) {
        team.wake(control.parts);
    }
}

Exchange::Exchange(CallTeam& team, CallRounds& rounds, const Staging& staging,
                   pattern::WindowedTransfer& transfer, IoDirection direction)
    : team_{team}, rounds_{rounds}, staging_{staging}, transfer_{transfer}, direction_{direction} {}

void Exchange::run(const pattern::View& view, const pattern::ViewRange& request) {
    const NodeId node = team_.place().node;
    for (std::int64_t round = 0;; ++round) {
        if (!rounds_.complete()) {
            take_pending();  // reach() may be a barrier: let no rank wait for this one there
        }
        if (!rounds_.reach(round, team_, view, request)) {
            break;
        }
        for (std::int32_t i = 0; i < rounds_.aggregators(); ++i) {
            visit(round, rounds_.visited(node, i));
        }
        ++rounds_walked_;
    }
    take_pending();
}

void Exchange::visit(std::int64_t round, AggregatorId id) {
    rounds_.window(round, id, window_);
    if (window_.empty()) {
        return;
    }
    const NodeId here = team_.place().node;
    if (rounds_.aggregator(id).node == here) {
        visit_here(round, id);
    } else if (plan::touches(team_.node_segment().node(here), window_.hull())) {
        visit_image(round);
    }
    team_.attend();
}

void Exchange::visit_here(std::int64_t round, AggregatorId id) {
    if (!plan::touches(rounds_.mine(), window_.hull())) {
        return;
    }
    // A rank that held an image of an earlier round while it waits for a window of this round could
    // close a cycle of nodes that wait for one another. Within one round that cannot happen.
    if (pending_round_ < round) {
        take_pending();
    }
    const std::size_t index = rounds_.window_index(id, round);
    WindowControl& control = team_.node_segment().control(index);
    wait_for(control, window_tag(team_.call_number(), round));
    move(window_, control, index);
    take_part(team_, control);
}

// Takes part in a window of another node, for which the leader of this node opens an image.
void Exchange::visit_image(std::int64_t round) {
    const std::int64_t number = images_walked_++;
    if (!plan::touches(rounds_.mine(), window_.hull())) {
        return;
    }
    const std::size_t index = rounds_.image_index(number);
    WindowControl& control = team_.node_segment().control(index);
    if (direction_ == IoDirection::write) {
        wait_for(control, image_tag(team_.call_number(), number, 0));
        move(window_, control, index);
        take_part(team_, control);
        return;
    }
    // Only two images exist, and the older must be free before a third is opened.
    if (pending_image_ >= 0 && pending_image_ + 1 < number) {
        take_pending();
    }
    wait_for(control, image_tag(team_.call_number(), number, 0));
    want(index);
    take_part(team_, control);
    take_pending();
    pending_image_ = number;
    pending_round_ = round;
    std::swap(pending_window_, window_);
}

// Copies the data of the pending image, if there is one, as soon as it has arrived.
void Exchange::take_pending() {
    if (pending_image_ < 0) {
        return;
    }
    const std::size_t index = rounds_.image_index(pending_image_);
    WindowControl& control = team_.node_segment().control(index);
    wait_for(control, image_tag(team_.call_number(), pending_image_, 1));
    move(pending_window_, control, index);
    take_part(team_, control);
    pending_image_ = -1;
}

void Exchange::wait_for(const WindowControl& control, std::uint64_t tag) {
    team_.wait_until(control.bell,
                     [&] { return control.tag.load(std::memory_order_acquire) == tag; });
}

// Marks in the image's coverage which bytes this rank wants.
void Exchange::want(std::size_t index) {
    pattern::Coverage coverage = staging_.coverage(index, window_.bytes);
    std::int64_t at = 0;
    for (const Extent& extent : window_.extents) {
        transfer_.mark(extent, coverage, at);
        at += extent.length.bytes();
    }
}

// As move(), in a simulator where there are no bytes (foundation/ports/imagined.hpp): charges for
// the copy, and marks the bytes that would be given. In a plan without gaps nothing has to be
// marked; bytes are only counted.
void Exchange::imagine(const plan::Window& window, WindowControl& control, std::size_t index) {
    const bool marks = direction_ == IoDirection::write && !rounds_.plan().gapless();
    pattern::Coverage coverage = staging_.coverage(index, window.bytes);
    std::int64_t at = 0;
    std::int64_t bytes = 0;
    for (const Extent& extent : window.extents) {
        bytes += marks ? transfer_.mark(extent, coverage, at) : transfer_.bytes_in(extent);
        at += extent.length.bytes();
    }
    control.imagined.fetch_add(bytes, std::memory_order_relaxed);
    const std::int64_t piece = std::max<std::int64_t>(rounds_.mine().shortest_piece, 1);
    team_.imagined()->copied({bytes, (bytes + piece - 1) / piece});
}

// Copies this rank's bytes of the window into the image (write) or out of it (read).
void Exchange::move(const plan::Window& window, WindowControl& control, std::size_t index) {
    const std::int64_t begin = team_.clock().now_ns();
    if (team_.imagined() != nullptr) {
        imagine(window, control, index);
        team_.count_copy(team_.clock().now_ns() - begin);
        return;
    }
    pattern::Coverage coverage = staging_.coverage(index, window.bytes);
    const std::span<std::byte> image = staging_.announced(index, window.bytes);
    const std::int64_t end_of_file = control.end_of_file.load(std::memory_order_relaxed);
    std::int64_t at = 0;
    for (const Extent& extent : window.extents) {
        expects(at + extent.length.bytes() <= window.bytes, "a window has room for its extents");
        const auto part = image.subspan(static_cast<std::size_t>(at), extent.length.size());
        if (direction_ == IoDirection::write) {
            transfer_.gather(extent, part, &coverage, at);
        } else {
            const std::int64_t valid = std::clamp<std::int64_t>(end_of_file - extent.begin.bytes(),
                                                                0, extent.length.bytes());
            transfer_.scatter(extent, part.first(static_cast<std::size_t>(valid)));
        }
        at += extent.length.bytes();
    }
    team_.count_copy(team_.clock().now_ns() - begin);
}

}  // namespace forebay::engine
