#include "pool/daemon/memory/budget.hpp"

#include "foundation/kernel/calls.hpp"

#include <algorithm>
#include <limits>
#include <sys/resource.h>

namespace forebay::daemon {

namespace {

int limit_of_this_process() noexcept {
    constexpr rlim_t most = std::numeric_limits<int>::max();
    return static_cast<int>(std::min(kernel::limit_of(RLIMIT_NOFILE), most));
}

}  // namespace

DescriptorBudget::DescriptorBudget() noexcept : DescriptorBudget{limit_of_this_process()} {}

DescriptorBudget::DescriptorBudget(int limit) noexcept
    : soon_{limit / 4 * 3},
      most_{std::max(limit - std::max(limit / 8, kept_min), 0)},
      logs_{std::max(limit - std::max(limit / 16, kept_for_outsiders_min), 0)} {}

}  // namespace forebay::daemon
