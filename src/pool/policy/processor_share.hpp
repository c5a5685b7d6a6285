// A rate limiter (token bucket) that keeps the daemon to one processor in the long run, including
// the time of kernel threads that write for it: the other processors belong to the program. It
// matters if files are written as fast as memory is copied; else the daemon mostly waits for
// storage.
#pragma once

#include <cstdint>

namespace forebay::pool {

class ProcessorShare {
public:
    // Processor time that the daemon may use beyond its share at a time.
    static constexpr std::int64_t burst_ns = 50'000'000;
    // A rest is no longer than this: read-ahead, which is not limited, may use the processor time
    // alone.
    static constexpr std::int64_t rest_ns = 50'000'000;

    // Whether the daemon shall start no request now. `now_ns` and `processor_ns` (used by the
    // process) are nanoseconds since any fixed moments.
    [[nodiscard]] bool rests(std::int64_t now_ns, std::int64_t processor_ns) noexcept;

private:
    std::int64_t now_ns_ = -1;  // at the last call; -1: there was none
    std::int64_t processor_ns_ = 0;
    std::int64_t beyond_ns_ = -burst_ns;  // processor time used beyond the share
    std::int64_t rests_since_ns_ = -1;    // start of the current rest; -1: none
};

}  // namespace forebay::pool
