// A merged vote has the worst value of each field; summaries and rates add up.
#include "collective/plan/agreement.hpp"

#include <algorithm>

namespace forebay::plan {

AgreementVote merge(const AgreementVote& a, const AgreementVote& b) noexcept {
    AgreementVote both;
    both.summary = merge(a.summary, b.summary);
    both.direct = merge(a.direct, b.direct);
    both.failure = first_of(a.failure, b.failure);
    both.end_of_file = std::min(a.end_of_file, b.end_of_file);
    both.refusal = std::max(a.refusal, b.refusal);
    both.cannot_bypass = std::max(a.cannot_bypass, b.cannot_bypass);
    both.view_has_holes = std::max(a.view_has_holes, b.view_has_holes);
    both.rates = merge(a.rates, b.rates);
    return both;
}

std::int64_t bytes_moved(const pattern::View& view, const pattern::ViewRange& request,
                         const AgreementVote& verdict, std::optional<std::int64_t> own_end) {
    const std::int64_t good = std::min(verdict.failure.at, own_end.value_or(verdict.end_of_file));
    if (good == FirstFailure::nowhere) {
        return request.length;
    }
    return std::clamp<std::int64_t>(view.bytes_below(Offset{good}) - request.position, 0,
                                    request.length);
}

}  // namespace forebay::plan
