// Changes the word by the rules of collective/plan/attendance; ranks that wait sleep on the bell.
#include "collective/engine/rendezvous.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>

namespace forebay::engine {

namespace {

// At most 2^5 - 1 calls go by without an attempt.
constexpr std::uint32_t doublings_max = 5;
static_assert(plan::CallAttendance::calls % (1U << doublings_max) == 0,
              "numbers of calls start again at a multiple of all periods");

}  // namespace

RankRendezvous::RankRendezvous(ports::Communicator& communicator, const ports::TimeSource& clock,
                               std::uint32_t file)
    : communicator_{communicator},
      clock_{clock},
      node_segment_{communicator.node_memory(), communicator.place()},
      word_{node_segment_.header().attendances[file % SegmentHeader::attendances_max]},
      file_{file % plan::CallAttendance::files} {
    expects(communicator.place().nodes == 1, "ranks that meet in memory are on one node");
}

bool RankRendezvous::all_come(std::int64_t patience_ns) {
    const bool is_due = call_ % (1U << failures_) == 0;
    call_ = (call_ + 1) % plan::CallAttendance::calls;
    const auto ranks = static_cast<std::uint32_t>(communicator_.place().locals);
    if (patience_ns <= 0 || ranks < 2 || !is_due) {
        return false;
    }
    const bool together = join({.file = file_, .call = call_, .ranks = ranks}, patience_ns);
    failures_ = together ? 0 : std::min(failures_ + 1, doublings_max);
    return together;
}

bool RankRendezvous::join(const plan::RankArrival& me, std::int64_t patience_ns) {
    std::uint64_t seen = word_.load(std::memory_order_acquire);
    for (;;) {
        const auto now = plan::with_me(plan::unpacked(seen), me);
        if (!now) {
            return false;
        }
        if (word_.compare_exchange_weak(seen, plan::packed(*now), std::memory_order_acq_rel)) {
            if (now->meeting == plan::MeetingKind::open) {
                return wait(me, patience_ns) == plan::MeetingKind::together;
            }
            node_segment_.header().attendance_bell.fetch_add(1, std::memory_order_release);
            communicator_.wake(node_segment_.header().attendance_bell);
            return true;
        }
    }
}

plan::MeetingKind RankRendezvous::wait(const plan::RankArrival& me, std::int64_t patience_ns) {
    ports::Word& bell = node_segment_.header().attendance_bell;
    const std::int64_t until = clock_.now_ns() + patience_ns;
    for (;;) {
        const std::uint32_t rung = bell.load(std::memory_order_acquire);
        std::uint64_t seen = word_.load(std::memory_order_acquire);
        const plan::MeetingKind meeting = plan::of_call(plan::unpacked(seen), me);
        if (meeting != plan::MeetingKind::open) {
            return meeting;
        }
        if (clock_.now_ns() < until) {
            communicator_.wait_briefly(bell, rung);
            continue;
        }
        const std::uint64_t ended = plan::packed(plan::given_up(plan::unpacked(seen)));
        if (word_.compare_exchange_strong(seen, ended, std::memory_order_acq_rel)) {
            bell.fetch_add(1, std::memory_order_release);
            communicator_.wake(bell);
            return plan::MeetingKind::alone;
        }
    }
}

}  // namespace forebay::engine
