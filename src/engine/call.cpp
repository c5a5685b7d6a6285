// Walking the rounds: wait until a window is open, copy by loop nest, say so.
#include "engine/call.hpp"

#include <algorithm>

namespace forebay::engine {

void take_part(Crew& crew, WindowControl& control) {
    const std::uint32_t expected = control.expected.load(std::memory_order_relaxed);
    if (control.parts.fetch_add(1, std::memory_order_acq_rel) + 1 == expected) {
        crew.communicator().wake(control.parts);
    }
}

Exchange::Exchange(Crew& crew, Rounds& rounds, const Staging& staging,
                   pattern::Transfer& transfer, ports::Direction direction)
    : crew_{crew},
      rounds_{rounds},
      staging_{staging},
      transfer_{transfer},
      direction_{direction} {}

void Exchange::run(const pattern::View& view, const pattern::Request& request) {
    const NodeId node = crew_.place().node;
    for (std::int64_t round = 0; rounds_.reach(round, crew_, view, request); ++round) {
        for (std::int32_t i = 0; i < rounds_.aggregators(); ++i) {
            visit(round, rounds_.visited(node, i));
        }
        ++rounds_walked_;
    }
}

void Exchange::visit(std::int64_t round, AggregatorId id) {
    rounds_.window(round, id, window_);
    if (window_.empty() || !plan::touches(rounds_.mine(), window_.hull())) {
        return;
    }
    const std::size_t index = rounds_.window_index(id, round);
    WindowControl& control = crew_.lane().control(index);
    const std::uint64_t tag = window_tag(crew_.call_number(), round);
    crew_.wait_until(control.bell,
                     [&] { return control.tag.load(std::memory_order_acquire) == tag; });
    const std::int64_t begin = crew_.clock().now_ns();
    move(control, index);
    crew_.count_copy(crew_.clock().now_ns() - begin);
    take_part(crew_, control);
    crew_.attend();
}

void Exchange::move(WindowControl& control, std::size_t index) {
    pattern::Coverage coverage = staging_.coverage(index, window_.bytes);
    const std::span<std::byte> image = staging_.image(index);
    const std::int64_t end_of_file = control.end_of_file.load(std::memory_order_relaxed);
    std::int64_t at = 0;
    for (const Extent& extent : window_.extents) {
        const auto part = image.subspan(static_cast<std::size_t>(at), extent.length.size());
        if (direction_ == ports::Direction::write) {
            transfer_.gather(extent, part, &coverage, at);
        } else {
            const std::int64_t valid = std::clamp<std::int64_t>(
                end_of_file - extent.begin.bytes(), 0, extent.length.bytes());
            transfer_.scatter(extent, part.first(static_cast<std::size_t>(valid)));
        }
        at += extent.length.bytes();
    }
}

}  // namespace forebay::engine
