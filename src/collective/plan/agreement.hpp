// How ranks agree: each puts in a vote at the start and at the end of a call; votes of ranks
// merge into that of a node, and those of nodes into that of the job, which everyone then acts on.
#pragma once

#include "collective/plan/rates.hpp"
#include "collective/plan/refusal.hpp"
#include "collective/plan/summary.hpp"
#include "foundation/pattern/view.hpp"
#include "storage/policy/failure.hpp"

#include <cstdint>
#include <optional>

namespace forebay::plan {

// The vote of a rank, a node or the job. Plain bytes: it travels through shared memory and messages
// as it is.
struct AgreementVote {
    Summary summary;  // of what is to be moved
    Summary direct;   // of what has been moved by the rank itself, before the start
    FirstFailure failure;
    std::int64_t end_of_file = FirstFailure::nowhere;  // reads: where the file was found to end
    Refusal refusal = Refusal::none;
    std::uint32_t cannot_bypass = 0;   // could not open the file for it
    std::uint32_t view_has_holes = 0;  // or may have
    TargetRates rates;

    bool operator==(const AgreementVote&) const noexcept = default;
};

[[nodiscard]] AgreementVote merge(const AgreementVote& a, const AgreementVote& b) noexcept;

// Bytes of a rank's request that were moved when all is over: those that lie below the first error
// and the file's end. `own_end`: where this rank found the file to end by itself; it then knows
// better than the others.
[[nodiscard]] std::int64_t bytes_moved(const pattern::View& view, const pattern::ViewRange& request,
                                       const AgreementVote& verdict,
                                       std::optional<std::int64_t> own_end);

}  // namespace forebay::plan
