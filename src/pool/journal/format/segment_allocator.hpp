// Which records and segments of a journal are still needed, as the daemon that writes the journal
// sees it. A record of kind `settled` is called a mark here. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace forebay::pool::journal {

// For each file, the first record that a replay would still need.
class RecordNeeds {
public:
    // Record `at` is about the file, and is needed until the file is settled.
    void recorded(std::uint64_t file, std::uint64_t at);
    // Record `mark` says that the file's records up to `through` are settled. This counts once the
    // mark itself is durable.
    void settled(std::uint64_t file, std::uint64_t through, std::uint64_t mark);
    // All records up to `at` are durable.
    void durable(std::uint64_t at);
    // No record of the file is needed any more.
    [[nodiscard]] bool nothing_of(std::uint64_t file) const { return !files_.contains(file); }
    // The first record that is needed; `next` if there is none before it.
    [[nodiscard]] std::uint64_t first(std::uint64_t next) const noexcept;
    // The file's first record that is needed; 0: none is.
    [[nodiscard]] std::uint64_t first_of(std::uint64_t file) const;

private:
    struct File {
        std::uint64_t first = 0;  // the first record that is needed
        std::uint64_t last = 0;   // the newest record
    };
    // A mark that is not durable yet: number `at`, about the file's records up to `through`.
    struct Mark {
        std::uint64_t file = 0;
        std::uint64_t through = 0;
        std::uint64_t at = 0;
    };
    std::map<std::uint64_t, File> files_;
    std::deque<Mark> marks_;
};

// The place of a group, and what its header must say about segments.
struct GroupPlace {
    std::uint32_t segment = 0;
    std::int64_t at = 0;       // offset in the segment
    std::uint64_t epoch = 0;   // of the segment
    std::uint64_t oldest = 0;  // the oldest epoch that is needed
};

// The segments, in the order of their epochs. A segment is used again when nothing in it is needed
// and a durable group says so by an `oldest` that is a later epoch.
class SegmentAllocator {
public:
    // Segments that are reserved for marks. Without room for marks, no segment would ever become
    // free.
    static constexpr std::size_t reserve = 1;

    SegmentAllocator(std::int64_t segment_bytes, std::uint64_t first_epoch) noexcept
        : bytes_{segment_bytes}, next_epoch_{first_epoch} {}

    // Adds a segment that exists, and in which nothing is needed.
    void add(std::uint32_t number) { free_.push_back(number); }
    [[nodiscard]] std::size_t count() const noexcept { return used_.size() + free_.size(); }
    [[nodiscard]] std::size_t free() const noexcept { return free_.size(); }
    // True when a group of this size has room and `kept` segments are still free then. Deposits
    // thereby leave the reserve alone, also when marks have begun to use it.
    [[nodiscard]] bool has_room(std::size_t group_bytes, std::size_t kept) const noexcept;
    // The last segment is filling up, and only the reserve is left after it.
    [[nodiscard]] bool runs_out() const noexcept {
        return !used_.empty() && free_.size() <= reserve && used_.back().end > bytes_ / 4;
    }
    // The place for a group whose first record is `first_record`. Contract: it has room.
    [[nodiscard]] GroupPlace place(std::size_t group_bytes, std::uint64_t first_record);
    // True when no record before `first_record` is needed: a group in another segment can then say
    // so, which frees all others. Without this, a journal whose last segment is full and settled
    // would never be rid of it.
    [[nodiscard]] bool may_move_on(std::uint64_t first_record) const noexcept {
        return held_ == 0 && !used_.empty() && !free_.empty() && needed_ >= first_record;
    }
    // Has the next group go to another segment. Contract: may_move_on().
    void move_on(std::uint64_t first_record);
    // No record below `first` is needed. The next group's `oldest` says which epochs that leaves.
    void need(std::uint64_t first);
    // Keeps the segments of a dead daemon's journal, from this epoch on; 0: no longer.
    void hold(std::uint64_t oldest) noexcept { held_ = oldest; }
    // The next group will free at least one segment.
    [[nodiscard]] bool lets_go() const noexcept {
        return held_ == 0 && used_.size() > 1 && used_[1].first <= needed_;
    }
    // The segments in use, the oldest first.
    [[nodiscard]] std::vector<std::uint32_t> used() const;
    [[nodiscard]] const std::vector<std::uint32_t>& idle() const noexcept { return free_; }
    // A group with this `oldest` is durable: older segments are free.
    void said(std::uint64_t oldest);
    // True when this record lies in the last segment, or would if it were added now.
    [[nodiscard]] bool in_the_last(std::uint64_t record) const noexcept {
        return used_.empty() || record >= used_.back().first;
    }

private:
    struct Used {
        std::uint32_t number = 0;
        std::uint64_t epoch = 0;
        std::uint64_t first = 0;  // number of its first record
        std::int64_t end = 0;     // where the next group begins, in bytes
    };
    [[nodiscard]] bool fits_the_last(std::size_t group_bytes) const noexcept;

    std::int64_t bytes_;  // size of a segment
    std::uint64_t next_epoch_;
    std::deque<Used> used_;            // the oldest first
    std::vector<std::uint32_t> free_;  // numbers of segments
    std::uint64_t needed_ = 0;         // no record with a smaller number is needed
    std::uint64_t held_ = 0;           // see hold()
    bool moves_on_ = false;            // the next group goes to another segment
};

}  // namespace forebay::pool::journal
