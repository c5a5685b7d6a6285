// How a non-blocking collective call is carried out. Nobody may wait for other ranks in it, so all
// of them must come to the same answer without asking: whether the MPI gets the call as a
// collective one follows only from what is the same on all ranks (decision 0021).
#pragma once

#include "collective/plan/refusal.hpp"

#include <cstdint>

namespace forebay::plan {

// Facts about an open file that are the same on every rank.
struct SharedFacts {
    bool pooled = false;  // when it was opened, on rank 0's node
    std::int32_t nodes = 1;
    bool disabled = false;  // collective calls of this direction, when it was opened
    bool atomic = false;
    // The MPI has moved bytes of the file for all ranks, and they have not agreed on anything
    // since: one rank has returned, another may still be writing for it.
    bool mpi_under_way = false;
};

enum class CallCourse {
    itself,    // each rank moves its own pieces to or from the pool, within the call
    alone,     // as `itself`, but this rank has the MPI do it, by the independent call
    together,  // the MPI's own collective call, on every rank
};

struct CourseChoice {
    CallCourse course = CallCourse::together;
    Refusal why = Refusal::none;  // none: the function's own reason, where it is `together`
    bool operator==(const CourseChoice&) const noexcept = default;
};

// `own`: what only this rank has against the call.
[[nodiscard]] CourseChoice choose_course(const SharedFacts& facts, Refusal own) noexcept;

}  // namespace forebay::plan
