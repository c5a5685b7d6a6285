// Derives thresholds for open descriptors from RLIMIT_NOFILE.
#include "pool/daemon/memory/budget.hpp"

#include "foundation/kernel/calls.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <sys/resource.h>
#include <system_error>

namespace forebay::daemon {

namespace {

// The soft limit of RLIMIT_NOFILE.
int limit_of_this_process() noexcept {
    constexpr rlim_t most = std::numeric_limits<int>::max();
    return static_cast<int>(std::min(kernel::limit_of(RLIMIT_NOFILE), most));
}

}  // namespace

DescriptorBudget::DescriptorBudget() noexcept : DescriptorBudget{limit_of_this_process()} {}

DescriptorBudget::DescriptorBudget(int limit) noexcept
    : soon_{limit / 4 * 3}, most_{std::max(limit - std::max(limit / 8, kept_min), 0)} {}

DescriptorBudget::Means DescriptorBudget::means_of_one_more(int in_use, int limit) noexcept {
    if (in_use < limit - std::max(limit / 16, kept_for_outsiders_min)) {
        return Means::log;
    }
    return in_use < limit - kept_for_a_moment ? Means::socket : Means::none;
}

// Counts the entries of /proc/self/fd. The number of a new descriptor, the lowest free one, would
// not tell, since there may be many above it.
DescriptorBudget::Means DescriptorBudget::means_of_one_more() noexcept {
    std::error_code none;
    std::filesystem::directory_iterator each{"/proc/self/fd", none};
    if (none) {
        return Means::none;
    }
    int in_use = 0;
    for (const std::filesystem::directory_iterator end; !none && each != end;
         each.increment(none)) {
        ++in_use;
    }
    return none ? Means::none : means_of_one_more(in_use, limit_of_this_process());
}

}  // namespace forebay::daemon
