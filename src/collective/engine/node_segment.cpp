// The layout of a node segment: header, slots of ranks, summaries of nodes, control blocks, turn
// blocks, and staging from the next page on.
#include "collective/engine/node_segment.hpp"

#include "foundation/pattern/coverage.hpp"
#include "foundation/pattern/encode.hpp"

namespace forebay::engine {

namespace {

// Where pages are larger, windows share some: that costs nothing but a little locality.
constexpr std::size_t page = 4096;

constexpr std::size_t rounded_up(std::size_t bytes, std::size_t unit) noexcept {
    return (bytes + unit - 1) / unit * unit;
}

std::size_t slots_at() noexcept { return rounded_up(sizeof(SegmentHeader), 64); }

std::size_t nodes_at(std::int32_t locals) noexcept {
    return slots_at() + sizeof(RankSlot) * static_cast<std::size_t>(locals);
}

std::size_t controls_at(std::int32_t locals, std::int32_t nodes) noexcept {
    return rounded_up(nodes_at(locals) + sizeof(plan::Summary) * static_cast<std::size_t>(nodes),
                      64);
}

std::size_t turns_at(std::int32_t locals, std::int32_t nodes) noexcept {
    return controls_at(locals, nodes) + sizeof(WindowControl) * NodeSegment::controls;
}

// `count` objects of type T from byte `at` on. Node memory starts as zeros, which are a valid state
// of every type used here.
template <class T>
std::span<T> typed(std::span<std::byte> memory, std::size_t at, std::size_t count) noexcept {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): shared memory has no constructor
    return {reinterpret_cast<T*>(memory.data() + at), count};
}

}  // namespace

std::size_t NodeSegment::overhead_bytes(std::int32_t locals, std::int32_t nodes) {
    return rounded_up(
        turns_at(locals, nodes) + sizeof(TurnBlock) * static_cast<std::size_t>(locals), page);
}

NodeSegment::NodeSegment(std::span<std::byte> memory, const ports::RankPlace& place)
    : header_{typed<SegmentHeader>(memory, 0, 1).data()} {
    const std::size_t overhead = overhead_bytes(place.locals, place.nodes);
    expects(memory.size() > overhead, "node memory has room for a node segment");
    slots_ = typed<RankSlot>(memory, slots_at(), static_cast<std::size_t>(place.locals));
    nodes_ =
        typed<plan::Summary>(memory, nodes_at(place.locals), static_cast<std::size_t>(place.nodes));
    controls_ = typed<WindowControl>(memory, controls_at(place.locals, place.nodes), controls);
    turns_ = typed<TurnBlock>(memory, turns_at(place.locals, place.nodes),
                              static_cast<std::size_t>(place.locals));
    staging_ = memory.subspan(overhead);
}

RankSlot& NodeSegment::slot(LocalRank rank) const noexcept {
    expects(rank.position() < slots_.size(), "a rank of the node has a slot");
    return slots_[rank.position()];
}

plan::Summary& NodeSegment::node(NodeId node) const noexcept {
    expects(node.position() < nodes_.size(), "a node of the job has a summary");
    return nodes_[node.position()];
}

WindowControl& NodeSegment::control(std::size_t window) const noexcept {
    expects(window < controls_.size(), "a window has a control block");
    return controls_[window];
}

TurnBlock& NodeSegment::turns(std::int32_t number) const noexcept {
    expects(number >= 0 && static_cast<std::size_t>(number) < turns_.size(),
            "a node has at most one aggregator a rank");
    return turns_[static_cast<std::size_t>(number)];
}

Staging::Staging(const NodeSegment& node_segment, const plan::Plan& plan, std::int32_t nodes,
                 ports::MemoryBorrower* borrower)
    : node_segment_{&node_segment},
      borrower_{borrower},
      area_{node_segment.staging()},
      granularity_{plan.granularity} {
    image_bytes_ = static_cast<std::size_t>(plan.window_bytes);
    words_ = pattern::Coverage::words_for(plan.window_bytes, plan.granularity);
    window_stride_ = rounded_up(image_bytes_ + words_ * sizeof(std::uint64_t), page);
    const auto own = static_cast<std::size_t>(plan.aggregators_on_a_node) *
                     static_cast<std::size_t>(plan.buffers);
    const std::size_t images = nodes > 1 ? std::size_t{plan::images_for_others} : 0;
    const std::size_t messages = nodes > 1 ? std::size_t{plan::messages_under_way} : 0;
    messages_at_ = (own + images) * window_stride_;
    message_stride_ =
        rounded_up(pattern::encoded_bytes_max(plan.window_bytes, plan.granularity) + 64, page);
    const std::size_t needed = messages_at_ + messages * message_stride_;
    expects(needed <= area_.size(), "the plan's windows fit into staging");
}

std::span<std::byte> Staging::announced(std::size_t window, std::int64_t bytes) const {
    const WindowControl& control = node_segment_->control(window);
    const std::uint64_t lender = control.lender.load(std::memory_order_relaxed);
    if (lender == 0) {
        return image(window).first(static_cast<std::size_t>(bytes));
    }
    expects(borrower_ != nullptr, "who puts bytes into lent memory reaches it");
    return borrower_->borrowed(lender, control.place.load(std::memory_order_relaxed),
                               static_cast<std::size_t>(bytes));
}

std::span<std::byte> Staging::image(std::size_t window) const noexcept {
    expects((window + 1) * window_stride_ <= messages_at_, "windows do not reach into messages");
    return area_.subspan(window * window_stride_, image_bytes_);
}

pattern::Coverage Staging::coverage(std::size_t window, std::int64_t image_bytes) const {
    expects((window + 1) * window_stride_ <= messages_at_, "windows do not reach into messages");
    const auto words =
        typed<pattern::Coverage::Bits>(area_, window * window_stride_ + image_bytes_, words_);
    return pattern::Coverage{words, image_bytes, granularity_};
}

std::span<std::byte> Staging::message(std::size_t number) const noexcept {
    expects(messages_at_ + (number + 1) * message_stride_ <= area_.size(),
            "a message lies in staging");
    return area_.subspan(messages_at_ + number * message_stride_, message_stride_);
}

}  // namespace forebay::engine
