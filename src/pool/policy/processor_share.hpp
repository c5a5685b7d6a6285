// Keeps the daemon to one processor in the long run, the time of the kernel's threads that write
// for it included: the others are the program's. It matters where files are written as fast as
// memory is copied; elsewhere the daemon waits most of the time.
#pragma once

#include <cstdint>

namespace forebay::pool {

class ProcessorShare {
public:
    static constexpr std::int64_t burst_ns = 50'000'000;  // beyond its share, after a rest
    // At most: reading ahead may take the processors, too, and does not rest.
    static constexpr std::int64_t rest_ns = 50'000'000;

    // Whether nothing is to be begun now. Both count from some point on.
    [[nodiscard]] bool rests(std::int64_t now_ns, std::int64_t processor_ns) noexcept;

private:
    std::int64_t now_ns_ = -1;  // at the last look; -1: there was none
    std::int64_t processor_ns_ = 0;
    std::int64_t beyond_ns_ = -burst_ns;  // processor time beyond the share
    std::int64_t rests_since_ns_ = -1;    // -1: it does not
};

}  // namespace forebay::pool
