// Tests the counting of those who hold a description.
#include "pool/capture/descriptors/descriptors.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace forebay::capture {
namespace {

using Dropped = Descriptors::Dropped;

TEST(Descriptors, ADescriptionIsFreeWhenTheLastHoldIsDropped) {
    const auto table = std::make_unique<Descriptors>();
    Description* const one = table->make();
    ASSERT_NE(one, nullptr);
    Descriptors::hold(*one);
    EXPECT_EQ(Descriptors::drop(*one), Dropped::held);
    EXPECT_EQ(Descriptors::drop(*one), Dropped::free);
    EXPECT_EQ(table->make(), one) << "it can be used again";
}

TEST(Descriptors, ADescriptionThatWasDroppedTooOftenIsNotGivenToAnotherFile) {
    const auto table = std::make_unique<Descriptors>();
    Description* const one = table->make();
    ASSERT_NE(one, nullptr);
    EXPECT_EQ(Descriptors::drop(*one), Dropped::free);
    EXPECT_EQ(Descriptors::drop(*one), Dropped::miscounted);
    EXPECT_NE(table->make(), one);
    Descriptors::hold(*one);
    EXPECT_EQ(Descriptors::drop(*one), Dropped::held) << "who still uses it goes on";
}

TEST(DescriptorsDeathTest, ADescriptionThatNobodyHoldsIsNotShared) {
    const auto table = std::make_unique<Descriptors>();
    Description* const one = table->make();
    ASSERT_NE(one, nullptr);
    EXPECT_EQ(Descriptors::drop(*one), Dropped::free);
    EXPECT_DEATH(Descriptors::hold(*one), "precondition broken: .* may become another file's");
}

}  // namespace
}  // namespace forebay::capture
