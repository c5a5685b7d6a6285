// Tests stamps, the encoding of records, and what is done with a replica that was found.
#include "tier/catalogue/tier_record.hpp"

#include "tier/catalogue/redo.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <gtest/gtest.h>
#include <optional>
#include <rapidcheck/gtest.h>
#include <span>
#include <string>
#include <vector>

namespace forebay::tier {
namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t second = 1000 * ms;
constexpr std::int64_t now = 1'000'000 * second + 1;

const RecordKey a_key{std::byte{1}, std::byte{2}};
const VersionStamp stamp{.file_system = 5,
                         .inode = 7,
                         .bytes = 1000,
                         .modified_ns = now - 100 * second,
                         .changed_ns = now - 50 * second,
                         .taken_ns = now};

template <class Value, class Change>
Value changed(Value one, const Change& change) {
    change(one);
    return one;
}

TEST(VersionStamps, TellWhatHasChanged) {
    struct Row {
        std::string name;
        VersionStamp found;
        StampVerdict verdict = StampVerdict::same;
    };
    const auto with = [](const auto& change) { return changed(stamp, change); };
    const std::array rows{
        Row{"nothing", stamp, StampVerdict::same},
        Row{"another time of looking", with([](VersionStamp& one) { one.taken_ns += second; }),
            StampVerdict::same},
        Row{"chmod", with([](VersionStamp& one) { ++one.changed_ns; }), StampVerdict::attributes},
        Row{"migrated stripes", with([](VersionStamp& one) { ++one.layout_generation; }),
            StampVerdict::attributes},
        Row{"written", with([](VersionStamp& one) { ++one.modified_ns; }), StampVerdict::contents},
        Row{"truncated, and the time put back", with([](VersionStamp& one) { --one.bytes; }),
            StampVerdict::contents},
        Row{"replaced", with([](VersionStamp& one) { ++one.inode; }), StampVerdict::other_file},
        Row{"another file system", with([](VersionStamp& one) { one.file_system = 6; }),
            StampVerdict::other_file},
        Row{"one that does not tell", with([](VersionStamp& one) { one.file_system = 0; }),
            StampVerdict::same},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(compare_stamps(stamp, row.found), row.verdict) << row.name;
    }
}

TEST(VersionStamps, AreRacyWithinATickOfTheirTaking) {
    struct Row {
        std::string name;
        std::int64_t modified_ns = 0;
        std::int64_t changed_ns = 0;
        bool racy = false;
    };
    const auto whole = [](std::int64_t seconds_ago) {
        return (now / second - seconds_ago) * second;
    };
    const std::array rows{
        Row{"now", now, now, true},
        Row{"within a tick", now - 19 * ms, now, true},
        Row{"a later write would set mtime", now - 21 * ms, now, false},
        Row{"and ctime, whatever mtime is set to", now, now - 21 * ms, false},
        Row{"a time in the future", now + 100 * second, now + 100 * second, true},
        Row{"whole seconds", whole(1), whole(1), true},
        Row{"older whole seconds", whole(3), whole(3), false},
    };
    for (const Row& row : rows) {
        const VersionStamp one{
            .modified_ns = row.modified_ns, .changed_ns = row.changed_ns, .taken_ns = now};
        EXPECT_EQ(is_racy(one), row.racy) << row.name;
    }
    EXPECT_EQ(compare_stamps({.taken_ns = 0}, {}), StampVerdict::racy);
}

ReplicaRecord any_record() {
    const auto number = rc::gen::arbitrary<std::uint64_t>();
    const auto time = rc::gen::arbitrary<std::int64_t>();
    return {.state = static_cast<ReplicaState>(*rc::gen::inRange(0, 7)),
            .owner = *number,
            .generation = *number,
            .moving = *number,
            .target_ns = *time,
            .copied = *rc::gen::nonNegative<std::int64_t>(),
            .dirtied_ns = *time,
            .base = {*number, *number, *time, *time, *time, *number, *number, *time},
            .path = *rc::gen::container<std::string>(rc::gen::arbitrary<char>())};
}

RC_GTEST_PROP(ReplicaRecords, AreDecodedAsTheyWereEncoded, ()) {
    const ReplicaRecord record = any_record();
    const auto decoded = decode_replica(encode(record, a_key), a_key);
    RC_ASSERT(decoded.has_value());
    RC_ASSERT(*decoded == record);
    RC_ASSERT(decode_marker(encode(record, a_key), a_key) ==
              tl::unexpected{RecordDefect::not_a_record});
}

RC_GTEST_PROP(FileMarkers, AreDecodedAsTheyWereEncoded, ()) {
    const auto number = rc::gen::arbitrary<std::uint64_t>();
    const FileMarker marker{.state = static_cast<ReplicaState>(*rc::gen::inRange(0, 7)),
                            .owner = *number,
                            .generation = *number,
                            .inode = *number,
                            .bytes = *rc::gen::nonNegative<std::int64_t>(),
                            .modified_ns = *rc::gen::arbitrary<std::int64_t>()};
    RC_ASSERT(decode_marker(encode(marker, a_key), a_key) == marker);
}

TEST(ReplicaRecords, AnyChangedBitIsSeen) {
    const auto whole = encode(ReplicaRecord{.path = "/s/me/x"}, a_key);
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (int bit = 0; bit < 8; ++bit) {
            auto bytes = whole;
            bytes[at] ^= std::byte{1} << bit;
            EXPECT_FALSE(decode_replica(bytes, a_key)) << at;
        }
    }
}

TEST(ReplicaRecords, SayWhyTheyCannotBeRead) {
    const auto whole = encode(ReplicaRecord{.path = "/s/me/x"}, a_key);
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
        EXPECT_FALSE(decode_replica(std::span{whole}.first(bytes), a_key)) << bytes;
    }
    EXPECT_EQ(decode_replica({}, a_key), tl::unexpected{RecordDefect::not_a_record});
    EXPECT_EQ(decode_replica(whole, RecordKey{}), tl::unexpected{RecordDefect::damaged})
        << "another user's";
    auto newer = whole;
    newer[4] = std::byte{9};
    EXPECT_EQ(decode_replica(newer, a_key), tl::unexpected{RecordDefect::newer});
}

RC_GTEST_PROP(Records, OfAnyBytesAreRefused, ()) {
    auto bytes = *rc::gen::container<std::vector<std::uint8_t>>(rc::gen::arbitrary<std::uint8_t>());
    const std::array<std::uint8_t, 4> magic{0x66, 0x62, 0x74, 0x72};
    std::copy_n(magic.begin(), std::min(magic.size(), bytes.size()), bytes.begin());
    RC_ASSERT(!decode_replica(std::as_bytes(std::span{bytes}), a_key));
    RC_ASSERT(!decode_marker(std::as_bytes(std::span{bytes}), a_key));
}

constexpr std::uint64_t own = 3;

// A replica in a state, with its file as it was left.
FoundReplica found_in(ReplicaState state) {
    return {.owner = own,
            .replica = {.modified_ns = stamp.modified_ns},
            .record = ReplicaRecord{.state = state,
                                    .owner = own,
                                    .generation = 4,
                                    .moving = 4,
                                    .target_ns = stamp.modified_ns,
                                    .base = stamp,
                                    .path = "/s/me/x"},
            .file = stamp,
            .marker = std::nullopt};
}

FileMarker marker(ReplicaState state, std::uint64_t generation = 4, std::uint64_t owner = own) {
    return {.state = state,
            .owner = owner,
            .generation = generation,
            .inode = stamp.inode,
            .bytes = stamp.bytes,
            .modified_ns = stamp.modified_ns};
}

struct RedoRow {
    std::string name;
    FoundReplica found;
    RedoAction action = RedoAction::nothing;
};

void expect_redo(std::span<const RedoRow> rows) {
    for (const RedoRow& row : rows) {
        EXPECT_EQ(redo_of(row.found), row.action) << row.name;
    }
}

FoundReplica with(FoundReplica found, const std::function<void(FoundReplica&)>& change) {
    change(found);
    return found;
}
void written(FoundReplica& one) { one.file->modified_ns += 1; }
void chmod(FoundReplica& one) { one.file->changed_ns += 1; }
void gone(FoundReplica& one) { one.file.reset(); }

TEST(RedoOfReplicas, CleanOnesAreUsedOrRemoved) {
    const FoundReplica clean = found_in(ReplicaState::clean);
    const std::array rows{
        RedoRow{"as it was", clean, RedoAction::nothing},
        RedoRow{"chmod", with(clean, chmod), RedoAction::compare},
        RedoRow{"racy",
                with(clean,
                     [](FoundReplica& one) {
                         one.record->base.taken_ns = one.record->base.modified_ns;
                         one.record->base.changed_ns = one.record->base.modified_ns;
                         one.file = one.record->base;
                     }),
                RedoAction::compare},
        RedoRow{"written outside", with(clean, written), RedoAction::remove},
        RedoRow{"the file is gone", with(clean, gone), RedoAction::remove},
        RedoRow{
            "another tier has newer bytes",
            with(clean, [](FoundReplica& one) { one.marker = marker(ReplicaState::dirty, 5, 9); }),
            RedoAction::remove},
        RedoRow{
            "another tier once had bytes of it",
            with(clean, [](FoundReplica& one) { one.marker = marker(ReplicaState::clean, 4, 9); }),
            RedoAction::nothing},
        RedoRow{"not complete", found_in(ReplicaState::filling), RedoAction::remove},
        RedoRow{"being removed", found_in(ReplicaState::evicting), RedoAction::remove},
    };
    expect_redo(rows);
}

TEST(RedoOfReplicas, DirtyOnesAreKept) {
    const FoundReplica dirty = with(found_in(ReplicaState::dirty), [](FoundReplica& one) {
        one.marker = marker(ReplicaState::dirty);
    });
    const std::array rows{
        RedoRow{"as it was", dirty, RedoAction::nothing},
        RedoRow{"chmod", with(dirty, chmod), RedoAction::nothing},
        RedoRow{"no marker yet", found_in(ReplicaState::dirty), RedoAction::mark_again},
        RedoRow{"the marker of an earlier generation",
                with(dirty, [](FoundReplica& one) { one.marker->generation = 3; }),
                RedoAction::mark_again},
        RedoRow{"a marker that was copied with another file",
                with(dirty, [](FoundReplica& one) { one.marker->inode = 1; }),
                RedoAction::mark_again},
        RedoRow{"written outside", with(dirty, written), RedoAction::rescue},
        RedoRow{"the file is gone", with(dirty, gone), RedoAction::rescue},
        RedoRow{"replaced", with(dirty, [](FoundReplica& one) { one.file->inode = 1; }),
                RedoAction::rescue},
        RedoRow{
            "another tier has written it since",
            with(dirty, [](FoundReplica& one) { one.marker = marker(ReplicaState::clean, 5, 9); }),
            RedoAction::rescue},
        RedoRow{"another tier has bytes of it, too",
                with(dirty, [](FoundReplica& one) { one.marker->owner = 9; }), RedoAction::rescue},
        RedoRow{
            "another tier once had bytes of it",
            with(dirty, [](FoundReplica& one) { one.marker = marker(ReplicaState::clean, 2, 9); }),
            RedoAction::mark_again},
        RedoRow{"another place's replica",
                with(dirty, [](FoundReplica& one) { one.record->owner = 9; }), RedoAction::rescue},
        RedoRow{"no record", with(dirty, [](FoundReplica& one) { one.record.reset(); }),
                RedoAction::rescue},
        RedoRow{"a rescue that was interrupted", found_in(ReplicaState::rescued),
                RedoAction::rescue},
    };
    expect_redo(rows);
}

TEST(RedoOfReplicas, MovingGoesOnOrHasEnded) {
    const FoundReplica moving = found_in(ReplicaState::moving);
    const FoundReplica ended =
        with(moving, [](FoundReplica& one) { one.marker = marker(ReplicaState::clean); });
    const auto overtaken = [](FoundReplica& one) { one.record->generation = 5; };
    const auto soon = [](FoundReplica& one) {
        one.file->modified_ns = one.file->changed_ns = now + 4 * second;
    };
    const auto late = [](FoundReplica& one) {
        one.file->modified_ns = one.file->changed_ns = now + 40 * second;
    };
    const auto late_chmod = [](FoundReplica& one) { one.file->changed_ns = now + 40 * second; };
    const auto old = [](FoundReplica& one) {
        one.file->modified_ns = now - 500 * second;
        one.file->changed_ns = now + 40 * second;
    };
    const auto timed = [](FoundReplica& one) {
        one.record->target_ns = now - 300 * second + 7;
        one.file->modified_ns = now - 300 * second + 7;
        one.file->bytes += 5;
    };
    const std::array rows{
        RedoRow{"before the first byte", moving, RedoAction::move_again},
        RedoRow{"after bytes of its own", with(moving, soon), RedoAction::move_again},
        RedoRow{"changed much later", with(moving, late), RedoAction::rescue},
        RedoRow{"chmod after bytes of its own", with(with(moving, soon), late_chmod),
                RedoAction::move_again},
        RedoRow{"with an old time, as cp -p and tar do", with(moving, old), RedoAction::rescue},
        RedoRow{"with the time that the move was about to set", with(moving, timed),
                RedoAction::move_again},
        RedoRow{"replaced", with(moving, [](FoundReplica& one) { one.file->inode = 1; }),
                RedoAction::rescue},
        RedoRow{
            "the marker of an earlier move",
            with(moving, [](FoundReplica& one) { one.marker = marker(ReplicaState::clean, 3); }),
            RedoAction::move_again},
        RedoRow{
            "another tier has bytes of it",
            with(moving, [](FoundReplica& one) { one.marker = marker(ReplicaState::dirty, 5, 9); }),
            RedoAction::rescue},
        RedoRow{"the file has all bytes", ended, RedoAction::finish_move},
        RedoRow{"and was changed since", with(ended, written), RedoAction::remove},
        RedoRow{"somebody has written since", with(ended, overtaken), RedoAction::follow_write},
        RedoRow{"somebody has stored to a mapping since",
                with(ended, [](FoundReplica& one) { ++one.replica.modified_ns; }),
                RedoAction::follow_write},
        RedoRow{"both", with(with(ended, overtaken), written), RedoAction::rescue},
        RedoRow{"the file is gone", with(moving, gone), RedoAction::rescue},
    };
    expect_redo(rows);
}

TEST(Markers, SayWhoHasBytesOfAFile) {
    const auto inode = stamp.inode;
    EXPECT_EQ(judge_marker(std::nullopt, inode, own), MarkerVerdict::whole);
    EXPECT_EQ(judge_marker(marker(ReplicaState::clean), inode, own), MarkerVerdict::whole);
    EXPECT_EQ(judge_marker(marker(ReplicaState::dirty), inode, own), MarkerVerdict::lost);
    EXPECT_EQ(judge_marker(marker(ReplicaState::moving, 4, 9), inode, own),
              MarkerVerdict::elsewhere);
    EXPECT_EQ(judge_marker(marker(ReplicaState::dirty), 1, own), MarkerVerdict::whole);
}

TEST(Markers, OfOtherPlacesAreReadWithoutTheirKeysAndOwnOnesAreNot) {
    const RecordKey another_key{std::byte{9}};
    const FileMarker foreign = marker(ReplicaState::dirty, 4, 9);
    const auto bytes = encode(foreign, another_key);
    EXPECT_FALSE(decode_marker(bytes, a_key));
    EXPECT_EQ(decode_foreign_marker(bytes, own), foreign);
    // Whoever forges one of this place has not its key.
    EXPECT_EQ(decode_foreign_marker(encode(marker(ReplicaState::clean), another_key), own),
              std::nullopt);
    EXPECT_EQ(decode_foreign_marker(encode(ReplicaRecord{.owner = 9}, another_key), own),
              std::nullopt);
    EXPECT_EQ(decode_foreign_marker(std::span{bytes}.first(bytes.size() - 1), own), std::nullopt);
    EXPECT_EQ(decode_foreign_marker({}, own), std::nullopt);
}

}  // namespace
}  // namespace forebay::tier
