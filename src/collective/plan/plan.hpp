// The decisions about one collective call. Pure: the same summary, layout, topology and tuning give
// the same plan on every rank, so no message is needed.
#pragma once

#include "collective/plan/summary.hpp"
#include "foundation/base/units.hpp"
#include "storage/policy/domain.hpp"
#include "storage/policy/tuning.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace forebay::plan {

// Where ranks are. `locals[n]`: ranks on node n.
struct NodeTopology {
    std::vector<std::int32_t> locals{1};
    std::int32_t aggregators_per_node_max = 1;  // follows cores and network interfaces

    [[nodiscard]] std::int32_t nodes() const noexcept {
        return static_cast<std::int32_t>(locals.size());
    }
    bool operator==(const NodeTopology&) const noexcept = default;
};

// One writer (or reader) of a file, and the targets it serves: several alone, or one together with
// others. In the latter case the stripes of the target are dealt out to its aggregators in turns,
// and aggregator number i is share i / targets of target i mod targets.
struct Aggregator {
    NodeId node;
    LocalRank local;
    std::int32_t first_target = 0;
    std::int32_t targets = 1;
    std::int32_t on_node = 0;  // how many aggregators of this node come before it
    std::int32_t share = 0;    // which of the aggregators of its target

    bool operator==(const Aggregator&) const noexcept = default;
};

// With several nodes a node also stages parts of other nodes' windows and messages: this many
// things of a window's size.
constexpr std::int64_t images_for_others = 2;
constexpr std::int64_t messages_under_way = 8;
constexpr std::int64_t staged_for_others = images_for_others + messages_under_way;

enum class TransferPath {
    nothing,  // no rank has bytes
    bypass,   // each rank reads or writes its own pieces: they are already what a file system likes
    exchange,  // through aggregators
};

enum class RoundKind {
    by_span,   // dense data: every window between first and last byte
    by_claims  // sparse data: only blocks that ranks claim to have data in
};

struct Plan {
    TransferPath path = TransferPath::nothing;
    RoundKind rounds = RoundKind::by_span;
    FileStripes layout;
    std::vector<Aggregator> aggregators;
    std::int32_t aggregators_on_a_node = 1;  // the most on any node
    std::int32_t shares = 1;                 // aggregators of each target
    std::int32_t shares_at_once = 1;         // of them, how many write at the same time
    ExchangeOrder exchange = ExchangeOrder::overlapped;
    bool takes_turns =
        false;  // windows at a shared target start by turns (collective/plan/turns.hpp)
    DomainDivision domains = DomainDivision::by_stripes;
    std::int64_t window_bytes = 0;
    std::int32_t buffers = 0;
    std::int64_t block_bytes = 0;  // unit of claims
    std::int64_t granularity = 1;  // unit of coverage
    Extent span;
    std::int64_t bytes = 0;

    // Every byte of the span is given, if no two ranks give the same.
    [[nodiscard]] bool gapless() const noexcept { return bytes >= span.length.bytes(); }
    [[nodiscard]] Domain domain(AggregatorId id) const;
    // Windows of aggregator `id` when rounds go by span; round r is its window number r.
    [[nodiscard]] std::int64_t rounds_of(AggregatorId id) const;
    // The most rounds of any aggregator.
    [[nodiscard]] std::int64_t round_count() const;
};

// Chooses the aggregators: from the layout, the nodes and the tuning only, not from a request, so
// that the file can be opened before the first call needs it.
[[nodiscard]] std::vector<Aggregator> place_aggregators(const FileStripes& layout,
                                                        const NodeTopology& topology,
                                                        const Tuning& tuning);

// The aggregator that is rank `local` of `node`, if it is one.
[[nodiscard]] std::optional<AggregatorId> aggregator_at(const std::vector<Aggregator>& aggregators,
                                                        NodeId node, LocalRank local) noexcept;
// Whether several aggregators serve a target.
[[nodiscard]] bool share_targets(const std::vector<Aggregator>& aggregators) noexcept;

// As plans take it: with a stripe size where there are several targets, and none that is tiny.
[[nodiscard]] FileStripes completed(FileStripes layout) noexcept;

// Whether requests that sum up to `all` need no exchange: every piece is large and begins and ends
// with a stripe; or all ranks are on one node, whose kernel has nobody to share a file without
// stripes with, and each has one piece: there is nothing to join. On one node memory in tiny pieces
// is quicker copied to staging. True for all ranks together only if it is true for each one alone.
[[nodiscard]] bool bypasses(const Summary& all, const FileStripes& layout,
                            const NodeTopology& topology, const Tuning& tuning,
                            IoDirection direction);

[[nodiscard]] Plan make_plan(const Summary& all, const FileStripes& layout,
                             const NodeTopology& topology, const Tuning& tuning,
                             IoDirection direction);

// The bytes of one (aggregator, round): extents of the file, ascending; byte i of the image is the
// i-th byte of the extents laid end to end.
struct Window {
    std::vector<Extent> extents;
    std::int64_t bytes = 0;

    [[nodiscard]] bool empty() const noexcept { return bytes == 0; }
    [[nodiscard]] Extent hull() const noexcept;
    void clear() noexcept;
    void add(const Extent& extent);
};

// Window number `round` of aggregator `id`, by span. `out` is cleared first.
void window_by_span(const Plan& plan, AggregatorId id, std::int64_t round, Window& out);

// A person's view of a plan; golden tests compare it.
[[nodiscard]] std::string describe(const Plan& plan);

}  // namespace forebay::plan
