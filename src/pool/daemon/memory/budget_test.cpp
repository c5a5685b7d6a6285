#include "pool/daemon/memory/budget.hpp"

#include <gtest/gtest.h>

namespace forebay::daemon {
namespace {

TEST(DescriptorBudget, FilesLeaveAPartOfTheDescriptorsToProcessesThatCome) {
    const DescriptorBudget budget{1024};
    EXPECT_FALSE(budget.is_short(767));
    EXPECT_TRUE(budget.is_short(768));
    EXPECT_FALSE(budget.is_spent(895));
    EXPECT_TRUE(budget.is_spent(896));
}

TEST(DescriptorBudget, WhereThereAreHardlyAnyFilesGetNone) {
    const DescriptorBudget budget{60};
    EXPECT_TRUE(budget.is_spent(0));
}

TEST(DescriptorBudget, TheLastPartIsForProcessesThatDoWithoutThePool) {
    using Means = DescriptorBudget::Means;
    EXPECT_EQ(DescriptorBudget::means_of_one_more(959, 1024), Means::log);
    EXPECT_EQ(DescriptorBudget::means_of_one_more(960, 1024), Means::socket);
    EXPECT_EQ(DescriptorBudget::means_of_one_more(1007, 1024), Means::socket);
    EXPECT_EQ(DescriptorBudget::means_of_one_more(1008, 1024), Means::none);
    EXPECT_EQ(DescriptorBudget::means_of_one_more(97, 128), Means::log);
    EXPECT_EQ(DescriptorBudget::means_of_one_more(98, 128), Means::socket);
    EXPECT_EQ(DescriptorBudget::means_of_one_more(), Means::log) << "of this process";
}

}  // namespace
}  // namespace forebay::daemon
