// A group is there as a whole, or not at all.
#include "pool/journal/groups_check.hpp"

#include <gtest/gtest.h>

namespace forebay::pool::journal {
namespace {

const GroupHeader header{.life = 7, .epoch = 3, .oldest = 2, .first = 10, .time_ns = 1'000};

std::vector<std::byte> some_group() {
    return group_bytes(
        header,
        {{Kind::deposit, 4, 100, "some bytes"}, {Kind::cut, 4, 50, {}}, settled(4, 9, {1, 2, 3})});
}

TEST(JournalGroup, ComesBackAsItWasMade) {
    const auto bytes = some_group();
    EXPECT_EQ(bytes.size() % group_unit, 0U);
    const auto group = group_of(bytes);
    ASSERT_TRUE(group);
    EXPECT_EQ(group->header.epoch, 3U);
    EXPECT_EQ(group->header.oldest, 2U);
    ASSERT_EQ(group->records.size(), 3U);
    EXPECT_EQ(group->records[0].at, 10U);
    EXPECT_EQ(group->records[0].header.number, 100);
    EXPECT_EQ(bytes_of(group->records[0].payload.data(), group->records[0].payload.size()),
              "some bytes");
    EXPECT_EQ(group->records[2].at, 12U);
    EXPECT_EQ(stamp_of(group->records[2]), (ports::Stamp{1, 2, 3}));
}

TEST(JournalGroup, AnyByteThatIsAnotherOneIsSeen) {
    const auto good = some_group();
    for (std::size_t at = 0; at < good.size(); ++at) {
        auto bytes = good;
        bytes[at] ^= std::byte{1};
        EXPECT_FALSE(group_of(bytes)) << "byte " << at;
    }
}

TEST(JournalGroup, IsNoneWhereASectorIsMissing) {
    auto large = group_bytes(header, {{Kind::deposit, 4, 0, std::string(20'000, 'x')}});
    for (std::size_t sector = 0; sector * 512 < 20'000; ++sector) {
        auto bytes = large;
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(sector * 512), 512, std::byte{9});
        EXPECT_FALSE(group_of(bytes)) << "sector " << sector;
    }
    EXPECT_FALSE(group_of(std::span{large}.first(large.size() - 1)));
}

TEST(JournalGroup, MayBeNothingButASignOfLife) {
    const auto bytes = group_bytes(header, {});
    const auto group = group_of(bytes);
    ASSERT_TRUE(group);
    EXPECT_TRUE(group->records.empty());
}

struct Senseless {
    const char* what;
    Said record;
};

class JournalRecord : public testing::TestWithParam<Senseless> {};

TEST_P(JournalRecord, ThatMakesNoSenseIsNone) {
    EXPECT_FALSE(group_of(group_bytes(header, {GetParam().record}))) << GetParam().what;
}

INSTANTIATE_TEST_SUITE_P(
    Tables, JournalRecord,
    testing::Values(Senseless{"of no kind", {static_cast<Kind>(99), 1, 0, {}}},
                    Senseless{"a deposit of no bytes", {Kind::deposit, 1, 0, {}}},
                    Senseless{"a deposit before the file", {Kind::deposit, 1, -1, "x"}},
                    Senseless{"a deposit of no file", {Kind::deposit, 0, 0, "x"}},
                    Senseless{"a cut to less than nothing", {Kind::cut, 1, -5, {}}},
                    Senseless{"half a stamp", {Kind::settled, 1, 5, "12345678"}},
                    Senseless{"a life of a file", {Kind::life, 1, 0, {}}},
                    Senseless{"a file without facts", {Kind::file, 1, 0, "short"}}));

TEST(JournalSegment, EndsAtTheFirstGroupThatIsNotWhole) {
    GroupHeader second = header;
    second.first = 13;
    const auto one = some_group();
    auto two = group_bytes(second, {{Kind::cut, 4, 1, {}}});
    EXPECT_EQ(groups_of(segment_of({one, two})).groups.size(), 2U);
    two[100] ^= std::byte{1};
    const SegmentGroups torn = groups_of(segment_of({one, two}));
    EXPECT_EQ(torn.groups.size(), 1U);
    EXPECT_FALSE(torn.damaged);
}

TEST(JournalSegment, DoesNotTakeWhatWasThereBeforeForItsOwn) {
    GroupHeader before = header;
    before.epoch = 1;
    before.oldest = 1;
    before.first = 13;  // as if it followed
    const SegmentGroups found =
        groups_of(segment_of({some_group(), group_bytes(before, {{Kind::cut, 4, 1, {}}})}));
    EXPECT_EQ(found.groups.size(), 1U);
    EXPECT_FALSE(found.damaged);
}

TEST(JournalSegment, SaysWhereAGroupIsGone) {
    GroupHeader second = header;
    second.first = 13;
    GroupHeader third = header;
    third.first = 14;
    auto two = group_bytes(second, {{Kind::cut, 4, 1, {}}});
    two[100] ^= std::byte{1};
    EXPECT_TRUE(
        groups_of(segment_of({some_group(), two, group_bytes(third, {{Kind::cut, 4, 1, {}}})}))
            .damaged);
}

}  // namespace
}  // namespace forebay::pool::journal
