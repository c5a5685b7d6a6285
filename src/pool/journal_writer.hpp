// Writes groups of records to a journal's device: one is made durable while the next is filled.
#pragma once

#include "pool/journal/book.hpp"
#include "pool/journal/group.hpp"
#include "ports/clock.hpp"
#include "ports/journal_device.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
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
    std::uint64_t held = 0;           // see journal::Segments::hold
    std::vector<std::uint32_t> free;  // segments
    std::uint32_t next_segment = 0;   // numbers that no segment has, from here on
    std::size_t segments_max = 64;    // so many may be made
};

class JournalWriter {
public:
    // Larger than any record.
    static constexpr std::size_t group_bytes = std::size_t{4} << 20;

    // Device and clock (CLOCK_REALTIME) outlive it.
    JournalWriter(ports::JournalDevice& device, const ports::Clock& calendar,
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
    [[nodiscard]] bool idle() const noexcept { return !under_way_; }
    // Begins to write what was added; also where that is nothing, as a sign of life. False: there
    // is no room. Contract: it is idle.
    bool begin();
    // Another segment is wanted, and may be made: begins it. False: it may not. Contract: idle.
    bool grow();
    // So many segments there may be.
    void allow(std::size_t segments_max) noexcept { segments_max_ = segments_max; }
    // What was begun has ended: errno. Contract of wait(): something is under way.
    std::optional<int> ended();
    int wait();
    // At the end. `nothing`: nothing of it is needed, and its segments are removed; false where
    // that was not so, or did not succeed. Contract: it is idle.
    bool finish(bool nothing);

    // Records below are durable.
    [[nodiscard]] std::uint64_t durable() const noexcept { return durable_; }
    // When the last durable group was made.
    [[nodiscard]] std::int64_t lived_ns() const noexcept { return lived_ns_; }
    [[nodiscard]] journal::Segments& segments() noexcept { return segments_; }
    [[nodiscard]] const journal::Segments& segments() const noexcept { return segments_; }
    [[nodiscard]] ports::JournalDevice& device() noexcept { return device_; }

private:
    struct UnderWay {
        std::optional<std::uint32_t> adds;
        std::uint64_t end = 0;  // records
        std::int64_t time_ns = 0;
        std::uint64_t oldest = 0;
    };
    [[nodiscard]] journal::GroupWriter& group() noexcept { return groups_[filling_]; }
    [[nodiscard]] const journal::GroupWriter& group() const noexcept { return groups_[filling_]; }
    int take(int error);

    ports::JournalDevice& device_;
    const ports::Clock& calendar_;
    std::uint64_t life_;
    std::uint64_t next_record_;
    std::uint32_t next_segment_;
    std::size_t segments_max_;
    journal::Segments segments_;
    std::array<GroupMemory, 2> memory_;
    std::array<journal::GroupWriter, 2> groups_;
    std::size_t filling_ = 0;
    std::uint64_t group_first_;
    std::optional<UnderWay> under_way_;
    std::uint64_t durable_;
    std::int64_t lived_ns_ = 0;
};

}  // namespace forebay::pool
