// When the pools of several nodes are asked to drain a file. The pool here fails to, so that a test
// sees that it was asked.
#include "collective/mpi/node_pools.hpp"

#include "collective/mpi/scripted/file_context_check.hpp"
#include "collective/mpi/scripted/pool_calls_check.hpp"

#include <cerrno>
#include <gtest/gtest.h>
#include <optional>
#include <string>

namespace forebay::interposer::scripted {
namespace {

constexpr Extent first_bytes{Offset{0}, Length{10}};
constexpr Extent later_bytes{Offset{20}, Length{10}};

int fail_with_eio(dev_t /*device*/, ino_t /*inode*/) { return EIO; }

class FileInPools : public PartOfAFile {
protected:
    FileInPools() {
        facts_.pool = &calls_;
        facts_.identity = ports::FileIdentity{1, 2};
        facts_.pooled = facts_.covered = true;
        facts_.group = 7;
    }

    NodePools& open() { return pools_.emplace(open_context()); }
    void let_pools_fail() { calls_.settle = &fail_with_eio; }
    void let_pools_work() { calls_.settle = plain_calls.settle; }

    pool::PoolCalls calls_ = plain_calls;
    std::optional<NodePools> pools_;
};

TEST_F(FileInPools, NobodyIsAskedBeforeAnythingWasDeposited) {
    let_pools_fail();
    NodePools& pools = open();
    EXPECT_TRUE(pools.settle_alone(std::nullopt));
    EXPECT_TRUE(pools.settle_together());
}

TEST_F(FileInPools, ARankAsksForWhatItTouches) {
    let_pools_fail();
    NodePools& pools = open();
    pools.deposited(first_bytes);
    EXPECT_TRUE(pools.settle_alone(later_bytes));
    EXPECT_FALSE(pools.settle_alone(first_bytes));
    EXPECT_FALSE(pools.settle_alone(std::nullopt));
}

TEST_F(FileInPools, APoolThatFailsIsAskedAgainUntilItHasWrittenOut) {
    let_pools_fail();
    NodePools& pools = open();
    pools.deposited(first_bytes);
    const Result<void> failed = pools.settle_alone(first_bytes);
    ASSERT_FALSE(failed);
    EXPECT_NE(failed.error().message.find("have all nodes write out"), std::string::npos);
    let_pools_work();
    EXPECT_TRUE(pools.settle_alone(first_bytes));
    let_pools_fail();
    EXPECT_TRUE(pools.settle_alone(first_bytes)) << "it is in the file";
    EXPECT_FALSE(pools.settle_together()) << "other ranks may not know";
}

TEST_F(FileInPools, TogetherAllOfItIsWrittenOutOnce) {
    NodePools& pools = open();
    pools.deposited(first_bytes);
    EXPECT_TRUE(pools.settle_together());
    let_pools_fail();
    EXPECT_TRUE(pools.settle_together());
    EXPECT_TRUE(pools.settle_alone(std::nullopt));
    pools.deposited(later_bytes);
    EXPECT_FALSE(pools.settle_together());
    EXPECT_FALSE(pools.settle_alone(std::nullopt)) << "what failed is still to be done";
}

TEST_F(FileInPools, OneNodeHasNothingToSettle) {
    facts_.group = 0;
    let_pools_fail();
    NodePools& pools = open();
    EXPECT_FALSE(pools.several());
    pools.deposited(first_bytes);
    EXPECT_TRUE(pools.settle_alone(std::nullopt));
    EXPECT_TRUE(pools.settle_together());
}

TEST_F(FileInPools, AnEmptyWriteLeavesNothing) {
    let_pools_fail();
    NodePools& pools = open();
    pools.deposited({Offset{5}, Length{0}});
    EXPECT_TRUE(pools.settle_together());
}

TEST_F(FileInPools, DepositsThatCannotArriveAreAnError) {
    calls_.arrives = &fail_with_eio;
    EXPECT_FALSE(open().arrives());
}

TEST_F(FileInPools, AFileBesideThePoolHasNothingThatMustArrive) {
    calls_.arrives = &fail_with_eio;
    facts_.covered = false;
    EXPECT_TRUE(open().arrives());
}

TEST_F(FileInPools, WithoutAnEngineTheErrorOfAnyRankIsEverybodys) {
    NodePools& pools = open();
    EXPECT_FALSE(pools.agree(std::nullopt));
    script().others = {EIO};
    const std::optional<Error> agreed = pools.agree(std::nullopt);
    ASSERT_TRUE(agreed);
    EXPECT_EQ(agreed->system, EIO);
}

TEST_F(FileInPools, AFileInNoPoolKeepsItsErrorsToItself) {
    facts_.pooled = false;
    NodePools& pools = open();
    script().others = {EIO};
    script().log.clear();  // drops the calls that made the communicator
    EXPECT_FALSE(pools.agree(std::nullopt));
    EXPECT_EQ(script().calls("Allreduce"), 0);
}

}  // namespace
}  // namespace forebay::interposer::scripted
