// Patches against a naive oracle: the list of the array's indices that a rank holds.
#include "output/plan/patch.hpp"

#include <gtest/gtest.h>
#include <numeric>
#include <rapidcheck/gtest.h>

namespace forebay::output {
namespace {

using Indices = std::vector<std::int64_t>;

// Indices of a box's elements, in order.
Indices listed(const Indices& shape, const ArrayBox& box) {
    Indices made;
    const std::int64_t all = *elements_of(shape);
    for (std::int64_t at = 0; at < all; ++at) {
        std::int64_t left = at;
        bool inside = true;
        for (std::size_t i = shape.size(); i-- > 0;) {
            const std::int64_t index = left % shape[i];
            inside = inside && index >= box.start[i] && index < box.start[i] + box.count[i];
            left /= shape[i];
        }
        if (inside) {
            made.push_back(at);
        }
    }
    return made;
}

// Indices of a patch's elements, as its runs say; the runs' packed indices follow each other.
Indices listed(const RankPatch& patch, const ElementRange& range) {
    Indices made;
    std::int64_t packed = patch.packed_in(range).begin;
    patch.each_run(range, [&](const ArrayRun& run) {
        RC_ASSERT(run.packed == packed);
        RC_ASSERT(run.length > 0);
        packed += run.length;
        for (std::int64_t i = 0; i < run.length; ++i) {
            made.push_back(run.at + i);
        }
    });
    RC_ASSERT(packed == patch.packed_in(range).end);
    return made;
}

Indices within(const Indices& all, const ElementRange& range) {
    Indices made;
    for (const std::int64_t at : all) {
        if (at >= range.begin && at < range.end) {
            made.push_back(at);
        }
    }
    return made;
}

ElementRange any_range(std::int64_t elements) {
    const auto begin = *rc::gen::inRange<std::int64_t>(0, elements + 1);
    return {begin, *rc::gen::inRange<std::int64_t>(begin, elements + 1)};
}

RC_GTEST_PROP(RankPatch, ABoxHasTheElementsOfTheNaiveList, ()) {
    const auto dimensions = *rc::gen::inRange<std::size_t>(1, 5);
    Indices shape;
    ArrayBox box;
    for (std::size_t i = 0; i < dimensions; ++i) {
        shape.push_back(*rc::gen::inRange<std::int64_t>(1, 6));
        box.start.push_back(*rc::gen::inRange<std::int64_t>(0, shape[i] + 1));
        box.count.push_back(*rc::gen::inRange<std::int64_t>(0, shape[i] - box.start[i] + 1));
    }
    const Result<RankPatch> patch = RankPatch::box(shape, box);
    RC_ASSERT(patch.has_value());
    const Indices expected = listed(shape, box);
    RC_ASSERT(patch->elements() == static_cast<std::int64_t>(expected.size()));
    const ElementRange range = any_range(*elements_of(shape));
    RC_ASSERT(listed(*patch, range) == within(expected, range));
}

RC_GTEST_PROP(RankPatch, AMapHasEachIndexThatItNames, ()) {
    const std::int64_t elements = 40;
    // Some of all indices, in any order, with elements between them that are left out.
    Indices all(elements);
    std::iota(all.begin(), all.end(), std::int64_t{0});
    Indices indices;
    for (const std::int64_t at : all) {
        if (*rc::gen::inRange(0, 3) > 0) {
            const auto place = *rc::gen::inRange<std::size_t>(0, indices.size() + 1);
            indices.insert(indices.begin() + static_cast<std::ptrdiff_t>(place), at);
        }
    }
    Indices expected = indices;
    std::ranges::sort(expected);
    indices.insert(indices.begin(), -1);
    const Result<MappedPatch> made = map_patch(elements, indices);
    RC_ASSERT(made.has_value());
    const ElementRange range = any_range(elements);
    RC_ASSERT(listed(made->patch, range) == within(expected, range));
    for (std::size_t i = 0; i < expected.size(); ++i) {
        RC_ASSERT(indices[static_cast<std::size_t>(made->order[i])] == expected[i]);
    }
}

TEST(RankPatch, JoinsDimensionsThatAreWhole) {
    const Result<RankPatch> patch = RankPatch::box(Indices{4, 3, 5}, {{1, 0, 0}, {2, 3, 5}});
    std::vector<ArrayRun> runs;
    patch->each_run({0, 60}, [&](const ArrayRun& run) { runs.push_back(run); });
    EXPECT_EQ(runs, (std::vector<ArrayRun>{{15, 0, 30}}));
}

TEST(RankPatch, OfSizeZeroHasNoRuns) {
    const Result<RankPatch> patch = RankPatch::box(Indices{4, 3}, {{4, 0}, {0, 3}});
    ASSERT_TRUE(patch.has_value());
    EXPECT_EQ(patch->elements(), 0);
    patch->each_run({0, 12}, [](const ArrayRun&) { ADD_FAILURE(); });
}

TEST(RankPatch, ThatDoesNotLieInItsGridIsRefused) {
    for (const ArrayBox& box :
         {ArrayBox{{0, 1}, {4, 3}}, ArrayBox{{-1, 0}, {1, 1}}, ArrayBox{{0, 0}, {-1, 1}},
          ArrayBox{{5, 0}, {0, 1}}, ArrayBox{{1, 0}, {INT64_MAX, 1}}}) {
        EXPECT_EQ(RankPatch::box(Indices{4, 3}, box).error().code, ErrorCode::argument);
    }
}

TEST(ElementsOf, RefusesShapesThatNoFileCanHave) {
    EXPECT_FALSE(elements_of(Indices{}));
    EXPECT_FALSE(elements_of(Indices{3, 0}));
    EXPECT_FALSE(elements_of(Indices(dimensions_max + 1, 1)));
    EXPECT_FALSE(elements_of(Indices{INT64_MAX, 3}));
    EXPECT_EQ(elements_of(Indices{7}), 7);
}

TEST(MapPatch, RefusesAnIndexThatIsThereTwiceOrTooLarge) {
    EXPECT_NE(map_patch(9, Indices{3, 1, 3}).error().message.find("index 3 twice"),
              std::string::npos);
    EXPECT_NE(map_patch(9, Indices{3, 9}).error().message.find("index 9"), std::string::npos);
    EXPECT_EQ(map_patch(9, Indices{-1, -1})->patch.elements(), 0);
}

}  // namespace
}  // namespace forebay::output
