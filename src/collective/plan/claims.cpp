// Claims are made by look-ups in the view, so that the cost does not grow with the number of
// pieces, and merged run by run.
#include "collective/plan/claims.hpp"

#include <algorithm>
#include <limits>

namespace forebay::plan {

std::int64_t BlockClaims::blocks() const noexcept {
    std::int64_t sum = 0;
    for (std::int32_t i = 0; i < count; ++i) {
        sum += runs[static_cast<std::size_t>(i)].blocks;
    }
    return sum;
}

bool BlockClaims::add(std::int64_t block) noexcept {
    if (count > 0) {
        Run& last = runs[static_cast<std::size_t>(count - 1)];
        if (last.first + last.blocks == block) {
            ++last.blocks;
            return true;
        }
    }
    if (count == runs_max) {
        return false;
    }
    runs[static_cast<std::size_t>(count++)] = Run{block, 1};
    return true;
}

BlockClaims claim(const pattern::View& view, const pattern::ViewRange& request,
                  const BlocksFrom& blocks, std::int64_t blocks_max) {
    BlockClaims claims;
    const std::int64_t end_position = request.position + request.length;
    std::int64_t block = blocks.from;
    for (std::int64_t taken = 0; taken < blocks_max; ++taken) {
        const Offset begin{checked_multiply(block, blocks.block_bytes)};
        const std::int64_t position = std::max(view.bytes_below(begin), request.position);
        if (position >= end_position) {
            return claims;
        }
        const std::int64_t next = view.offset_of(position).bytes() / blocks.block_bytes;
        if (!claims.add(next)) {
            claims.horizon = next;
            return claims;
        }
        block = next + 1;
    }
    claims.horizon = block;
    return claims;
}

namespace {

// The lowest block at or above `from` in any of the claims; no_horizon if there is none.
std::int64_t next_claimed(std::span<const BlockClaims> claims, std::int64_t from) noexcept {
    std::int64_t lowest = BlockClaims::no_horizon;
    for (const BlockClaims& one : claims) {
        for (std::int32_t i = 0; i < one.count; ++i) {
            const BlockClaims::Run& run = one.runs[static_cast<std::size_t>(i)];
            if (run.first + run.blocks > from) {
                lowest = std::min(lowest, std::max(run.first, from));
                break;
            }
        }
    }
    return lowest;
}

}  // namespace

BlockClaims merge(std::span<const BlockClaims> claims, std::int64_t blocks_max) {
    std::int64_t horizon = BlockClaims::no_horizon;
    for (const BlockClaims& one : claims) {
        horizon = std::min(horizon, one.horizon);
    }
    BlockClaims merged;
    merged.horizon = horizon;
    std::int64_t block = next_claimed(claims, std::numeric_limits<std::int64_t>::min() / 2);
    for (std::int64_t taken = 0; block < horizon; ++taken) {
        if (taken == blocks_max || !merged.add(block)) {
            merged.horizon = block;
            break;
        }
        block = next_claimed(claims, block + 1);
    }
    return merged;
}

void window_by_claims(const Plan& plan, AggregatorId id, const BlockClaims& claims, Window& out) {
    out.clear();
    const Domain domain = plan.domain(id);
    for (std::int32_t i = 0; i < claims.count; ++i) {
        const BlockClaims::Run& run = claims.runs[static_cast<std::size_t>(i)];
        const Extent blocks{Offset{checked_multiply(run.first, plan.block_bytes)},
                            Length{checked_multiply(run.blocks, plan.block_bytes)}};
        const Extent wanted = intersection(blocks, plan.span);
        std::int64_t at = domain.linear_at(wanted.begin);
        const std::int64_t last = domain.linear_at(wanted.end());
        while (at < last) {
            const std::int64_t length = std::min(last - at, domain.contiguous_from(at));
            out.add(Extent{domain.offset_at(at), Length{length}});
            at += length;
        }
    }
}

}  // namespace forebay::plan
