// A group is read as a whole, or not at all.
#include "pool/journal/format/groups_check.hpp"

#include <gtest/gtest.h>

namespace forebay::pool::journal {
namespace {

const GroupHeader header{.life = 7, .epoch = 3, .oldest = 2, .first = 10, .time_ns = 1'000};

std::vector<std::byte> some_group() {
    return group_bytes(header, {{RecordKind::deposit, 4, 100, "some bytes"},
                                {RecordKind::cut, 4, 50, {}},
                                settled(4, 9, {1, 2, 3})});
}

TEST(JournalGroup, ComesBackAsItWasMade) {
    const auto bytes = some_group();
    EXPECT_EQ(bytes.size() % group_unit, 0U);
    const auto group = group_of(bytes, a_key);
    ASSERT_TRUE(group);
    EXPECT_EQ(group->header.epoch, 3U);
    EXPECT_EQ(group->header.oldest, 2U);
    ASSERT_EQ(group->records.size(), 3U);
    EXPECT_EQ(group->records[0].at, 10U);
    EXPECT_EQ(group->records[0].header.number, 100);
    EXPECT_EQ(bytes_of(group->records[0].payload.data(), group->records[0].payload.size()),
              "some bytes");
    EXPECT_EQ(group->records[2].at, 12U);
    EXPECT_EQ(stamp_of(group->records[2]), (ports::ChangeStamp{1, 2, 3}));
}

TEST(JournalGroup, AnyByteThatIsAnotherOneIsSeen) {
    const auto good = some_group();
    for (std::size_t at = 0; at < good.size(); ++at) {
        auto bytes = good;
        bytes[at] ^= std::byte{1};
        EXPECT_FALSE(group_of(bytes, a_key)) << "byte " << at;
    }
}

TEST(JournalGroup, IsNoneWhereASectorIsMissing) {
    auto large = group_bytes(header, {{RecordKind::deposit, 4, 0, std::string(20'000, 'x')}});
    for (std::size_t sector = 0; sector * 512 < 20'000; ++sector) {
        auto bytes = large;
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(sector * 512), 512, std::byte{9});
        EXPECT_FALSE(group_of(bytes, a_key)) << "sector " << sector;
    }
    EXPECT_FALSE(group_of(std::span{large}.first(large.size() - 1), a_key));
}

TEST(JournalGroup, MayBeNothingButASignOfLife) {
    const auto bytes = group_bytes(header, {});
    const auto group = group_of(bytes, a_key);
    ASSERT_TRUE(group);
    EXPECT_TRUE(group->records.empty());
}

struct Senseless {
    const char* what;
    Said record;
};

class JournalRecord : public testing::TestWithParam<Senseless> {};

TEST_P(JournalRecord, ThatMakesNoSenseIsNone) {
    EXPECT_FALSE(group_of(group_bytes(header, {GetParam().record}), a_key)) << GetParam().what;
}

INSTANTIATE_TEST_SUITE_P(
    Tables, JournalRecord,
    testing::Values(Senseless{"of no kind", {static_cast<RecordKind>(99), 1, 0, {}}},
                    Senseless{"a deposit of no bytes", {RecordKind::deposit, 1, 0, {}}},
                    Senseless{"a deposit before the file", {RecordKind::deposit, 1, -1, "x"}},
                    Senseless{"a deposit of no file", {RecordKind::deposit, 0, 0, "x"}},
                    Senseless{"a cut to less than nothing", {RecordKind::cut, 1, -5, {}}},
                    Senseless{"half a stamp", {RecordKind::settled, 1, 5, "12345678"}},
                    Senseless{"a life of a file", {RecordKind::life, 1, 0, {}}},
                    Senseless{"a file without facts", {RecordKind::file, 1, 0, "short"}}));

TEST(JournalGroup, OfAnotherKeyIsNone) {
    Key other = a_key;
    other[31] ^= std::byte{1};
    EXPECT_TRUE(group_of(some_group(), a_key));
    EXPECT_FALSE(group_of(some_group(), other));
}

// Nobody without the key can forge a checksum, nor give a group with the same checksum other bytes.
TEST(JournalGroup, HasASumThatIsItsOwn) {
    GroupHeader one = header;
    GroupHeader two = header;
    two.number = one.number + 1;
    static_cast<void>(group_bytes(one, {{RecordKind::cut, 4, 1, {}}}, a_key));
    static_cast<void>(group_bytes(two, {{RecordKind::cut, 4, 1, {}}}, a_key));
    EXPECT_NE(one.sum, two.sum);
}

TEST(JournalSegment, GivesGroupsInFrontOfADamagedOneAndBehindIt) {
    GroupHeader second = header;
    second.at = some_group().size();
    auto two = group_bytes(second, {{RecordKind::cut, 4, 1, {}}});
    GroupHeader third = header;
    third.at = second.at + two.size();
    const auto three = group_bytes(third, {{RecordKind::cut, 4, 1, {}}});
    EXPECT_EQ(groups_of(segment_of({some_group(), two, three}), a_key).groups.size(), 3U);
    two[150] ^= std::byte{1};
    const SegmentGroups torn = groups_of(segment_of({some_group(), two, three}), a_key);
    EXPECT_EQ(torn.groups.size(), 2U);
    EXPECT_TRUE(torn.unknown);
}

// A program may write a copy of a journal to a pooled file: then groups lie inside of a deposit's
// payload, and are not groups of the journal.
TEST(JournalSegment, GivesNoGroupThatLiesElsewhere) {
    GroupHeader second = header;
    second.at = 999 * group_unit;
    const auto two = group_bytes(second, {{RecordKind::cut, 4, 1, {}}});
    EXPECT_EQ(groups_of(segment_of({some_group(), two}), a_key).groups.size(), 1U);
}

TEST(JournalSegment, KnowsTheFormatBefore) {
    std::vector<std::byte> old(8192);
    std::memcpy(old.data(), &magic_before, sizeof magic_before);
    EXPECT_TRUE(groups_of(old, a_key).older_format);
    EXPECT_FALSE(groups_of(segment_of({some_group()}), a_key).older_format);
}

}  // namespace
}  // namespace forebay::pool::journal
