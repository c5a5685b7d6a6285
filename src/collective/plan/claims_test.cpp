// Claims against a naive oracle: the set of blocks that hold bytes.
#include "collective/plan/claims.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <set>

namespace forebay::plan {
namespace {

constexpr std::int64_t block = 64;

pattern::View strided(std::int64_t displacement, std::int64_t piece, std::int64_t stride) {
    return *pattern::View::make(Offset{displacement}, pattern::Nest::run(piece), Length{stride},
                                Length{1});
}

std::set<std::int64_t> blocks_of(const pattern::View& view, const pattern::ViewRange& request) {
    std::set<std::int64_t> blocks;
    for (std::int64_t i = 0; i < request.length; ++i) {
        blocks.insert(view.offset_of(request.position + i).bytes() / block);
    }
    return blocks;
}

RC_GTEST_PROP(BlockClaims, MergedRoundsAreExactlyTheBlocksWithData, ()) {
    const auto ranks = *rc::gen::inRange<std::size_t>(1, 4);
    std::vector<pattern::View> views;
    std::vector<pattern::ViewRange> requests;
    std::set<std::int64_t> expected;
    for (std::size_t i = 0; i < ranks; ++i) {
        const auto piece = *rc::gen::inRange<std::int64_t>(1, 200);
        views.push_back(strided(*rc::gen::inRange<std::int64_t>(0, 5000), piece,
                                piece + *rc::gen::inRange<std::int64_t>(0, 3000)));
        requests.push_back(
            {*rc::gen::inRange<std::int64_t>(0, 300), *rc::gen::inRange<std::int64_t>(0, 3000)});
        expected.merge(blocks_of(views.back(), requests.back()));
    }
    const auto blocks_max = *rc::gen::inRange<std::int64_t>(1, 100);
    std::set<std::int64_t> seen;
    std::int64_t from = 0;
    while (true) {
        std::vector<BlockClaims> all;
        for (std::size_t i = 0; i < ranks; ++i) {
            all.push_back(claim(views[i], requests[i], {block, from}, blocks_max));
        }
        const BlockClaims round = merge(all, blocks_max);
        if (round.finished()) {
            break;
        }
        RC_ASSERT(round.blocks() <= blocks_max);
        RC_ASSERT(round.blocks() > 0);
        for (std::int32_t i = 0; i < round.count; ++i) {
            const BlockClaims::Run& run = round.runs[static_cast<std::size_t>(i)];
            for (std::int64_t b = run.first; b < run.first + run.blocks; ++b) {
                RC_ASSERT(seen.insert(b).second);
            }
        }
        if (round.horizon == BlockClaims::no_horizon) {
            break;
        }
        from = round.horizon;
    }
    RC_ASSERT(seen == expected);
}

}  // namespace
}  // namespace forebay::plan
