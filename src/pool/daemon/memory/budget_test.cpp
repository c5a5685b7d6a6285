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

}  // namespace
}  // namespace forebay::daemon
