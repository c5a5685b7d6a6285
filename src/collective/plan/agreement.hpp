// How ranks agree: an all-reduce of votes at the start and at the end of a call. The votes of ranks
// merge into that of a node, and those of nodes into that of the job, on which every rank then
// acts.
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
    Summary summary;  // bytes that are still to be moved
    Summary direct;   // bytes that ranks moved by themselves before this vote
    FirstFailure failure;
    // Reads: the offset at which the file was found to end.
    std::int64_t end_of_file = FirstFailure::nowhere;
    Refusal refusal = Refusal::none;
    std::uint32_t cannot_bypass = 0;   // 1: a rank could not open the file for a bypass
    std::uint32_t view_has_holes = 0;  // 1: the view of a rank has holes, or may have
    TargetRates rates;

    bool operator==(const AgreementVote&) const noexcept = default;
};

[[nodiscard]] AgreementVote merge(const AgreementVote& a, const AgreementVote& b) noexcept;

// The bytes of a rank's request that count as moved at the end of a call: those that lie below the
// first error and below the file's end. `own_end`: the end of file that this rank met by itself
// (nullopt: it met none); it is more exact for this rank than that of the verdict.
[[nodiscard]] std::int64_t bytes_moved(const pattern::View& view, const pattern::ViewRange& request,
                                       const AgreementVote& verdict,
                                       std::optional<std::int64_t> own_end);

}  // namespace forebay::plan
