// Writes groups of records to the device of a journal. While one group is being made durable, the
// next one is filled, or waits already. Called by the daemon's only thread.
#pragma once

#include "foundation/ports/clock.hpp"
#include "foundation/ports/journal_device.hpp"
#include "pool/journal/format/group.hpp"
#include "pool/journal/format/head.hpp"
#include "pool/journal/format/segment_allocator.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace forebay::pool {

// Memory whose address and size are aligned as the device needs them.
class GroupMemory {
public:
    explicit GroupMemory(std::size_t bytes);
    [[nodiscard]] std::span<std::byte> bytes() noexcept;

private:
    std::vector<std::byte> memory_;
    std::size_t bytes_;
};

// Where a writer begins: after the groups that a replay has found.
struct JournalStart {
    std::uint64_t life = 1;  // a random number
    std::uint64_t next_record = 1;
    std::uint64_t next_epoch = 1;
    std::uint64_t next_group = 1;
    journal::KeyedSum last{};         // checksum of the group before next_group
    std::uint64_t heads = 0;          // how many heads have been written
    std::uint64_t unneeded = 0;       // see journal::JournalHead
    std::uint64_t held = 0;           // see journal::SegmentAllocator::hold
    std::vector<std::uint32_t> free;  // numbers of free segments
    std::uint32_t next_segment = 0;   // no segment has this number or a larger one
    std::size_t segments_max = 64;    // how many segments there may be
};

class JournalWriter {
public:
    // Size of a group. Larger than any record.
    static constexpr std::size_t group_bytes = std::size_t{4} << 20;
    // Groups in flight: one is being made durable, another one waits for that.
    static constexpr std::size_t groups_under_way_max = 2;

    // The device and the clock (CLOCK_REALTIME) outlive the writer.
    JournalWriter(ports::JournalDevice& device, const ports::TimeSource& calendar,
                  const JournalStart& start);
    JournalWriter(const JournalWriter&) = delete;
    JournalWriter& operator=(const JournalWriter&) = delete;
    ~JournalWriter();

    // The group that is being filled has room for a record with this payload.
    [[nodiscard]] bool fits(std::size_t payload) const noexcept;
    // … and the journal has room for the group then, without its reserve.
    [[nodiscard]] bool has_room(std::size_t payload) const noexcept;
    // Adds a record to the group. Returns the record's number, and the room for its payload, which
    // the caller fills. Contract: fits().
    struct Added {
        std::uint64_t at = 0;
        std::span<std::byte> payload;
    };
    Added add(journal::RecordHeader record);
    [[nodiscard]] std::uint64_t next_record() const noexcept { return next_record_; }
    [[nodiscard]] bool filled() const noexcept { return group().records() > 0; }

    // No write is in flight.
    [[nodiscard]] bool idle() const noexcept { return under_way_.empty(); }
    // Another group may be submitted; it is written when the one before it is durable.
    [[nodiscard]] bool may_begin() const noexcept {
        return groups_under_way_ < groups_under_way_max;
    }
    // Submits the group that was filled; if it is empty, it serves as a sign of life. False: the
    // journal has no room. If the group begins a segment, the head is written first, so that a
    // replay notices when that segment is lost. Contract: may_begin().
    bool begin();
    // Nothing that was submitted so far is needed, and the next group can say so from another
    // segment.
    [[nodiscard]] bool may_move_on() const noexcept { return segments_.may_move_on(group_first_); }
    // Contract: may_move_on().
    void move_on() { segments_.move_on(group_first_); }
    // If a group in flight has ended: its errno, or 0. Does not wait.
    std::optional<int> ended();
    // Waits until nothing is in flight; returns the first errno, or 0.
    int wait();

    // Writes the head if it does not name the last durable group. From then on, a replay notices
    // when the journal ends before that group. Usually the next group proves as much, so this can
    // wait until nothing comes any more (`quiet`), except after the first group of a segment. No
    // write waits for the head.
    void tend_head(bool quiet);
    // The last group that is durable, and the last that a durable head names.
    [[nodiscard]] std::uint64_t durable_group() const noexcept { return durable_group_; }
    [[nodiscard]] std::uint64_t proven_group() const noexcept { return proven_group_; }
    // The errno of writing the head, or 0.
    [[nodiscard]] int head_error() const noexcept { return head_error_; }

    // Another segment will be needed soon. It is made early, since all writers would wait for it
    // otherwise.
    [[nodiscard]] bool wants_to_grow() const noexcept;
    // A segment is being made, while groups are being written.
    [[nodiscard]] bool growing() const noexcept { return adds_.has_value(); }
    // Begins to make a segment. False: there may not be more. Contract: none is being made.
    bool grow();
    // If the new segment is ready: its errno, or 0. A lack of room is not reported; the journal
    // does not grow any more then. Contract of wait_until_grown(): growing().
    std::optional<int> grown();
    int wait_until_grown();
    // Sets how many segments there may be.
    void allow(std::size_t segments_max) noexcept { segments_max_ = segments_max; }

    // At the end of the daemon. `nothing`: nothing in the journal is needed, so its segments are
    // removed. True: they are. Contract: idle().
    bool finish(bool nothing);

    // Records with smaller numbers are durable.
    [[nodiscard]] std::uint64_t durable() const noexcept { return durable_; }
    // When the last durable group was made (CLOCK_REALTIME).
    [[nodiscard]] std::int64_t lived_ns() const noexcept { return lived_ns_; }
    [[nodiscard]] journal::SegmentAllocator& segments() noexcept { return segments_; }
    [[nodiscard]] const journal::SegmentAllocator& segments() const noexcept { return segments_; }
    [[nodiscard]] ports::JournalDevice& device() noexcept { return device_; }

private:
    struct UnderWay {
        bool is_head = false;
        std::uint64_t end = 0;  // the number after its last record
        std::int64_t time_ns = 0;
        std::uint64_t oldest = 0;
        std::uint64_t number = 0;  // of the group, or of the group that the head names
        journal::KeyedSum sum{};
    };
    [[nodiscard]] journal::GroupWriter& group() noexcept { return groups_[filling_]; }
    [[nodiscard]] const journal::GroupWriter& group() const noexcept { return groups_[filling_]; }
    void begin_head();
    [[nodiscard]] bool say_what_is_durable();
    [[nodiscard]] bool say_that_nothing_is_needed();
    int take(int error);
    int take_segment(int error);

    ports::JournalDevice& device_;
    const ports::TimeSource& calendar_;
    std::uint64_t life_;
    std::uint64_t next_record_;
    std::uint32_t next_segment_;
    std::size_t segments_max_;
    journal::SegmentAllocator segments_;
    static constexpr std::size_t groups = groups_under_way_max + 1;
    std::array<GroupMemory, groups> memory_;
    std::array<journal::GroupWriter, groups> groups_;
    std::size_t filling_ = 0;           // index of the group that is being filled
    std::uint64_t group_first_;         // number of its first record
    std::deque<UnderWay> under_way_;    // groups and heads in flight, in the order of submission
    std::size_t groups_under_way_ = 0;  // groups among them
    std::uint64_t next_group_;          // number of the group that is being filled
    journal::KeyedSum last_;            // checksum of the group before that
    std::uint64_t first_of_epoch_ = 0;  // the first group of the last segment
    std::uint64_t durable_group_;       // the last durable group …
    journal::KeyedSum durable_sum_;     // … and its checksum
    GroupMemory heads_memory_;
    journal::JournalHead head_;          // as it was last written
    std::uint64_t proven_group_ = 0;     // the last group that a durable head names
    int head_error_ = 0;                 // errno
    std::optional<std::uint32_t> adds_;  // number of the segment that is being made
    std::int64_t sealed_ns_ = 0;         // when the last group was made
    std::uint64_t durable_;
    std::int64_t lived_ns_ = 0;
};

}  // namespace forebay::pool
