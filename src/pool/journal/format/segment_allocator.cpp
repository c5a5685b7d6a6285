// Says which segment the next group is written to, and which segments are free again.
#include "pool/journal/format/segment_allocator.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>

namespace forebay::pool::journal {

void RecordNeeds::recorded(std::uint64_t file, std::uint64_t at) {
    File& one = files_.try_emplace(file, File{at, at}).first->second;
    invariant(one.last <= at, "the records of a file are numbered upwards");
    one.last = at;
}

void RecordNeeds::settled(std::uint64_t file, std::uint64_t through, std::uint64_t mark) {
    expects(through < mark, "a mark is about records before it");
    expects(marks_.empty() || marks_.back().at <= mark, "marks are numbered upwards");
    marks_.push_back({file, through, mark});
}

void RecordNeeds::durable(std::uint64_t at) {
    while (!marks_.empty() && marks_.front().at <= at) {
        const Mark mark = marks_.front();
        marks_.pop_front();
        const auto file = files_.find(mark.file);
        if (file == files_.end()) {
            continue;
        }
        if (file->second.last <= mark.through) {
            files_.erase(file);
        } else {
            file->second.first = std::max(file->second.first, mark.through + 1);
        }
    }
}

std::uint64_t RecordNeeds::first(std::uint64_t next) const noexcept {
    for (const auto& [number, file] : files_) {
        next = std::min(next, file.first);
    }
    return next;
}

std::uint64_t RecordNeeds::first_of(std::uint64_t file) const {
    const auto found = files_.find(file);
    return found == files_.end() ? 0 : found->second.first;
}

bool SegmentAllocator::fits_the_last(std::size_t group_bytes) const noexcept {
    return !used_.empty() && used_.back().end + static_cast<std::int64_t>(group_bytes) <= bytes_;
}

bool SegmentAllocator::has_room(std::size_t group_bytes, std::size_t kept) const noexcept {
    return fits_the_last(group_bytes) ? free_.size() >= kept : free_.size() > kept;
}

GroupPlace SegmentAllocator::place(std::size_t group_bytes, std::uint64_t first_record) {
    expects(static_cast<std::int64_t>(group_bytes) <= bytes_, "a group fits a segment");
    if (moves_on_ || !fits_the_last(group_bytes)) {
        expects(!free_.empty(), "a segment is free");
        invariant(std::ranges::find(used_, free_.front(), &Used::number) == used_.end(),
                  "a segment that is free is not in use");
        used_.push_back({free_.front(), next_epoch_++, first_record, 0});
        free_.erase(free_.begin());
        moves_on_ = false;
    }
    Used& last = used_.back();
    GroupPlace place{last.number, last.end, last.epoch, last.epoch};
    last.end += static_cast<std::int64_t>(group_bytes);
    for (std::size_t i = 0; i + 1 < used_.size(); ++i) {
        if (used_[i + 1].first > needed_) {
            place.oldest = used_[i].epoch;
            break;
        }
    }
    place.oldest = held_ == 0 ? place.oldest : held_;
    ensures(last.end <= bytes_, "a group lies within one segment");
    ensures(place.oldest <= place.epoch, "a group is needed when it is written");
    return place;
}

void SegmentAllocator::move_on(std::uint64_t first_record) {
    expects(may_move_on(first_record), "nothing before it is needed");
    moves_on_ = true;
}

void SegmentAllocator::need(std::uint64_t first) { needed_ = std::max(needed_, first); }

std::vector<std::uint32_t> SegmentAllocator::used() const {
    std::vector<std::uint32_t> numbers;
    for (const Used& one : used_) {
        numbers.push_back(one.number);
    }
    return numbers;
}

void SegmentAllocator::said(std::uint64_t oldest) {
    while (used_.size() > 1 && used_.front().epoch < oldest) {
        free_.push_back(used_.front().number);
        used_.pop_front();
    }
}

}  // namespace forebay::pool::journal
