// Decides how a non-blocking collective call is carried out. No rank may wait for other ranks in
// it, so all of them must come to the same answer without a message: whether the MPI gets the call
// as a collective one follows only from facts that are the same on all ranks (decision 0021).
#pragma once

#include "collective/plan/refusal.hpp"

#include <cstdint>

namespace forebay::plan {

// Facts about an open file that are the same on every rank.
struct SharedFacts {
    bool pooled = false;  // the pool of rank 0's node covered the file when it was opened
    std::int32_t nodes = 1;
    bool disabled = false;  // settings at open disable collective calls of this direction
    bool atomic = false;
    // The MPI has moved bytes of the file in a collective call, and the ranks have not agreed on
    // anything since: although one rank has returned, another may still be writing on its behalf.
    bool mpi_under_way = false;
};

enum class CallCourse {
    itself,    // each rank moves its own pieces to or from the pool, within the call
    alone,     // as `itself`, but this rank makes the MPI's independent call
    together,  // the MPI's own collective call, on every rank
};

struct CourseChoice {
    CallCourse course = CallCourse::together;
    // With `together`, none means the function's own reason (functions.toml).
    Refusal why = Refusal::none;
    bool operator==(const CourseChoice&) const noexcept = default;
};

// `own`: a reason against the call that only this rank has.
[[nodiscard]] CourseChoice choose_course(const SharedFacts& facts, Refusal own) noexcept;

}  // namespace forebay::plan
