// Rounds that follow the data, not the span. Where data is sparse, each rank claims the next blocks
// of the file it has bytes in; the merged claims of all ranks are the next round, and blocks that
// nobody claims are never looked at.
#pragma once

#include "collective/plan/plan.hpp"
#include "foundation/pattern/view.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace forebay::plan {

// Runs of blocks, ascending. Complete up to `horizon`: a block below it that is not in a run is not
// claimed. Plain bytes: travels through shared memory and messages as it is.
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
    // Adds `block`, which is above all others; false when there is no room for it.
    bool add(std::int64_t block) noexcept;
};

// Which blocks are looked at: of so many bytes each, from number `from` on.
struct BlocksFrom {
    std::int64_t block_bytes = 0;
    std::int64_t from = 0;
};

// The next blocks, at most `blocks_max`, that the request has bytes in.
[[nodiscard]] BlockClaims claim(const pattern::View& view, const pattern::ViewRange& request,
                                const BlocksFrom& blocks, std::int64_t blocks_max);

// The claims of several, cut at the lowest horizon and at `blocks_max`.
[[nodiscard]] BlockClaims merge(std::span<const BlockClaims> claims, std::int64_t blocks_max);

// The part of the claimed blocks that is aggregator `id`'s. `out` is cleared first.
void window_by_claims(const Plan& plan, AggregatorId id, const BlockClaims& claims, Window& out);

}  // namespace forebay::plan
