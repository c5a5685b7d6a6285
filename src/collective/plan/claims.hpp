// Claims: how rounds follow the data instead of the span. Where data is sparse, each rank claims
// the next blocks of the file in which it has bytes. The claims of all ranks are gathered and
// merged into the next round, so blocks that nobody claims are never visited.
#pragma once

#include "collective/plan/plan.hpp"
#include "foundation/pattern/view.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace forebay::plan {

// The claimed blocks as ascending runs. The list is complete below `horizon`: a block below it that
// is in no run is not claimed. Plain bytes: it travels through shared memory and messages as it is.
struct BlockClaims {
    static constexpr std::int32_t runs_max = 62;
    static constexpr std::int64_t no_horizon = std::int64_t{1} << 62;

    struct Run {
        std::int64_t first = 0;
        std::int64_t blocks = 0;
    };

    std::int64_t horizon = no_horizon;
    std::int32_t count = 0;
    std::array<Run, runs_max> runs{};

    [[nodiscard]] bool finished() const noexcept { return count == 0 && horizon == no_horizon; }
    [[nodiscard]] std::int64_t blocks() const noexcept;
    // Adds `block`, which must be above all others. Returns false if that would need one run more
    // than runs_max.
    bool add(std::int64_t block) noexcept;
};

// The blocks that a claim considers: blocks of `block_bytes` bytes, from block number `from` on.
struct BlocksFrom {
    std::int64_t block_bytes = 0;
    std::int64_t from = 0;
};

// One rank's claim: the next blocks, at most `blocks_max`, in which its request has bytes.
[[nodiscard]] BlockClaims claim(const pattern::View& view, const pattern::ViewRange& request,
                                const BlocksFrom& blocks, std::int64_t blocks_max);

// The claims of several ranks or nodes as one. The result ends at the lowest of their horizons, and
// has at most `blocks_max` blocks.
[[nodiscard]] BlockClaims merge(std::span<const BlockClaims> claims, std::int64_t blocks_max);

// Sets `out` to aggregator `id`'s part of the claimed blocks.
void window_by_claims(const Plan& plan, AggregatorId id, const BlockClaims& claims, Window& out);

}  // namespace forebay::plan
