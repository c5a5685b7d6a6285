// Tests the reference counts of open file descriptions.
#include "pool/capture/descriptors/descriptors.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace forebay::capture {
namespace {

using Dropped = DescriptorTable::Dropped;

TEST(DescriptorTable, ADescriptionIsFreeWhenTheLastHoldIsDropped) {
    const auto table = std::make_unique<DescriptorTable>();
    FileDescription* const one = table->make();
    ASSERT_NE(one, nullptr);
    DescriptorTable::hold(*one);
    EXPECT_EQ(DescriptorTable::drop(*one), Dropped::held);
    EXPECT_EQ(DescriptorTable::drop(*one), Dropped::free);
    EXPECT_EQ(table->make(), one) << "it can be used again";
}

TEST(DescriptorTable, ADescriptionThatWasDroppedTooOftenIsNotGivenToAnotherFile) {
    const auto table = std::make_unique<DescriptorTable>();
    FileDescription* const one = table->make();
    ASSERT_NE(one, nullptr);
    EXPECT_EQ(DescriptorTable::drop(*one), Dropped::free);
    EXPECT_EQ(DescriptorTable::drop(*one), Dropped::miscounted);
    EXPECT_NE(table->make(), one);
    DescriptorTable::hold(*one);
    EXPECT_EQ(DescriptorTable::drop(*one), Dropped::held) << "who still uses it goes on";
}

TEST(DescriptorsDeathTest, ADescriptionThatNobodyHoldsIsNotShared) {
    const auto table = std::make_unique<DescriptorTable>();
    FileDescription* const one = table->make();
    ASSERT_NE(one, nullptr);
    EXPECT_EQ(DescriptorTable::drop(*one), Dropped::free);
    EXPECT_DEATH(DescriptorTable::hold(*one), "precondition broken: .* may become another file's");
}

}  // namespace
}  // namespace forebay::capture
