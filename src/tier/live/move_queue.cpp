// A heap for each reason to move a file. Those that time alone brings into another heap wait in one
// by that time.
#include "tier/live/move_queue.hpp"

#include <limits>

namespace forebay::tier {

namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

std::int64_t sum_of(std::int64_t time_ns, std::int64_t more_ns) noexcept {
    return time_ns > never - more_ns ? never : time_ns + more_ns;
}

template <class Heap, class Row>
void take_out(Heap& heap, Row& row, std::uint32_t& place, std::uint32_t none) {
    if (place != none) {
        heap.remove(row);
        place = none;
    }
}

}  // namespace

std::size_t MoveQueue::NameHash::operator()(const ReplicaName& name) const noexcept {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
    return static_cast<std::size_t>((name.file_system ^ name.inode) * golden);
}

void MoveQueue::enter(Row& row, std::int64_t now_ns) {
    ++looked_at_;
    const MoveCandidate& one = row.second.candidate;
    if (one.under_way) {
        return;
    }
    if (one.asked) {
        asked_.insert(row);
        return;
    }
    row.second.due_ns = never;
    if (now_ns < one.retry_ns) {
        row.second.due_ns = one.retry_ns;
    } else {
        largest_.insert(row);
        if (one.trigger != MoveTrigger::manual) {
            oldest_.insert(row);
        }
        if (why_to_move(one, {.now_ns = now_ns}) == MoveReason::trigger) {
            triggered_.insert(row);
        } else if (one.trigger == MoveTrigger::at_idle) {
            row.second.due_ns = sum_of(one.written_ns, one.idle_ns);
        }
    }
    if (row.second.due_ns != never) {
        due_.insert(row);
    }
}

void MoveQueue::leave(Row& row) {
    Places& places = row.second.places;
    take_out(asked_, row, places.asked, none);
    take_out(due_, row, places.due, none);
    take_out(largest_, row, places.largest, none);
    take_out(oldest_, row, places.oldest, none);
    take_out(triggered_, row, places.triggered, none);
}

void MoveQueue::put(const ReplicaName& name, const MoveCandidate& candidate) {
    Row& row = *entries_.try_emplace(name).first;
    leave(row);
    row.second.candidate = candidate;
    enter(row, now_ns_);
}

void MoveQueue::remove(const ReplicaName& name) {
    if (const auto found = entries_.find(name); found != entries_.end()) {
        leave(*found);
        entries_.erase(found);
    }
}

std::optional<ReplicaName> MoveQueue::first(const MoveSituation& situation) {
    now_ns_ = situation.now_ns;
    while (!due_.empty() && due_[0].second.due_ns <= now_ns_) {
        Row& row = *entries_.find(due_[0].first);
        leave(row);
        enter(row, now_ns_);
    }
    const auto is_too_old = [&](const Row& row) {
        return situation.age_max_ns != 0 &&
               situation.now_ns - row.second.candidate.dirtied_ns >= situation.age_max_ns;
    };
    if (!asked_.empty()) {
        return asked_[0].first;
    }
    if (!oldest_.empty() && (situation.job_ends || is_too_old(oldest_[0]))) {
        return oldest_[0].first;
    }
    if (!largest_.empty() && situation.pressed) {
        return largest_[0].first;
    }
    return triggered_.empty() ? std::nullopt : std::optional{triggered_[0].first};
}

}  // namespace forebay::tier
