// Adds up the processor time used beyond real time, and asks for rests while that is positive.
#include "pool/policy/processor_share.hpp"

#include <algorithm>

namespace forebay::pool {

bool ProcessorShare::rests(std::int64_t now_ns, std::int64_t processor_ns) noexcept {
    if (now_ns_ >= 0) {
        const std::int64_t more = (processor_ns - processor_ns_) - (now_ns - now_ns_);
        beyond_ns_ = std::max(beyond_ns_ + more, -burst_ns);
    }
    now_ns_ = now_ns;
    processor_ns_ = processor_ns;
    if (rests_since_ns_ >= 0 && now_ns - rests_since_ns_ >= rest_ns) {
        beyond_ns_ = 0;
    }
    if (beyond_ns_ <= 0) {
        rests_since_ns_ = -1;
    } else if (rests_since_ns_ < 0) {
        rests_since_ns_ = now_ns;
    }
    return beyond_ns_ > 0;
}

}  // namespace forebay::pool
