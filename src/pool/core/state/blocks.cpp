// Accounts for positions and passes on physical blocks. Positions come nearly in order, so that
// most blocks have a single range.
#include "pool/core/state/blocks.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>

namespace forebay::pool {

bool AccountedRanges::add(std::uint32_t begin, std::uint32_t end) {
    expects(begin < end && end <= block_bytes, "the positions lie in one block");
    auto next = ranges_.end();
    if (!ranges_.empty() && ranges_.back().begin >= begin) {
        next = std::ranges::lower_bound(ranges_, begin, {}, &Range::begin);
    }
    const bool follows = next != ranges_.begin() && std::prev(next)->end >= begin;
    if (follows && std::prev(next)->end > begin) {
        return false;
    }
    const bool precedes = next != ranges_.end() && next->begin <= end;
    if (precedes && next->begin < end) {
        return false;
    }
    if (follows && precedes) {
        std::prev(next)->end = next->end;
        ranges_.erase(next);
    } else if (follows) {
        std::prev(next)->end = end;
    } else if (precedes) {
        next->begin = begin;
    } else if (ranges_.size() < ranges_max) {
        ranges_.insert(next, {begin, end});
    } else {
        return false;
    }
    return true;
}

LogBlocks::Answer LogBlocks::account(std::uint64_t position, std::uint32_t length, Use use) {
    const std::uint64_t number = position / block_bytes;
    if (number < first_) {
        return Answer::refused;
    }
    if (number - first_ >= blocks_max) {
        return Answer::later;
    }
    if (number - first_ >= blocks_.size()) {
        blocks_.resize(number - first_ + 1);
    }
    const auto begin = static_cast<std::uint32_t>(position % block_bytes);
    if (!at(position).accounted.add(begin, begin + length)) {
        return Answer::refused;
    }
    at(position).live += use == Use::deposited ? length : 0;
    finish(number);
    return Answer::done;
}

LogBlocks::Block& LogBlocks::at(std::uint64_t position) {
    const std::uint64_t number = position / block_bytes;
    invariant(number >= first_ && number - first_ < blocks_.size(), "the block is there");
    return blocks_[number - first_];
}

void LogBlocks::free(std::uint64_t position, std::size_t length) {
    Block& block = at(position);
    invariant(block.live >= length, "what is freed was deposited");
    block.live -= length;
    finish(position / block_bytes);
}

void LogBlocks::pin(std::uint64_t position) { ++at(position).pins; }

void LogBlocks::unpin(std::uint64_t position) {
    Block& block = at(position);
    invariant(block.pins > 0, "what is unpinned was pinned");
    --block.pins;
    finish(position / block_bytes);
}

bool LogBlocks::finished(std::uint64_t number) const {
    const Block& block = blocks_[number - first_];
    return number < leased_end_ && block.live == 0 && block.pins == 0 &&
           (closed_ || block.accounted.complete());
}

void LogBlocks::finish(std::uint64_t number) {
    if (!finished(number)) {
        return;
    }
    Block& block = blocks_[number - first_];
    if (block.physical) {
        idle_.push_back(*block.physical);
        block.physical.reset();
    }
    while (!blocks_.empty() && finished(first_) && !blocks_.front().physical) {
        blocks_.pop_front();
        ++first_;
    }
}

bool LogBlocks::next_needs_memory() const noexcept {
    const std::size_t index = leased_end_ - first_;
    return index >= blocks_.size() || !blocks_[index].accounted.complete();
}

void LogBlocks::lease(std::optional<std::uint32_t> physical) {
    expects(may_lease(), "the oldest unfinished block is not too far behind");
    const std::uint64_t number = leased_end_++;
    if (number - first_ >= blocks_.size()) {
        blocks_.resize(number - first_ + 1);
    }
    blocks_[number - first_].physical = physical;
    finish(number);
}

std::uint32_t LogBlocks::take_idle() {
    expects(!idle_.empty(), "a block is idle");
    const std::uint32_t physical = idle_.back();
    idle_.pop_back();
    return physical;
}

bool LogBlocks::take_newness(std::uint32_t physical) { return new_.erase(physical) > 0; }

std::optional<std::uint32_t> LogBlocks::absent() const noexcept {
    if (!absent_.empty()) {
        return absent_.back();
    }
    return fresh_ < blocks_max ? std::optional{fresh_} : std::nullopt;
}

void LogBlocks::provide(std::uint32_t physical) {
    expects(physical == absent(), "the block was not there");
    if (!absent_.empty()) {
        absent_.pop_back();
    } else {
        ++fresh_;
    }
    ++provided_;
    idle_.push_back(physical);
    new_.insert(physical);
}

std::uint32_t LogBlocks::take_coldest() {
    expects(!idle_.empty(), "a block is idle");
    const std::uint32_t physical = idle_.front();
    idle_.pop_front();
    absent_.push_back(physical);
    new_.erase(physical);
    invariant(provided_ > 0, "a block that is taken away was there");
    --provided_;
    return physical;
}

void LogBlocks::close() {
    expects(!closed_, "a client goes once");
    closed_ = true;
    for (std::uint64_t number = first_; number < first_ + blocks_.size(); ++number) {
        if (finished(number) && blocks_[number - first_].physical) {
            idle_.push_back(*blocks_[number - first_].physical);
            blocks_[number - first_].physical.reset();
        }
    }
}

void LogBlocks::revoke(std::uint64_t begin) {
    while (leased_end_ > begin && leased_end_ > first_) {
        const std::size_t index = leased_end_ - 1 - first_;
        if (index < blocks_.size() && !blocks_[index].accounted.empty()) {
            return;  // `begin` follows from what the client says, and may be wrong
        }
        if (index < blocks_.size() && blocks_[index].physical) {
            idle_.push_back(*blocks_[index].physical);
            blocks_[index].physical.reset();
        }
        --leased_end_;
    }
}

}  // namespace forebay::pool
