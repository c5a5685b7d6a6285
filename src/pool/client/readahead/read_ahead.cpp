// A read that was predicted costs a few comparisons.
#include "pool/client/readahead/read_ahead.hpp"

#include <algorithm>
#include <span>

namespace forebay::pool {

namespace {

constexpr std::int32_t missed = 3;  // loss of confidence by a read that was not predicted
constexpr std::int32_t run_max = 1 << 30;
constexpr std::int64_t latency_ns = 50'000;  // a read slower than this plus …
constexpr std::int64_t bytes_per_us = 1000;  // … its bytes at this rate was not in the page cache
constexpr std::int32_t reads_max = 1024;     // predicted at a time
constexpr std::int64_t gap_max = 256 << 10;  // bytes between ranges that are fetched as one

constexpr std::int64_t down(std::int64_t at, std::int64_t to) noexcept { return at / to * to; }
std::int64_t up(std::int64_t at, std::int64_t to) noexcept {
    std::int64_t sum = 0;
    return __builtin_add_overflow(at, to - 1, &sum) ? down(INT64_MAX, to) : down(sum, to);
}

Extent between(std::int64_t begin, std::int64_t end) noexcept {
    return {Offset{begin}, Length{end - begin}};
}

}  // namespace

ReadAhead::Step ReadAhead::step_to(const Extent& read) const noexcept {
    if (read.begin.bytes() == end_) {
        return onwards;
    }
    return read.end().bytes() == begin_ ? backwards : read.begin.bytes() - begin_;
}

ReadAhead::Step ReadAhead::expected() const noexcept {
    return rows_ > 0 && run_ == row_ ? jump_ : step_;
}

void ReadAhead::learn(Step step) noexcept {
    if (step == step_) {
        run_ = std::min(run_ + 1, run_max);
        rows_ = run_ > row_ ? 0 : rows_;
    } else if (step == jump_ && run_ == row_) {
        rows_ = std::min(rows_ + 1, run_max);
        run_ = 0;
    } else if (rows_ > 1) {  // a jump of a higher order: the rows go on after it
        --rows_;
        run_ = 0;
    } else if (run_ > 0) {
        jump_ = step;
        row_ = run_;
        rows_ = 0;
        run_ = 0;
    } else {
        step_ = step;
        jump_ = 0;
        rows_ = 0;
        run_ = 1;
    }
}

void ReadAhead::doubt() noexcept {
    confidence_ = std::max(confidence_ - missed, 0);
    window_ = 1;
    left_ = 0;
    asked_ = {};
}

bool ReadAhead::sure() const noexcept {
    const bool along = step_ == onwards || step_ == backwards;
    return confidence_ >= (along ? 1 : 2);
}

int ReadAhead::direction() const noexcept {
    if (rows_ > 0) {
        return 0;
    }
    if (step_ == onwards || (step_ > 0 && step_ <= block)) {
        return 1;
    }
    return step_ == backwards || (step_ < 0 && step_ >= -block) ? -1 : 0;
}

PrefetchHints ReadAhead::note(const Extent& read, std::int32_t share) noexcept {
    PrefetchHints wishes;
    const Step step = step_to(read);
    if (read.empty() || (end_ >= 0 && step == 0)) {
        return wishes;  // reading the same again tells nothing
    }
    if (end_ >= 0) {
        if (step == expected()) {
            confidence_ = std::min(confidence_ + 1, confidence_max);
            left_ = std::max(left_ - 1, 0);
        } else {
            doubt();
        }
        learn(step);
        if (step == onwards) {
            confidence_ = std::max(confidence_, 1);
        }
    }
    begin_ = read.begin.bytes();
    end_ = read.end().bytes();
    if (!worthwhile() || share <= 0) {
        return wishes;
    }
    if (!sure()) {
        if (left_to_daemon_) {
            ask_for_itself(wishes);
        }
        return wishes;
    }
    const std::int32_t most = std::min(share, window_max);
    const std::int64_t window = std::min(window_, most) * block;
    if (const int way = direction(); way != 0) {
        left_ = 0;
        ask_along(way, window, wishes);
    } else {
        ask_in_steps(window, wishes);
    }
    if (wishes.count > 0) {
        window_ = std::min(2 * window_, most);
    }
    return wishes;
}

// Asks for the read itself; from the beginning of a block, the rest of it is likely to follow.
void ReadAhead::ask_for_itself(PrefetchHints& wishes) noexcept {
    asked_ = between(down(begin_, grain), up(end_, begin_ % block == 0 ? block : grain));
    wishes.ranges[wishes.count++] = asked_;
}

// Consecutive blocks: asks for more when half of what was asked for is read.
void ReadAhead::ask_along(int direction, std::int64_t window, PrefetchHints& wishes) noexcept {
    std::int64_t from = down(begin_, grain);
    std::int64_t to = up(end_, grain);
    if (direction > 0) {
        const std::int64_t known = asked_.end().bytes();
        const bool going = !asked_.empty() && asked_.begin.bytes() <= begin_ && known >= begin_;
        if (going && known - end_ >= window / 2) {
            return;
        }
        const std::int64_t first = going ? std::max(known, from) : from;
        to = up(saturated_sum(end_, window), block);
        asked_ = between(going ? asked_.begin.bytes() : from, to);
        from = first;
    } else {
        const std::int64_t known = asked_.begin.bytes();
        const bool going = !asked_.empty() && known <= end_ && asked_.end().bytes() >= end_;
        if (going && (begin_ - known >= window / 2 || known == 0)) {
            return;
        }
        const std::int64_t last = going ? std::min(known, to) : to;
        from = down(std::max<std::int64_t>(begin_ - window, 0), block);
        asked_ = between(from, going ? asked_.end().bytes() : to);
        to = last;
    }
    if (from < to) {
        wishes.ranges[wishes.count++] = between(from, to);
    }
}

// Advances `coming` by one predicted step. False: it would lie outside of any file.
bool ReadAhead::next_of(Coming& coming) const noexcept {
    const bool jumps = rows_ > 0 && coming.run == row_;
    const Step step = jumps ? jump_ : step_;
    const std::int64_t length = end_ - begin_;
    const std::int64_t by = step == onwards ? length : step == backwards ? -length : step;
    std::int64_t next = 0;
    if (__builtin_add_overflow(coming.begin, by, &next) || next < 0 ||
        next > INT64_MAX - length - block) {
        return false;
    }
    coming = {next, jumps ? 0 : std::min(coming.run + 1, run_max)};
    return true;
}

void ReadAhead::ask_in_steps(std::int64_t window, PrefetchHints& wishes) noexcept {
    if (left_ > depth_ / 2) {
        return;
    }
    const std::int64_t length = end_ - begin_;
    std::int64_t bytes = 0;
    bool more = true;
    if (left_ == 0) {
        coming_ = {begin_, run_};  // the present read itself
        depth_ = 0;
    }
    const std::int32_t before = left_;
    while (more && left_ - before < reads_max && (bytes < window || left_ < 2)) {
        const Extent range = between(down(coming_.begin, grain), up(coming_.begin + length, grain));
        Extent* const last = wishes.count > 0 ? &wishes.ranges[wishes.count - 1] : nullptr;
        if (last != nullptr && last->begin <= range.begin &&
            (range.begin - last->end()).bytes() <= gap_max) {
            const Offset end = std::max(last->end(), range.end());
            bytes += (end - last->end()).bytes();
            *last = {last->begin, end - last->begin};
        } else if (wishes.count < PrefetchHints::most) {
            wishes.ranges[wishes.count++] = range;
            bytes += range.length.bytes();
        } else {
            break;
        }
        ++left_;
        more = next_of(coming_);
    }
    for (Extent& range : std::span{wishes.ranges}.first(wishes.count)) {
        if (range.length.bytes() >= block / 2) {  // the rest of its blocks would be asked for soon
            range = between(down(range.begin.bytes(), block), up(range.end().bytes(), block));
        }
    }
    if (wishes.count > 0) {
        depth_ = left_;
        asked_ = before == 0 ? wishes.ranges[0] : asked_;
    }
    if (!more) {
        left_ = run_max;  // nothing follows
        depth_ = 0;
    }
}

bool ReadAhead::direct(std::int64_t bytes, std::int64_t took_ns) noexcept {
    const bool slow = took_ns > latency_ns + bytes * 1000 / bytes_per_us;
    worth_ = slow ? std::min(worth_ + 2, worth_max) : std::max(worth_ - 1, 0);
    return slow;
}

}  // namespace forebay::pool
