// A chain of conditions; only the last one may differ between ranks.
#include "collective/plan/nonblocking.hpp"

namespace forebay::plan {

CourseChoice choose_course(const SharedFacts& facts, Refusal own) noexcept {
    if (!facts.pooled) {
        return {CallCourse::together, Refusal::none};
    }
    if (facts.disabled) {
        return {CallCourse::together, Refusal::disabled};
    }
    if (facts.nodes > 1) {
        return {CallCourse::together, Refusal::several_nodes};
    }
    if (facts.atomic) {
        return {CallCourse::together, Refusal::atomic_mode};
    }
    if (facts.mpi_under_way) {
        return {CallCourse::together, Refusal::none};
    }
    return own == Refusal::none ? CourseChoice{CallCourse::itself, own}
                                : CourseChoice{CallCourse::alone, own};
}

}  // namespace forebay::plan
