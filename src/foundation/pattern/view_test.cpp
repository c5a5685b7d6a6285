// Compares views with a list of the offsets of the first bytes of their stream.
#include "foundation/pattern/view.hpp"

#include "foundation/pattern/oracle.hpp"
#include "foundation/pattern/oracle_gen.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace forebay::pattern {
namespace {

RC_GTEST_PROP(View, FindsEveryByte, ()) {
    const auto bytes = *oracle::arbitrary_bytes();
    oracle::Choices choices(bytes);
    const int depth = static_cast<int>(choices.below(6));
    const oracle::Sample type = oracle::sample(choices, depth, oracle::Order::ascending);
    RC_PRE(!type.bytes.empty());
    const std::int64_t extent = type.nest.high() - type.nest.low() + choices.below(30);
    const std::int64_t displacement =
        std::max<std::int64_t>(0, -type.nest.low()) + choices.below(100);
    const auto view = View::make(Offset{displacement}, type.nest, Length{extent}, Length{1});
    RC_ASSERT(view.has_value());
    std::vector<std::int64_t> offsets;
    for (std::int64_t tile = 0; tile < 3; ++tile) {
        oracle::place(type, displacement + tile * extent, offsets);
    }
    for (std::size_t i = 0; i < offsets.size(); ++i) {
        RC_ASSERT(view->offset_of(static_cast<std::int64_t>(i)).bytes() == offsets[i]);
    }
    std::int64_t below = 0;
    for (std::int64_t at = 0; at <= offsets.back(); ++at) {
        RC_ASSERT(view->bytes_below(Offset{at}) == below);
        RC_ASSERT(view->next_at(Offset{at}).bytes() == offsets[static_cast<std::size_t>(below)]);
        below += offsets[static_cast<std::size_t>(below)] == at ? 1 : 0;
    }
}

TEST(View, WithoutViewTheFileIsAsItIs) {
    const View view;
    EXPECT_TRUE(view.contiguous());
    EXPECT_EQ(view.offset_of(123), Offset{123});
    EXPECT_EQ(view.bytes_below(Offset{123}), 123);
    EXPECT_EQ(view.next_at(Offset{5}), Offset{5});
    EXPECT_EQ(view.granularity(ViewRange{4096, 8192}), 4096);
    EXPECT_EQ(view.granularity(ViewRange{3, 8192}), 1);
}

TEST(View, GranularityDividesEveryPiece) {
    const Nest type = Nest::repeat(Nest::run(16), 4, 64);
    const auto view = View::make(Offset{32}, type, Length{256}, Length{4});
    ASSERT_TRUE(view.has_value());
    EXPECT_EQ(view->granularity(), 16);
    EXPECT_EQ(view->granularity(ViewRange{16, 32}), 16);
    EXPECT_EQ(view->granularity(ViewRange{4, 32}), 4);  // the etype lets a request cut pieces
    EXPECT_EQ(view->granularity(ViewRange{0, 0}), 16);
}

TEST(View, RefusesWhatDoesNotAscend) {
    const auto refused = [](std::int64_t displacement, const Nest& type, std::int64_t extent) {
        const auto view = View::make(Offset{displacement}, type, Length{extent}, Length{1});
        return !view.has_value() && view.error().code == ErrorCode::unsupported;
    };
    EXPECT_TRUE(refused(0, Nest{}, 8));
    EXPECT_TRUE(refused(-1, Nest::run(4), 8));
    EXPECT_TRUE(refused(3, Nest::shifted(Nest::run(4), -4), 8));
    EXPECT_TRUE(refused(0, Nest::repeat(Nest::run(4), 2, -8), 100));
    EXPECT_TRUE(refused(0, Nest::repeat(Nest::run(4), 2, 3), 100));
    EXPECT_TRUE(refused(0, Nest::run(4), 3));
    EXPECT_TRUE(refused(0, Nest::repeat(Nest::run(4), 2, 100), 50));
    EXPECT_FALSE(refused(4, Nest::shifted(Nest::run(4), -4), 8));
}

}  // namespace
}  // namespace forebay::pattern
