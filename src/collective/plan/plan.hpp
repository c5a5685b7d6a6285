// The decisions about one collective call: aggregators, file domains, windows, and whether
// two-phase I/O is needed at all. Pure: the same summary, layout, topology and tuning give the same
// plan on every rank, so no message is needed to share it.
#pragma once

#include "collective/plan/summary.hpp"
#include "foundation/base/units.hpp"
#include "storage/policy/domain.hpp"
#include "storage/policy/tuning.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace forebay::plan {

// How the ranks are spread over nodes: `locals[n]` is the number of ranks on node n.
struct NodeTopology {
    std::vector<std::int32_t> locals{1};
    std::int32_t aggregators_per_node_max = 1;  // depends on cores and network interfaces

    [[nodiscard]] std::int32_t nodes() const noexcept {
        return static_cast<std::int32_t>(locals.size());
    }
    bool operator==(const NodeTopology&) const noexcept = default;
};

// A rank that reads or writes the file on behalf of all ranks, and the targets (OSTs) that it
// serves. It serves `targets` targets alone, or one target together with other aggregators. In the
// latter case the stripes of each target are dealt out to its aggregators in turns, and aggregator
// number i is share i / targets of target i mod targets.
struct Aggregator {
    NodeId node;
    LocalRank local;
    std::int32_t first_target = 0;
    std::int32_t targets = 1;
    std::int32_t on_node = 0;  // aggregators of this node that come before it
    std::int32_t share = 0;    // its number among the aggregators of its target

    bool operator==(const Aggregator&) const noexcept = default;
};

// With several nodes, the staging of each node also holds *images* (its copies of windows that
// belong to other nodes) and message buffers. Each of them needs about as much room as a window.
constexpr std::int64_t images_for_others = 2;
constexpr std::int64_t messages_under_way = 8;
constexpr std::int64_t staged_for_others = images_for_others + messages_under_way;

enum class TransferPath {
    nothing,   // no rank has bytes
    bypass,    // each rank reads or writes its own pieces: they are already large and aligned
    exchange,  // two-phase I/O through aggregators
};

enum class RoundKind {
    by_span,   // dense data: every window between the first and the last byte
    by_claims  // sparse data: only blocks in which some rank claims to have data
};

struct Plan {
    TransferPath path = TransferPath::nothing;
    RoundKind rounds = RoundKind::by_span;
    FileStripes layout;
    std::vector<Aggregator> aggregators;
    std::int32_t aggregators_on_a_node = 1;  // maximum over the nodes
    std::int32_t shares = 1;                 // aggregators that share each target
    std::int32_t shares_at_once = 1;         // how many of these write at the same time
    ExchangeOrder exchange = ExchangeOrder::overlapped;
    bool takes_turns = false;  // windows at a shared target start by turns (turns.hpp)
    DomainDivision domains = DomainDivision::by_stripes;
    std::int64_t window_bytes = 0;
    std::int32_t buffers = 0;
    std::int64_t block_bytes = 0;  // unit of claims, bytes
    std::int64_t granularity = 1;  // unit of coverage, bytes
    Extent span;
    std::int64_t bytes = 0;

    // Whether the ranks' bytes fill the span. Exact only if no two ranks give the same byte:
    // `bytes` counts such a byte twice.
    [[nodiscard]] bool gapless() const noexcept { return bytes >= span.length.bytes(); }
    [[nodiscard]] Domain domain(AggregatorId id) const;
    // The number of windows of aggregator `id` when rounds go by span; round r is its window number
    // r.
    [[nodiscard]] std::int64_t rounds_of(AggregatorId id) const;
    // The maximum of rounds_of() over all aggregators.
    [[nodiscard]] std::int64_t round_count() const;
};

// Chooses the aggregators from the layout, the nodes and the tuning only, not from a request, so
// that they can open the file before the first call needs it.
[[nodiscard]] std::vector<Aggregator> place_aggregators(const FileStripes& layout,
                                                        const NodeTopology& topology,
                                                        const Tuning& tuning);

// The aggregator that is local rank `local` of `node`; nullopt if that rank is no aggregator.
[[nodiscard]] std::optional<AggregatorId> aggregator_at(const std::vector<Aggregator>& aggregators,
                                                        NodeId node, LocalRank local) noexcept;
// Whether several aggregators serve a target.
[[nodiscard]] bool share_targets(const std::vector<Aggregator>& aggregators) noexcept;

// `layout` as plans take it: several targets without a stripe size get 1 MiB, and a stripe size
// below 4 KiB is raised.
[[nodiscard]] FileStripes completed(FileStripes layout) noexcept;

// Whether a call with the merged summary `all` needs no exchange. There are two cases. Every piece
// is large and, if the file has stripes, begins and ends at a stripe boundary. Or all ranks are on
// one node, the file has no stripes and each rank has one piece: then there is nothing to join, and
// no other node's kernel contends for the file. On one node, memory in tiny pieces prevents a
// bypass, because copying them to staging is faster than passing them to the kernel as iovecs. If
// the result is true for all ranks together, it is true for each rank alone.
[[nodiscard]] bool bypasses(const Summary& all, const FileStripes& layout,
                            const NodeTopology& topology, const Tuning& tuning,
                            IoDirection direction);

[[nodiscard]] Plan make_plan(const Summary& all, const FileStripes& layout,
                             const NodeTopology& topology, const Tuning& tuning,
                             IoDirection direction);

// The bytes that one aggregator stages in one round: ascending extents of the file. Byte i of the
// window's image in memory is the i-th byte of these extents laid end to end.
struct Window {
    std::vector<Extent> extents;
    std::int64_t bytes = 0;

    [[nodiscard]] bool empty() const noexcept { return bytes == 0; }
    // From the begin of the first extent to the end of the last one.
    [[nodiscard]] Extent hull() const noexcept;
    void clear() noexcept;
    void add(const Extent& extent);
};

// Sets `out` to window number `round` of aggregator `id`, for rounds by span.
void window_by_span(const Plan& plan, AggregatorId id, std::int64_t round, Window& out);

}  // namespace forebay::plan
