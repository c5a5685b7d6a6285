// Finds a wait's bucket.
#include "pool/daemon/status/wait_histogram.hpp"

#include <algorithm>
#include <iterator>

namespace forebay::daemon {

void WaitHistogram::add(std::int64_t ns) noexcept {
    const auto* const bound = std::ranges::lower_bound(wait_bounds_ns, ns);
    ++counts.at(static_cast<std::size_t>(std::distance(wait_bounds_ns.begin(), bound)));
    total_ns += ns;
}

}  // namespace forebay::daemon
