// A rendezvous of the ranks of a node at a non-blocking collective call: they carry it out together
// if all of them come to it soon. They meet in the node segment, and need nothing of a call that is
// under way.
#pragma once

#include "collective/engine/node_segment.hpp"
#include "collective/plan/attendance.hpp"
#include "foundation/ports/clock.hpp"
#include "foundation/ports/communicator.hpp"

#include <atomic>
#include <cstdint>

namespace forebay::engine {

class RankRendezvous {
public:
    // `file`: a number that differs for each file that the same ranks open, and is the same on all
    // of them. Both references outlive the object.
    RankRendezvous(ports::Communicator& communicator, const ports::TimeSource& clock,
                   std::uint32_t file);

    // Whether all ranks have come to this call, each before the patience of another ran out. All
    // ranks get the same answer; a rank that is alone on its node gets false. Each rank asks once
    // for each call, in the same order. patience_ns 0: this rank takes no part. Contract: all ranks
    // are on one node.
    [[nodiscard]] bool all_come(std::int64_t patience_ns);

private:
    [[nodiscard]] bool join(const plan::RankArrival& me, std::int64_t patience_ns);
    [[nodiscard]] plan::MeetingKind wait(const plan::RankArrival& me, std::int64_t patience_ns);

    ports::Communicator& communicator_;
    const ports::TimeSource& clock_;
    NodeSegment node_segment_;
    std::atomic<std::uint64_t>& word_;
    std::uint32_t file_;
    std::uint32_t call_ = 0;
    // Exponential backoff: how many attempts in a row have failed. After n of them, the rank takes
    // part only in calls whose number is a multiple of 2^n. All ranks count the same calls, so
    // ranks with different n still come to the same ones: the multiples of the largest 2^n. (If
    // each counted calls from its own last failure, they could miss one another for ever.)
    std::uint32_t failures_ = 0;
};

}  // namespace forebay::engine
