// Tests the statistics of files, during and after the time that the pool knows them.
#include "pool/daemon/status/file_statistics.hpp"

#include "pool/daemon/memory/shared_segment.hpp"

#include <gtest/gtest.h>

namespace forebay::daemon {
namespace {

class HistoryTest : public testing::Test {
protected:
    HistoryTest()
        : segment_{*SharedSegment::make("test", sizeof(pool::Directory), Writers::daemon)},
          directory{*reinterpret_cast<pool::Directory*>(segment_.base())} {}

    pool::FileSlot& known(std::uint32_t slot, std::uint32_t generation, const std::string& path) {
        pool::FileSlot& file = directory.files[slot];
        file.generation = generation;
        file.state = pool::FileState::pooled;
        file.taken = 0;
        file.drained = 0;
        file.path = {};
        path.copy(file.path.data(), file.path.size() - 1);
        return file;
    }

    // As the pool does it.
    static void forget(pool::FileSlot& file) {
        file.state = pool::FileState::free;
        ++file.generation;
    }

private:
    SharedSegment segment_;

protected:
    pool::Directory& directory;
};

TEST_F(HistoryTest, AddsUpTheTimesThatAFileWasKnown) {
    FileStatistics history{directory};
    for (std::uint32_t generation = 0; generation <= 2; ++generation) {
        history.look();
        pool::FileSlot& file = known(7, generation, "/a");
        const auto meter = history.meter_of({1, 2});
        history.opened(7, {1, 2}, meter);
        meter->busy_ns += 5;
        file.taken = 100;
        file.drained = 100;
        forget(file);
    }
    history.look();
    EXPECT_TRUE(history.slots().empty());
    const auto replay_plans = history.replay_plans(0);
    ASSERT_EQ(replay_plans.size(), 1U);
    EXPECT_EQ(replay_plans[0].path, "/a");
    EXPECT_EQ(replay_plans[0].taken, 300);
    EXPECT_EQ(replay_plans[0].storage_ns, 15);
    EXPECT_EQ(replay_plans[0].times, 3);
    EXPECT_EQ(replay_plans[0].state, pool::FileState::free);
}

TEST_F(HistoryTest, ASlotThatIsAnotherFilesEndsTheStoryOfTheFirst) {
    FileStatistics history{directory};
    known(0, 1, "/a").taken = 10;
    history.opened(0, {1, 1}, history.meter_of({1, 1}));
    known(0, 2, "/b").taken = 20;
    history.look();
    history.opened(0, {1, 2}, history.meter_of({1, 2}));
    const auto replay_plans = history.replay_plans(0);
    ASSERT_EQ(replay_plans.size(), 2U);
    EXPECT_EQ(replay_plans[0].taken, 10);
    EXPECT_EQ(replay_plans[0].outstanding(), 0) << "what is forgotten was drained";
    EXPECT_EQ(replay_plans[1].path, "/b");
    EXPECT_EQ(replay_plans[1].outstanding(), 20);
}

TEST_F(HistoryTest, AFileThatIsOpenedAgainKeepsItsMeter) {
    FileStatistics history{directory};
    known(3, 1, "/a");
    const auto meter = history.meter_of({1, 1});
    history.opened(3, {1, 1}, meter);
    EXPECT_EQ(history.meter_of({1, 1}), meter);
    EXPECT_NE(history.meter_of({1, 2}), meter);
}

TEST_F(HistoryTest, RemembersWhyAFileLeftAndWhatWentWrong) {
    FileStatistics history{directory};
    pool::FileSlot& file = known(3, 1, "/a");
    history.opened(3, {1, 1}, history.meter_of({1, 1}));
    file.reason = pool::Reason::mapped;
    file.error = ENOSPC;
    history.look();
    forget(file);
    history.look();
    const auto replay_plans = history.replay_plans(0);
    ASSERT_EQ(replay_plans.size(), 1U);
    EXPECT_EQ(replay_plans[0].reason, pool::Reason::mapped);
    EXPECT_EQ(replay_plans[0].error, ENOSPC);
}

// A disk was full, but the report only said that a byte had been appended later.
TEST_F(HistoryTest, ALaterReasonDoesNotHideTheFirst) {
    using enum pool::Reason;
    const auto told = [this](std::initializer_list<pool::Reason> reasons) {
        FileStatistics history{directory};
        std::uint32_t generation = 0;
        for (const pool::Reason reason : reasons) {
            pool::FileSlot& file = known(3, ++generation, "/a");
            file.reason = none;
            history.opened(3, {1, 1}, history.meter_of({1, 1}));
            file.reason = reason;
            history.look();
            forget(file);
            history.look();
        }
        return history.replay_plans(0).at(0).reason;
    };
    EXPECT_EQ(told({no_room, append}), no_room);
    EXPECT_EQ(told({none, no_room, none, append, none}), no_room);
    EXPECT_EQ(told({none, closing}), closing);
    EXPECT_EQ(told({closing, mapped}), mapped) << "that the pool ends is no reason of the file";
    EXPECT_EQ(told({switched, mapped}), mapped) << "what can be undone hides what cannot";
    EXPECT_EQ(told({mapped, switched}), mapped);
}

}  // namespace
}  // namespace forebay::daemon
