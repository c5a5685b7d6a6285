// Segments in any order, used again or not, become one journal.
#include "pool/journal/chain.hpp"
#include "pool/journal/groups_check.hpp"

#include <gmock/gmock.h>
#include <map>

namespace forebay::pool::journal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::byte> segment(std::uint64_t epoch, std::uint64_t oldest, std::uint64_t first,
                               std::size_t groups = 1) {
    std::vector<std::vector<std::byte>> all;
    for (std::size_t i = 0; i < groups; ++i) {
        all.push_back(group_bytes(
            {.life = 1, .epoch = epoch, .oldest = oldest, .first = first + i, .time_ns = 5},
            {{Kind::cut, 1, 0, {}}}));
    }
    return segment_of(all);
}

Chain chain(const std::map<std::uint32_t, std::vector<std::byte>>& segments) {
    std::vector<SegmentBytes> all;
    for (const auto& [number, bytes] : segments) {
        all.push_back({number, bytes});
    }
    return chain_of(all);
}

TEST(JournalChain, OfNothingIsNothing) {
    const Chain none = chain({{0, std::vector<std::byte>(8192)}, {1, {}}});
    EXPECT_THAT(none.groups, IsEmpty());
    EXPECT_THAT(none.segments, IsEmpty());
    EXPECT_FALSE(none.damaged);
    EXPECT_EQ(none.next_record, 1U);
    EXPECT_EQ(none.next_epoch, 1U);
}

TEST(JournalChain, GoesByEpochs) {
    const Chain found =
        chain({{0, segment(3, 1, 21)}, {1, segment(1, 1, 10, 10)}, {2, segment(2, 1, 20)}});
    EXPECT_FALSE(found.damaged);
    EXPECT_THAT(found.segments, ElementsAre(1, 2, 0));
    EXPECT_EQ(found.groups.size(), 12U);
    EXPECT_EQ(found.next_record, 22U);
    EXPECT_EQ(found.next_epoch, 4U);
}

TEST(JournalChain, LeavesOutWhatIsNotNeeded) {
    const Chain found =
        chain({{0, segment(1, 1, 1)}, {1, segment(2, 1, 2)}, {2, segment(3, 2, 3)}});
    EXPECT_FALSE(found.damaged);
    EXPECT_THAT(found.segments, ElementsAre(1, 2));
}

// It was being used again when the node went down: its first group is there, others are not.
TEST(JournalChain, TakesHalfOfASegmentThatIsUsedAgainForNothing) {
    auto old = segment(1, 1, 1, 3);
    std::fill_n(old.begin(), 600, std::byte{3});
    const Chain found = chain({{0, old}, {1, segment(2, 2, 4)}});
    EXPECT_FALSE(found.damaged);
    EXPECT_THAT(found.segments, ElementsAre(1));
}

TEST(JournalChain, SaysWhatIsMissing) {
    EXPECT_TRUE(chain({{0, segment(1, 1, 1)}, {1, segment(3, 1, 3)}}).damaged) << "an epoch";
    EXPECT_TRUE(chain({{0, segment(2, 1, 2)}}).damaged) << "the oldest";
    EXPECT_TRUE(chain({{0, segment(1, 1, 1)}, {1, segment(2, 1, 5)}}).damaged) << "records";
    EXPECT_TRUE(chain({{0, segment(1, 1, 1)}, {1, segment(1, 1, 2)}}).damaged) << "twice one";
}

}  // namespace
}  // namespace forebay::pool::journal
