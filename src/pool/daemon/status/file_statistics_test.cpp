// Tests the statistics of files, during and after the time that the pool knows them.
#include "pool/daemon/status/file_statistics.hpp"

#include "pool/daemon/memory/shared_segment.hpp"

#include <gtest/gtest.h>
#include <string>

namespace forebay::daemon {
namespace {

class FileStatisticsTest : public testing::Test {
protected:
    FileStatisticsTest()
        : segment_{*SharedSegment::make("test", sizeof(pool::Directory), SegmentWriters::daemon)},
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

    // Forgets the file as the pool does.
    static void forget(pool::FileSlot& file) {
        file.state = pool::FileState::free;
        ++file.generation;
    }

private:
    SharedSegment segment_;

protected:
    pool::Directory& directory;
};

TEST_F(FileStatisticsTest, AddsUpTheTimesThatAFileWasKnown) {
    FileStatistics statistics{directory};
    for (std::uint32_t generation = 0; generation <= 2; ++generation) {
        statistics.update();
        pool::FileSlot& file = known(7, generation, "/a");
        const auto meter = statistics.meter_of({1, 2});
        statistics.opened(7, {1, 2}, meter);
        meter->busy_ns += 5;
        file.taken = 100;
        file.drained = 100;
        forget(file);
    }
    statistics.update();
    EXPECT_TRUE(statistics.slots().empty());
    const auto totals = statistics.all_totals(0);
    ASSERT_EQ(totals.size(), 1U);
    EXPECT_EQ(totals[0].path, "/a");
    EXPECT_EQ(totals[0].taken, 300);
    EXPECT_EQ(totals[0].storage_ns, 15);
    EXPECT_EQ(totals[0].times, 3);
    EXPECT_EQ(totals[0].state, pool::FileState::free);
}

TEST_F(FileStatisticsTest, CountsAreTheSumsOverFilesThatAreKnownAndThatWere) {
    FileStatistics statistics{directory};
    pool::FileSlot& before = known(3, 0, "/before");
    const auto first = statistics.meter_of({1, 2});
    statistics.opened(3, {1, 2}, first);
    first->bytes = 100;
    statistics.waited(3, 10, WaitKind::open);
    before.taken = 100;
    before.drained = 100;
    statistics.update();
    forget(before);
    statistics.update();
    pool::FileSlot& now = known(4, 0, "/now");
    const auto second = statistics.meter_of({1, 3});
    statistics.opened(4, {1, 3}, second);
    now.taken = 50;
    now.drained = 20;
    second->bytes = 30;
    statistics.update();
    EXPECT_EQ(statistics.counts(),
              (SampledCounts{.taken = 150, .stored = 130, .outstanding = 30, .waited_ns = 10}));
}

TEST_F(FileStatisticsTest, TellsWaitsForOpensSyncsAndDrainingApartOverAllTimes) {
    FileStatistics statistics{directory};
    for (std::uint32_t generation = 0; generation <= 1; ++generation) {
        statistics.update();
        pool::FileSlot& file = known(7, generation, "/a");
        statistics.opened(7, {1, 2}, statistics.meter_of({1, 2}));
        statistics.waited(7, 10, WaitKind::open);
        statistics.waited(7, 100, WaitKind::sync);
        statistics.waited(7, 100, WaitKind::sync);
        statistics.waited(7, 1000, WaitKind::drain);
        forget(file);
    }
    statistics.update();
    const auto totals = statistics.all_totals(0);
    ASSERT_EQ(totals.size(), 1U);
    EXPECT_EQ(totals[0].opening_ns, 20);
    EXPECT_EQ(totals[0].syncing_ns, 400);
    EXPECT_EQ(totals[0].draining_ns, 2000);
    EXPECT_EQ(totals[0].syncs, 4);
    EXPECT_EQ(totals[0].waited_ns, 2420);
}

TEST_F(FileStatisticsTest, CountsWaitsOfAllFilesAlsoWhenTheirTotalsAreDropped) {
    FileStatistics statistics{directory};
    const std::int64_t files = FileStatistics::closed_files_max + 1;
    for (std::int64_t file = 0; file < files; ++file) {
        const auto generation = static_cast<std::uint32_t>(file);
        pool::FileSlot& slot = known(7, generation, "/" + std::to_string(file));
        statistics.opened(7, {1, 2}, statistics.meter_of({1, 2}));
        statistics.waited(7, 300'000, WaitKind::sync);
        forget(slot);
        statistics.update();
    }
    ASSERT_EQ(statistics.dropped(), 1);
    EXPECT_EQ(statistics.waits().of(WaitKind::sync).counts.at(2), files);
    EXPECT_EQ(statistics.waits().of(WaitKind::sync).total_ns, files * 300'000);
    EXPECT_EQ(statistics.waits().of(WaitKind::open), WaitHistogram{});
}

TEST_F(FileStatisticsTest, ASlotThatIsAnotherFilesEndsTheTotalsOfTheFirst) {
    FileStatistics statistics{directory};
    known(0, 1, "/a").taken = 10;
    statistics.opened(0, {1, 1}, statistics.meter_of({1, 1}));
    known(0, 2, "/b").taken = 20;
    statistics.update();
    statistics.opened(0, {1, 2}, statistics.meter_of({1, 2}));
    const auto totals = statistics.all_totals(0);
    ASSERT_EQ(totals.size(), 2U);
    EXPECT_EQ(totals[0].taken, 10);
    EXPECT_EQ(totals[0].outstanding(), 0) << "what is forgotten was drained";
    EXPECT_EQ(totals[1].path, "/b");
    EXPECT_EQ(totals[1].outstanding(), 20);
}

TEST_F(FileStatisticsTest, AFileThatIsOpenedAgainKeepsItsMeter) {
    FileStatistics statistics{directory};
    known(3, 1, "/a");
    const auto meter = statistics.meter_of({1, 1});
    statistics.opened(3, {1, 1}, meter);
    EXPECT_EQ(statistics.meter_of({1, 1}), meter);
    EXPECT_NE(statistics.meter_of({1, 2}), meter);
}

TEST_F(FileStatisticsTest, RemembersWhyAFileLeftAndWhatWentWrong) {
    FileStatistics statistics{directory};
    pool::FileSlot& file = known(3, 1, "/a");
    statistics.opened(3, {1, 1}, statistics.meter_of({1, 1}));
    file.reason = pool::ThroughReason::mapped;
    file.error = ENOSPC;
    statistics.update();
    forget(file);
    statistics.update();
    const auto totals = statistics.all_totals(0);
    ASSERT_EQ(totals.size(), 1U);
    EXPECT_EQ(totals[0].reason, pool::ThroughReason::mapped);
    EXPECT_EQ(totals[0].error, ENOSPC);
}

// Regression: a disk was full, but the report said only that a byte had been appended later.
TEST_F(FileStatisticsTest, ALaterReasonDoesNotHideTheFirst) {
    using enum pool::ThroughReason;
    const auto told = [this](std::initializer_list<pool::ThroughReason> reasons) {
        FileStatistics statistics{directory};
        std::uint32_t generation = 0;
        for (const pool::ThroughReason reason : reasons) {
            pool::FileSlot& file = known(3, ++generation, "/a");
            file.reason = none;
            statistics.opened(3, {1, 1}, statistics.meter_of({1, 1}));
            file.reason = reason;
            statistics.update();
            forget(file);
            statistics.update();
        }
        return statistics.all_totals(0).at(0).reason;
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
