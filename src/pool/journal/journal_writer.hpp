// Writes groups of records to a journal's device: one is made durable while the next is filled, or
// waits already.
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

// Memory that a device can write from.
class GroupMemory {
public:
    explicit GroupMemory(std::size_t bytes);
    [[nodiscard]] std::span<std::byte> bytes() noexcept;

private:
    std::vector<std::byte> memory_;
    std::size_t bytes_;
};

struct JournalStart {
    std::uint64_t life = 1;  // a number by chance
    std::uint64_t next_record = 1;
    std::uint64_t next_epoch = 1;
    std::uint64_t next_group = 1;
    journal::KeyedSum last{};         // of the group before that
    std::uint64_t heads = 0;          // that were written
    std::uint64_t unneeded = 0;       // see journal::JournalHead
    std::uint64_t held = 0;           // see journal::SegmentAllocator::hold
    std::vector<std::uint32_t> free;  // segments
    std::uint32_t next_segment = 0;   // numbers that no segment has, from here on
    std::size_t segments_max = 64;    // so many may be made
};

class JournalWriter {
public:
    // Larger than any record.
    static constexpr std::size_t group_bytes = std::size_t{4} << 20;
    // One is made durable, and another one waits behind it.
    static constexpr std::size_t groups_under_way_max = 2;

    // Device and clock (CLOCK_REALTIME) outlive it.
    JournalWriter(ports::JournalDevice& device, const ports::TimeSource& calendar,
                  const JournalStart& start);
    JournalWriter(const JournalWriter&) = delete;
    JournalWriter& operator=(const JournalWriter&) = delete;
    ~JournalWriter();

    // The group that is being filled has room for it.
    [[nodiscard]] bool fits(std::size_t payload) const noexcept;
    // … and the journal has, beside its reserve.
    [[nodiscard]] bool has_room(std::size_t payload) const noexcept;
    // Number of the record, and its payload to be filled in. Contract: it fits.
    struct Added {
        std::uint64_t at = 0;
        std::span<std::byte> payload;
    };
    Added add(journal::RecordHeader record);
    [[nodiscard]] std::uint64_t next_record() const noexcept { return next_record_; }
    [[nodiscard]] bool filled() const noexcept { return group().records() > 0; }

    // Nothing is being written.
    [[nodiscard]] bool idle() const noexcept { return under_way_.empty(); }
    // Another group may be begun, which waits until the one before it is durable.
    [[nodiscard]] bool may_begin() const noexcept {
        return groups_under_way_ < groups_under_way_max;
    }
    // Begins to write what was added; also where that is nothing, as a sign of life. False: there
    // is no room. Contract: it may begin. Where it goes to another segment, the head says so first:
    // if that segment is lost, it is missed.
    bool begin();
    // Nothing that was begun so far is needed, and the next group can say so from another segment.
    [[nodiscard]] bool may_move_on() const noexcept { return segments_.may_move_on(group_first_); }
    // Contract: it may.
    void move_on() { segments_.move_on(group_first_); }
    // The first group that was begun has ended: errno.
    std::optional<int> ended();
    // Until nothing is under way: errno.
    int wait();

    // The head is to know which group was the last: from then on, a journal that ends before it is
    // known to be damaged. A group proves that for those before it, so that there is no hurry
    // (`quiet`) but where it is the first of its segment. No write waits for it.
    void tend_head(bool quiet);
    // The last group that is durable, and the last that a durable head knows.
    [[nodiscard]] std::uint64_t durable_group() const noexcept { return durable_group_; }
    [[nodiscard]] std::uint64_t proven_group() const noexcept { return proven_group_; }
    // The error of writing the head.
    [[nodiscard]] int head_error() const noexcept { return head_error_; }

    // Another segment will be wanted soon: where it is made only then, all wait for that.
    [[nodiscard]] bool wants_to_grow() const noexcept;
    // A segment is being made, beside what is written.
    [[nodiscard]] bool growing() const noexcept { return adds_.has_value(); }
    // Begins to make one. False: there may not be more. Contract: none is being made.
    bool grow();
    // It has ended: errno, where that is not lack of room. Contract of wait_until_grown(): growing.
    std::optional<int> grown();
    int wait_until_grown();
    // So many segments there may be.
    void allow(std::size_t segments_max) noexcept { segments_max_ = segments_max; }

    // At the end. `nothing`: nothing of it is needed, and its segments are removed; false where
    // that was not so, or did not succeed. Contract: it is idle.
    bool finish(bool nothing);

    // Records below are durable.
    [[nodiscard]] std::uint64_t durable() const noexcept { return durable_; }
    // When the last durable group was made.
    [[nodiscard]] std::int64_t lived_ns() const noexcept { return lived_ns_; }
    [[nodiscard]] journal::SegmentAllocator& segments() noexcept { return segments_; }
    [[nodiscard]] const journal::SegmentAllocator& segments() const noexcept { return segments_; }
    [[nodiscard]] ports::JournalDevice& device() noexcept { return device_; }

private:
    struct UnderWay {
        bool is_head = false;
        std::uint64_t end = 0;  // records
        std::int64_t time_ns = 0;
        std::uint64_t oldest = 0;
        std::uint64_t number = 0;  // of the group, or of the one that the head knows
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
    std::size_t filling_ = 0;
    std::uint64_t group_first_;
    std::deque<UnderWay> under_way_;
    std::size_t groups_under_way_ = 0;
    std::uint64_t next_group_;
    journal::KeyedSum last_;            // of the group before that
    std::uint64_t first_of_epoch_ = 0;  // the group that began the last segment
    std::uint64_t durable_group_;
    journal::KeyedSum durable_sum_;
    GroupMemory heads_memory_;
    journal::JournalHead head_;  // as it was begun last
    std::uint64_t proven_group_ = 0;
    int head_error_ = 0;
    std::optional<std::uint32_t> adds_;  // the segment that is being made
    std::int64_t sealed_ns_ = 0;         // when the last group was made
    std::uint64_t durable_;
    std::int64_t lived_ns_ = 0;
};

}  // namespace forebay::pool
