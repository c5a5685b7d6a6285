// The part of a journal that is still needed: a daemon's own view while it writes it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace forebay::pool::journal {

// The record of each file from which on its records are needed.
class RecordNeeds {
public:
    // A record of the file that counts until the file is settled.
    void recorded(std::uint64_t file, std::uint64_t at);
    // Said by record `mark`: what the file had up to `through` is not needed, once that is durable.
    void settled(std::uint64_t file, std::uint64_t through, std::uint64_t mark);
    // All records up to this one are.
    void durable(std::uint64_t at);
    // Everything of the file is settled, durably.
    [[nodiscard]] bool nothing_of(std::uint64_t file) const { return !files_.contains(file); }
    // The first record that is needed; `next`: none of those before it.
    [[nodiscard]] std::uint64_t first(std::uint64_t next) const noexcept;
    [[nodiscard]] std::uint64_t first_of(std::uint64_t file) const;

private:
    struct File {
        std::uint64_t first = 0;
        std::uint64_t last = 0;
    };
    struct Mark {
        std::uint64_t file = 0;
        std::uint64_t through = 0;
        std::uint64_t at = 0;
    };
    std::map<std::uint64_t, File> files_;
    std::deque<Mark> marks_;
};

// Where a group comes to lie.
struct GroupPlace {
    std::uint32_t segment = 0;
    std::int64_t at = 0;
    std::uint64_t epoch = 0;
    std::uint64_t oldest = 0;
};

// The segments, in the order of their epochs. One is used again when nothing of it is needed and a
// durable group says so, whose `oldest` is a later epoch.
class SegmentAllocator {
public:
    // Segments that are kept for marks: without them nothing would ever be let go.
    static constexpr std::size_t reserve = 1;

    SegmentAllocator(std::int64_t segment_bytes, std::uint64_t first_epoch) noexcept
        : bytes_{segment_bytes}, next_epoch_{first_epoch} {}

    // One that is there, and of which nothing is needed.
    void add(std::uint32_t number) { free_.push_back(number); }
    [[nodiscard]] std::size_t count() const noexcept { return used_.size() + free_.size(); }
    [[nodiscard]] std::size_t free() const noexcept { return free_.size(); }
    // A group of so many bytes has room, and so many segments stay free: a deposit leaves the
    // reserve alone, also where marks have begun to use it.
    [[nodiscard]] bool has_room(std::size_t group_bytes, std::size_t kept) const noexcept;
    // The last segment is being filled, and only the reserve is left behind it.
    [[nodiscard]] bool runs_out() const noexcept {
        return !used_.empty() && free_.size() <= reserve && used_.back().end > bytes_ / 4;
    }
    // For a group whose first record has this number. Contract: it has room.
    [[nodiscard]] GroupPlace place(std::size_t group_bytes, std::uint64_t first_record);
    // Nothing that was written before this record is needed: a group in another segment says so,
    // and all the others are free then. Else a journal whose last segment is full, and settled,
    // would never let go of it.
    [[nodiscard]] bool may_move_on(std::uint64_t first_record) const noexcept {
        return held_ == 0 && !used_.empty() && !free_.empty() && needed_ >= first_record;
    }
    // The next group goes to another segment. Contract: it may move on.
    void move_on(std::uint64_t first_record);
    // Records below `first` are not needed: what the next group says is the oldest epoch.
    void need(std::uint64_t first);
    // The journal of a daemon that has died is still needed, from this epoch on; 0: not any more.
    void hold(std::uint64_t oldest) noexcept { held_ = oldest; }
    // The next group will say so of some.
    [[nodiscard]] bool lets_go() const noexcept {
        return held_ == 0 && used_.size() > 1 && used_[1].first <= needed_;
    }
    // Those that are in use, the oldest first.
    [[nodiscard]] std::vector<std::uint32_t> used() const;
    [[nodiscard]] const std::vector<std::uint32_t>& idle() const noexcept { return free_; }
    // A group that says so is durable.
    void said(std::uint64_t oldest);
    // This record lies in the last segment, or would.
    [[nodiscard]] bool in_the_last(std::uint64_t record) const noexcept {
        return used_.empty() || record >= used_.back().first;
    }

private:
    struct Used {
        std::uint32_t number = 0;
        std::uint64_t epoch = 0;
        std::uint64_t first = 0;  // record
        std::int64_t end = 0;     // bytes
    };
    [[nodiscard]] bool fits_the_last(std::size_t group_bytes) const noexcept;

    std::int64_t bytes_;
    std::uint64_t next_epoch_;
    std::deque<Used> used_;
    std::vector<std::uint32_t> free_;
    std::uint64_t needed_ = 0;
    std::uint64_t held_ = 0;
    bool moves_on_ = false;
};

}  // namespace forebay::pool::journal
