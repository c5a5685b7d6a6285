// Segments in any order, used before or not, are read as one journal; and missing parts are
// noticed.
#include "pool/journal/format/segment_scan.hpp"
#include "pool/journal/format/groups_check.hpp"

#include <gmock/gmock.h>
#include <map>

namespace forebay::pool::journal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A journal as a daemon writes it, with one record in each group.
class Written {
public:
    // Adds a segment with this epoch and number of groups.
    Written& segment(std::uint32_t number, std::uint64_t epoch, std::size_t groups = 1) {
        std::vector<std::vector<std::byte>> all;
        std::uint64_t at = 0;
        head_.epoch = epoch;
        head_.segment = number;
        for (std::size_t i = 0; i < groups; ++i) {
            GroupHeader next{.number = last_.number + 1,
                             .before = last_.sum,
                             .life = 1,
                             .epoch = epoch,
                             .at = at,
                             .oldest = oldest_,
                             .first = last_.number + 1,
                             .time_ns = 5};
            all.push_back(group_bytes(next, {{RecordKind::cut, 1, 0, {}}}, a_key));
            at += all.back().size();
            last_ = next;
        }
        segments[number] = segment_of(all);
        return *this;
    }
    Written& needs_from(std::uint64_t epoch) {
        oldest_ = epoch;
        return *this;
    }
    // Writes a head that names the last group so far.
    Written& head() {
        ++head_.count;
        head_.group = last_.number;
        head_.last = last_.sum;
        head_.record = last_.number + 1;
        heads.resize(2 * head_unit);
        seal_head(head_, a_key, std::span{heads}.subspan(place_of(head_), head_unit));
        return *this;
    }
    Written& let_go() {
        head_.unneeded = last_.number;
        head_.segment = JournalHead::no_segment;
        return head().head();
    }
    [[nodiscard]] SegmentScan chain() const {
        std::vector<SegmentBytes> all;
        for (const auto& [number, bytes] : segments) {
            all.push_back({number, bytes});
        }
        return scan_segments(all, heads, a_key);
    }

    std::map<std::uint32_t, std::vector<std::byte>> segments;
    std::vector<std::byte> heads;

private:
    std::uint64_t oldest_ = 1;
    GroupHeader last_;
    JournalHead head_;
};

TEST(JournalChain, OfNothingIsNothing) {
    Written none;
    none.segments = {{0, std::vector<std::byte>(8192)}, {1, {}}};
    const SegmentScan chain = none.chain();
    EXPECT_THAT(chain.groups, IsEmpty());
    EXPECT_THAT(chain.segments, IsEmpty());
    EXPECT_EQ(chain.damage, DamageKind::none);
    EXPECT_EQ(chain.next_record, 1U);
    EXPECT_EQ(chain.next_epoch, 1U);
    EXPECT_EQ(chain.next_group, 1U);
}

TEST(JournalChain, GoesByNumbers) {
    const SegmentScan found =
        Written{}.segment(1, 1, 10).segment(2, 2).segment(0, 3).head().chain();
    EXPECT_EQ(found.damage, DamageKind::none);
    EXPECT_THAT(found.segments, ElementsAre(1, 2, 0));
    EXPECT_EQ(found.groups.size(), 12U);
    EXPECT_EQ(found.next_record, 13U);
    EXPECT_EQ(found.next_epoch, 4U);
    EXPECT_EQ(found.next_group, 13U);
}

TEST(JournalChain, LeavesOutWhatIsNotNeeded) {
    const SegmentScan found =
        Written{}.segment(0, 1).segment(1, 2).head().needs_from(2).segment(2, 3).chain();
    EXPECT_EQ(found.damage, DamageKind::none);
    EXPECT_THAT(found.segments, ElementsAre(1, 2));
}

// The segment was being used again when the node went down: its first group is new, the others are
// from the earlier use.
TEST(JournalChain, TakesHalfOfASegmentThatIsUsedAgainForNothing) {
    Written journal;
    journal.segment(0, 1, 3).needs_from(2).segment(1, 2).head();
    std::fill_n(journal.segments[0].begin(), 600, std::byte{3});
    const SegmentScan found = journal.chain();
    EXPECT_EQ(found.damage, DamageKind::none);
    EXPECT_THAT(found.segments, ElementsAre(1));
}

TEST(JournalChain, GoesOnBehindAGroupThatWasTorn) {
    Written journal;
    journal.segment(0, 1, 3).segment(1, 2, 0).head().segment(1, 2);
    journal.segments[1][200] ^= std::byte{1};
    const SegmentScan found = journal.chain();
    EXPECT_EQ(found.damage, DamageKind::none);
    EXPECT_TRUE(found.unfinished);
    EXPECT_EQ(found.next_epoch, 3U) << "the segment was begun";
    EXPECT_EQ(found.groups.size(), 3U);
}

// Regression: one wrong bit in this group, and everything after it was dropped silently.
TEST(JournalChain, MissesTheFirstGroupOfTheNewestSegment) {
    Written journal;
    journal.segment(0, 1, 3).segment(1, 2, 5);
    journal.head();
    journal.segments[1][100] ^= std::byte{1};
    EXPECT_EQ(journal.chain().damage, DamageKind::lost);
}

TEST(JournalChain, MissesTheNewestSegment) {
    Written journal;
    journal.segment(0, 1, 3).segment(1, 2, 5).head();
    journal.segments.erase(1);
    EXPECT_EQ(journal.chain().damage, DamageKind::lost);
    journal.segments[1] = std::vector<std::byte>(8192);
    EXPECT_EQ(journal.chain().damage, DamageKind::lost) << "it is empty";
}

// The head is written before the segment is, so it names the segment although it has no group.
TEST(JournalChain, MissesASegmentThatWasOnlyBegun) {
    Written journal;
    journal.segment(0, 1, 3).head();
    Written later = journal;
    later.segment(1, 2, 0).head();
    later.segments.erase(1);
    EXPECT_EQ(later.chain().damage, DamageKind::lost);
    later.segments[1] = std::vector<std::byte>(8192);
    EXPECT_EQ(later.chain().damage, DamageKind::none);
    EXPECT_FALSE(later.chain().unfinished);
}

TEST(JournalChain, MissesTheLastGroupThatTheHeadKnows) {
    Written journal;
    journal.segment(0, 1, 3).head();
    journal.segments[0][2 * group_unit + 200] ^= std::byte{1};
    EXPECT_EQ(journal.chain().damage, DamageKind::lost);
}

TEST(JournalChain, SaysWhatIsMissing) {
    Written all;
    all.segment(0, 1).segment(1, 2).segment(2, 3).head();
    for (const std::uint32_t number : {0U, 1U, 2U}) {
        Written journal = all;
        journal.segments.erase(number);
        EXPECT_EQ(journal.chain().damage, DamageKind::lost) << "segment " << number;
        journal.segments[number] = all.segments[(number + 1) % 3];
        EXPECT_NE(journal.chain().damage, DamageKind::none)
            << "segment " << number << " is another";
    }
    all.segments[7] = all.segments[1];
    EXPECT_EQ(all.chain().damage, DamageKind::twice);
}

TEST(JournalChain, TakesSegmentsUnderOthersNames) {
    Written journal;
    journal.segment(0, 1).segment(1, 2).head();
    std::swap(journal.segments[0], journal.segments[1]);
    EXPECT_EQ(journal.chain().damage, DamageKind::none);
    EXPECT_THAT(journal.chain().segments, ElementsAre(1, 0));
}

TEST(JournalChain, WithoutAHeadIsDamaged) {
    Written journal;
    journal.segment(0, 1, 2).head();
    journal.heads.clear();
    EXPECT_EQ(journal.chain().damage, DamageKind::head);
}

TEST(JournalChain, OfAnotherKeyIsDamaged) {
    Written journal;
    journal.segment(0, 1, 2).head();
    std::vector<SegmentBytes> all{{0, journal.segments[0]}};
    EXPECT_EQ(scan_segments(all, journal.heads, Key{}).damage, DamageKind::head);
}

TEST(JournalChain, HasTwoHeadsOfWhichOneMayBeTorn) {
    Written journal;
    journal.segment(0, 1, 2).head().head();
    for (std::size_t place : {std::size_t{0}, head_unit}) {
        Written torn = journal;
        torn.heads[place + 30] ^= std::byte{1};
        EXPECT_EQ(torn.chain().damage, DamageKind::none);
        EXPECT_TRUE(torn.chain().head_damaged);
        EXPECT_EQ(torn.chain().groups.size(), 2U);
    }
}

TEST(JournalChain, ThatWasLetGoNeedsNoSegments) {
    Written journal;
    journal.segment(0, 1, 2).let_go();
    for (int i = 0; i < 2; ++i) {
        const SegmentScan chain = journal.chain();
        EXPECT_EQ(chain.damage, DamageKind::none);
        EXPECT_THAT(chain.groups, IsEmpty());
        EXPECT_EQ(chain.next_group, 3U);
        EXPECT_EQ(chain.unneeded, 2U);
        journal.segments.clear();
    }
    journal.needs_from(2).segment(4, 2);
    EXPECT_EQ(journal.chain().groups.size(), 1U) << "it goes on behind that";
}

TEST(JournalChain, KnowsAnOlderFormat) {
    Written journal;
    journal.segments[0] = std::vector<std::byte>(8192);
    std::memcpy(journal.segments[0].data(), &magic_before, sizeof magic_before);
    EXPECT_EQ(journal.chain().damage, DamageKind::older_format);
}

}  // namespace
}  // namespace forebay::pool::journal
