// Keeps the locks as disjoint ranges, and guesses the next write of each rank.
#include "worlds/simgrid/extent_locks.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace forebay::adapters {

void ExtentLocks::goes_on(const LockRange& range) {
    const auto [found, fresh] = writers_.try_emplace(range.rank);
    if (!fresh) {
        nexts_.erase({found->second.next, range.rank});
    }
    found->second = {range.end, range.client};
    nexts_.emplace(range.end, range.rank);
}

bool ExtentLocks::use(const LockRange& range) {
    const auto after = locks_.upper_bound(range.begin);
    if (after == locks_.begin()) {
        return false;
    }
    const Lock& lock = std::prev(after)->second;
    if (lock.client != range.client || lock.end < range.end) {
        return false;
    }
    goes_on(range);
    return true;
}

// The largest range around `range` that no other client will write soon: another client that writes
// on sequentially ahead of it will need the bytes from there on.
LockRange ExtentLocks::free_around(const LockRange& range) const {
    LockRange most = range;
    most.begin = 0;
    most.end = std::numeric_limits<std::int64_t>::max();
    const auto is_other = [&](const auto& next) {
        return writers_.at(next.second).client != range.client;
    };
    const auto behind = nexts_.lower_bound({range.end, 0});
    const auto after = std::find_if(behind, nexts_.end(), is_other);
    if (after != nexts_.end()) {
        most.end = after->first;
    }
    const auto ahead = std::make_reverse_iterator(nexts_.lower_bound({range.begin + 1, 0}));
    const auto before = std::find_if(ahead, nexts_.rend(), is_other);
    if (before != nexts_.rend()) {
        most.begin = range.begin;
    }
    return most;
}

std::int32_t ExtentLocks::grant(const LockRange& range) {
    std::int32_t lost = 0;
    LockRange own = range;
    auto here = locks_.upper_bound(range.begin);
    if (here != locks_.begin() && std::prev(here)->second.end > range.begin) {
        --here;
    }
    while (here != locks_.end() && here->first < range.end) {
        if (here->second.client == range.client) {  // merged into the new lock
            own.begin = std::min(own.begin, here->first);
            own.end = std::max(own.end, here->second.end);
        } else {
            ++lost;
        }
        here = locks_.erase(here);
    }
    LockRange most = free_around(range);
    if (here != locks_.end()) {
        most.end = std::min(most.end, here->first);
    }
    if (here != locks_.begin()) {
        most.begin = std::max(most.begin, std::prev(here)->second.end);
    }
    if (locks_.size() > grow_before_max) {
        most.begin = range.begin;
    }
    if (locks_.size() > grow_freely_max) {
        most.end = std::min(most.end, range.begin + grown_bytes_max);
    }
    locks_.emplace(std::min(own.begin, most.begin),
                   Lock{std::max(own.end, most.end), range.client});
    goes_on(range);
    return lost;
}

}  // namespace forebay::adapters
