// See nonblocking.hpp.
#include "collective/plan/nonblocking.hpp"

namespace forebay::plan {

Choice choose_course(const SharedFacts& facts, Refusal own) noexcept {
    if (!facts.pooled) {
        return {Course::together, Refusal::none};
    }
    if (facts.disabled) {
        return {Course::together, Refusal::disabled};
    }
    if (facts.nodes > 1) {
        return {Course::together, Refusal::several_nodes};
    }
    if (facts.atomic) {
        return {Course::together, Refusal::atomic_mode};
    }
    if (facts.mpi_under_way) {
        return {Course::together, Refusal::none};
    }
    return own == Refusal::none ? Choice{Course::itself, own} : Choice{Course::alone, own};
}

}  // namespace forebay::plan
