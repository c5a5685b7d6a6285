// Every element of an array is written once, by one writer, whatever the numbers are.
#include "output/plan/writer_domains.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace forebay::output {
namespace {

using Indices = std::vector<std::int64_t>;

RC_GTEST_PROP(WriterDomains, WindowsOfAllWritersAreTheArray, ()) {
    const auto elements = *rc::gen::inRange<std::int64_t>(1, 200);
    const auto writers = *rc::gen::inRange<std::int32_t>(1, 9);
    const auto window = *rc::gen::inRange<std::int64_t>(1, 50);
    const WriterDomains layout(elements, writers, *rc::gen::inRange<std::int64_t>(1, 60));
    RC_ASSERT(layout.writers() <= writers);
    std::int64_t at = 0;
    for (std::int32_t writer = 0; writer < layout.writers(); ++writer) {
        for (std::int64_t round = 0; round < layout.rounds(window); ++round) {
            const ElementRange part = layout.window(writer, round, window);
            RC_ASSERT(part.empty() || part.begin == at);
            RC_ASSERT(part.length() <= window);
            at += part.length();
        }
    }
    RC_ASSERT(at == elements);
    RC_ASSERT(layout.domain(layout.writers()).empty());
}

TEST(WriterDomains, ASmallArrayHasOneWriter) {
    EXPECT_EQ(WriterDomains(1000, 8).writers(), 1);
    EXPECT_EQ(WriterDomains(domain_elements_min * 8, 8).writers(), 8);
}

TEST(SpreadWriters, AreDifferentRanksEvenlySpread) {
    EXPECT_EQ(spread_writers(8, 2), (std::vector{Rank{0}, Rank{4}}));
    EXPECT_EQ(spread_writers(7, 3), (std::vector{Rank{0}, Rank{2}, Rank{4}}));
    EXPECT_EQ(spread_writers(3, 3), (std::vector{Rank{0}, Rank{1}, Rank{2}}));
}

RC_GTEST_PROP(BoxesOf, AreTheRangeInOrder, ()) {
    Indices shape;
    const auto dimensions = *rc::gen::inRange<std::size_t>(1, 5);
    std::int64_t elements = 1;
    for (std::size_t i = 0; i < dimensions; ++i) {
        shape.push_back(*rc::gen::inRange<std::int64_t>(1, 6));
        elements *= shape.back();
    }
    const auto begin = *rc::gen::inRange<std::int64_t>(0, elements + 1);
    const ElementRange range{begin, *rc::gen::inRange<std::int64_t>(begin, elements + 1)};
    const std::vector<ArrayBox> boxes = boxes_of(shape, range);
    RC_ASSERT(boxes.size() <= 2 * dimensions - 1);
    std::int64_t at = range.begin;
    for (const ArrayBox& box : boxes) {
        const Result<RankPatch> patch = RankPatch::box(shape, box);
        RC_ASSERT(patch.has_value());
        patch->each_run({0, elements}, [&](const ArrayRun& run) {
            RC_ASSERT(run.at == at);
            at += run.length;
        });
    }
    RC_ASSERT(at == range.end);
}

TEST(Overlapping, NamesTheFirstRankThatSharesElements) {
    const std::vector<ArrayBox> boxes{
        {{0, 0}, {2, 4}}, {{2, 0}, {2, 4}}, {{1, 3}, {2, 1}}, {{0, 0}, {0, 4}}};
    EXPECT_EQ(overlapping(boxes, Rank{0}), Rank{2});
    EXPECT_EQ(overlapping(boxes, Rank{2}), Rank{0});
    EXPECT_EQ(overlapping(boxes, Rank{3}), std::nullopt);
    EXPECT_EQ(overlapping(std::span(boxes).first(2), Rank{1}), std::nullopt);
}

TEST(SharedElement, IsFoundInTheRangeOnly) {
    const std::vector<RankPatch> patches{map_patch(20, Indices{1, 2, 3, 12})->patch,
                                         map_patch(20, Indices{4, 5, 12, 13})->patch,
                                         map_patch(20, Indices{0, 6})->patch};
    EXPECT_FALSE(shared_element(patches, {0, 12}));
    const std::optional<SharedElement> found = shared_element(patches, {10, 20});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->at, 12);
    EXPECT_EQ(found->first, Rank{0});
    EXPECT_EQ(found->second, Rank{1});
}

}  // namespace
}  // namespace forebay::output
