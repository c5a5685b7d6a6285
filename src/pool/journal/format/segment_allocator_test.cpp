// Tests which records are still needed, and which segment comes next.
#include "pool/journal/format/segment_allocator.hpp"

#include <gmock/gmock.h>

namespace forebay::pool::journal {
namespace {

using testing::ElementsAre;

TEST(JournalNeeds, AFileUntilItIsSettledDurably) {
    RecordNeeds needs;
    EXPECT_EQ(needs.first(5), 5U);
    needs.recorded(1, 5);
    needs.recorded(2, 6);
    needs.recorded(1, 7);
    EXPECT_EQ(needs.first(8), 5U);
    needs.settled(1, 7, 8);
    EXPECT_EQ(needs.first(9), 5U) << "the mark may be lost";
    needs.durable(7);
    EXPECT_EQ(needs.first(9), 5U);
    needs.durable(8);
    EXPECT_TRUE(needs.nothing_of(1));
    EXPECT_EQ(needs.first(9), 6U);
}

TEST(JournalNeeds, TheRestOfAFileThatIsSettledInPart) {
    RecordNeeds needs;
    needs.recorded(1, 5);
    needs.recorded(1, 9);
    needs.settled(1, 6, 10);
    needs.durable(10);
    EXPECT_EQ(needs.first_of(1), 7U);
    needs.recorded(1, 11);
    needs.settled(1, 9, 12);
    needs.durable(12);
    EXPECT_EQ(needs.first_of(1), 10U) << "what came meanwhile is needed";
}

TEST(JournalSegments, AreFilledOneAfterTheOther) {
    SegmentAllocator segments{16384, 1};
    segments.add(4);
    segments.add(9);
    EXPECT_TRUE(segments.has_room(16384, 1));
    const GroupPlace first = segments.place(8192, 1);
    EXPECT_EQ(first.segment, 4U);
    EXPECT_EQ(first.at, 0);
    EXPECT_EQ(first.epoch, 1U);
    EXPECT_EQ(segments.place(8192, 2).at, 8192);
    EXPECT_FALSE(segments.has_room(4096, 1)) << "the reserve";
    EXPECT_TRUE(segments.has_room(4096, 0));
    const GroupPlace next = segments.place(4096, 3);
    EXPECT_EQ(next.segment, 9U);
    EXPECT_EQ(next.epoch, 2U);
    EXPECT_EQ(next.oldest, 1U) << "everything is needed";
    EXPECT_FALSE(segments.has_room(16384, 0));
}

TEST(JournalSegments, AreUsedAgainWhenThatWasSaid) {
    SegmentAllocator segments{4096, 1};
    for (const std::uint32_t number : {0U, 1U, 2U, 3U}) {
        segments.add(number);
    }
    EXPECT_EQ(segments.place(4096, 1).oldest, 1U);
    EXPECT_EQ(segments.place(4096, 2).oldest, 1U);
    EXPECT_FALSE(segments.lets_go());
    segments.need(2);
    EXPECT_TRUE(segments.lets_go());
    EXPECT_EQ(segments.free(), 2U) << "not yet";
    const GroupPlace says = segments.place(4096, 3);
    EXPECT_EQ(says.oldest, 2U);
    EXPECT_EQ(segments.free(), 1U);
    segments.said(says.oldest);
    EXPECT_EQ(segments.free(), 2U);
    EXPECT_THAT(segments.used(), ElementsAre(1, 2));
}

// Regression: the first of two segments was full and settled, but could not be freed, so that there
// was no room for ever.
TEST(JournalSegments, MoveOnWhereNothingOfTheLastIsNeeded) {
    SegmentAllocator segments{8192, 1};
    segments.add(0);
    segments.add(1);
    static_cast<void>(segments.place(4096, 1));
    static_cast<void>(segments.place(4096, 2));
    EXPECT_FALSE(segments.has_room(4096, SegmentAllocator::reserve));
    EXPECT_FALSE(segments.may_move_on(3)) << "they are needed";
    segments.need(3);
    ASSERT_TRUE(segments.may_move_on(3));
    segments.move_on(3);
    const GroupPlace says = segments.place(4096, 3);
    EXPECT_EQ(says.segment, 1U);
    EXPECT_EQ(says.oldest, 2U);
    segments.said(says.oldest);
    EXPECT_THAT(segments.used(), ElementsAre(1));
    EXPECT_TRUE(segments.has_room(4096, SegmentAllocator::reserve));
    EXPECT_FALSE(segments.may_move_on(4)) << "what came since is needed";
}

// Regression: marks had begun to use the reserve, and deposits filled it up; then no mark had room,
// and nothing could be freed any more.
TEST(JournalSegments, LeaveTheReserveToMarksAlsoWhereItIsBegun) {
    SegmentAllocator segments{8192, 1};
    segments.add(0);
    segments.add(1);
    static_cast<void>(segments.place(8192, 1));
    const GroupPlace mark = segments.place(4096, 2);
    EXPECT_EQ(mark.segment, 1U);
    EXPECT_FALSE(segments.has_room(4096, SegmentAllocator::reserve));
    EXPECT_TRUE(segments.has_room(4096, 0));
    segments.need(2);
    const GroupPlace says = segments.place(4096, 3);
    EXPECT_EQ(says.oldest, 2U);
    segments.said(says.oldest);
    EXPECT_EQ(segments.free(), 1U);
}

TEST(JournalSegments, RunOutBeforeTheLastIsFull) {
    SegmentAllocator segments{16384, 1};
    segments.add(0);
    segments.add(1);
    EXPECT_FALSE(segments.runs_out()) << "nothing is written";
    static_cast<void>(segments.place(4096, 1));
    EXPECT_FALSE(segments.runs_out()) << "a quarter of it";
    static_cast<void>(segments.place(4096, 2));
    EXPECT_TRUE(segments.runs_out());
    segments.add(2);
    EXPECT_FALSE(segments.runs_out());
}

TEST(JournalSegments, HoldWhatAReplayNeeds) {
    SegmentAllocator segments{4096, 7};
    segments.add(0);
    segments.add(1);
    segments.hold(5);
    EXPECT_EQ(segments.place(4096, 100).oldest, 5U);
    segments.hold(0);
    segments.need(101);
    EXPECT_EQ(segments.place(4096, 101).oldest, 8U);
}

}  // namespace
}  // namespace forebay::pool::journal
