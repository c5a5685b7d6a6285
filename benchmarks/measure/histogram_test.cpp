// Compares quantiles with those of sorted values.
#include "benchmarks/measure/histogram.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace forebay::measure {
namespace {

TEST(LatencyHistogram, buckets_are_in_order_without_gaps) {
    for (std::size_t bucket = 0; bucket + 1 < LatencyHistogram::buckets; ++bucket) {
        const std::uint64_t highest = LatencyHistogram::highest_of(bucket);
        ASSERT_EQ(LatencyHistogram::bucket_of(highest), bucket);
        ASSERT_EQ(LatencyHistogram::bucket_of(highest + 1), bucket + 1);
    }
    EXPECT_EQ(LatencyHistogram::bucket_of(LatencyHistogram::value_max),
              LatencyHistogram::buckets - 1);
}

TEST(LatencyHistogram, is_empty_at_first) {
    const LatencyHistogram empty;
    EXPECT_EQ(empty.total(), 0U);
    EXPECT_EQ(empty.quantile(0.5), 0);
    EXPECT_EQ(empty.min(), 0);
    EXPECT_EQ(empty.max(), 0);
}

TEST(LatencyHistogram, takes_what_is_out_of_range) {
    LatencyHistogram made;
    made.record(-5);
    made.record(std::int64_t{1} << 60);
    EXPECT_EQ(made.min(), 0);
    EXPECT_EQ(made.max(), static_cast<std::int64_t>(LatencyHistogram::value_max));
}

RC_GTEST_PROP(LatencyHistogram, quantiles_are_those_of_the_sorted_values, ()) {
    auto values = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::uint32_t>>(
        rc::gen::inRange<std::uint32_t>(0, 1U << 30U)));
    LatencyHistogram first;
    LatencyHistogram second;
    for (std::size_t i = 0; i < values.size(); ++i) {
        (i % 2 == 0 ? first : second).record(values[i]);
    }
    first.add(second);
    std::sort(values.begin(), values.end());
    for (const double fraction : {0.0, 0.5, 0.9, 0.99, 0.999, 1.0}) {
        const auto at = static_cast<std::size_t>(
            std::max(0.0, std::ceil(fraction * static_cast<double>(values.size())) - 1));
        const double exact = values[at];
        const auto found = static_cast<double>(first.quantile(fraction));
        RC_ASSERT(found >= exact);
        RC_ASSERT(found <= exact * (1.0 + 1.0 / 128) + 1);
    }
    RC_ASSERT(first.total() == values.size());
    const LatencyHistogram again = LatencyHistogram::merged(first.counts(), first.extremes());
    RC_ASSERT(again.quantile(0.9) == first.quantile(0.9));
    RC_ASSERT(again.max() == values.back());
}

}  // namespace
}  // namespace forebay::measure
