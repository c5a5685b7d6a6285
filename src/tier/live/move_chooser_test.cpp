// Tests that the next file to be moved is found by a look at those that have changed, by counting.
#include "tier/live/move_chooser.hpp"

#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace forebay::tier {
namespace {

constexpr std::uint64_t many = 20'000;
constexpr std::int64_t now_ns = 1'000'000'000'000;
const MoveSituation calm{.now_ns = now_ns};

ListedReplica row(std::uint64_t inode, ReplicaState state) {
    return {.name = {1, inode}, .state = state, .bytes = 10, .path = "/s/" + std::to_string(inode)};
}

// Files that have waited the longer, the lower their number is.
class MoveChooserTest : public testing::Test {
protected:
    void wait_from(std::uint64_t first, std::uint64_t end) {
        for (std::uint64_t i = first; i < end; ++i) {
            ASSERT_TRUE(list_.put(row(i, ReplicaState::dirty)));
        }
    }
    [[nodiscard]] std::optional<std::uint64_t> next(const MoveSituation& situation = calm) {
        const auto name = chooser_.take_next(list_, situation, [this](const ReplicaName& one) {
            ++looks_;
            const auto listed = list_.find(one);
            const bool waits = listed && *listed && is_dirty((*listed)->state);
            if (busy_.contains(one.inode)) {
                return WaitingFile{.is_busy = true};
            }
            return waits ? WaitingFile{.candidate = candidate(one.inode)} : WaitingFile{};
        });
        return name ? std::optional{name->inode} : std::nullopt;
    }
    [[nodiscard]] MoveCandidate candidate(std::uint64_t inode) const {
        return {.bytes = 10,
                .dirtied_ns = static_cast<std::int64_t>(inode),
                .open = open_.contains(inode),
                .trigger = trigger_};
    }
    // Does with a file that it has got what the mover does.
    void move(std::uint64_t inode) {
        ASSERT_TRUE(list_.put(row(inode, ReplicaState::clean)));
        list_.mark_changed({1, inode});
    }

    MemoryReplicaList list_;
    MoveChooser chooser_;
    MoveTrigger trigger_ = MoveTrigger::at_close;
    std::set<std::uint64_t> busy_{};
    std::set<std::uint64_t> open_{};
    std::uint64_t looks_ = 0;
};

TEST_F(MoveChooserTest, MovingAllTakesTimeForEachOnceAndNotForThoseThatStillWait) {
    wait_from(0, many);
    for (std::uint64_t i = 0; i < many; ++i) {
        ASSERT_EQ(next(), i);
        move(i);
    }
    EXPECT_EQ(next(), std::nullopt);
    // Each when it waits, when it is chosen, and when it was moved.
    EXPECT_LE(looks_, 3 * many);
    EXPECT_LE(list_.looked_at(), 3 * many);
    EXPECT_LE(chooser_.queue().looked_at(), 3 * many);
}

TEST_F(MoveChooserTest, FilesThatWaitForAUserAreLookedAtOnce) {
    trigger_ = MoveTrigger::manual;
    wait_from(0, many);
    EXPECT_EQ(next(), std::nullopt);
    const std::uint64_t before = looks_;
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(next(), std::nullopt);
    }
    EXPECT_EQ(looks_, before);
    wait_from(many, many + 1);
    EXPECT_EQ(next(), std::nullopt);
    EXPECT_EQ(looks_, before + 1);
}

TEST_F(MoveChooserTest, AFileThatAnotherThreadHasIsLeftOutAndLookedAtAgain) {
    wait_from(0, 3);
    busy_ = {0, 1};
    EXPECT_EQ(next(), 2U);
    move(2);
    EXPECT_EQ(next(), std::nullopt);
    EXPECT_TRUE(chooser_.has_busy());
    busy_ = {};
    EXPECT_EQ(next(), 0U);
    EXPECT_FALSE(chooser_.has_busy());
}

TEST_F(MoveChooserTest, AFileThatWasOpenedWithoutAWordIsNotChosen) {
    wait_from(0, 3);
    EXPECT_EQ(next(), 0U);
    open_ = {1};
    EXPECT_EQ(next(), 2U);
    EXPECT_EQ(next(), std::nullopt);
    open_ = {};
    list_.mark_changed({1, 1});
    EXPECT_EQ(next(), 1U);
}

TEST_F(MoveChooserTest, AFileThatHasFailedIsChosenAgainWhenItIsMarked) {
    wait_from(0, 1);
    EXPECT_EQ(next(), 0U);
    EXPECT_EQ(next(), std::nullopt) << "it is being moved";
    list_.mark_changed({1, 0});
    EXPECT_EQ(next(), 0U);
}

TEST_F(MoveChooserTest, RemovedFilesAreForgotten) {
    trigger_ = MoveTrigger::manual;
    wait_from(0, 2);
    EXPECT_EQ(next(), std::nullopt);
    EXPECT_EQ(chooser_.queue().size(), 2U);
    ASSERT_TRUE(list_.remove({1, 0}));
    EXPECT_EQ(next(), std::nullopt);
    EXPECT_EQ(chooser_.queue().size(), 1U);
    trigger_ = MoveTrigger::at_job_end;
    list_.mark_all_changed();
    EXPECT_EQ(next({.now_ns = now_ns, .job_ends = true}), 1U);
}

}  // namespace
}  // namespace forebay::tier
