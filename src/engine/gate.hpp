// The gate in front of each storage target: a bounded number of requests in flight (EARTH's k,
// Tsujita et al. 2015). A target is served by one aggregator, so the aggregator's own count is the
// job's count. Gates that pass turns among nodes, or that find k, will stand in the same place.
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <vector>

namespace forebay::engine {

class Gate {
public:
    virtual ~Gate() = default;
    // True: a request to `target` may start; leave() must follow when it has ended.
    [[nodiscard]] virtual bool try_enter(TargetId target) = 0;
    virtual void leave(TargetId target) = 0;
};

// A fixed k per target.
class FixedGate final : public Gate {
public:
    FixedGate(std::int32_t targets, std::int32_t in_flight_max)
        : in_flight_(static_cast<std::size_t>(targets), 0), most_{in_flight_max} {}

    [[nodiscard]] bool try_enter(TargetId target) override {
        std::int32_t& count = in_flight_.at(target.position());
        if (count >= most_) {
            return false;
        }
        ++count;
        return true;
    }
    void leave(TargetId target) override {
        std::int32_t& count = in_flight_.at(target.position());
        expects(count > 0, "only who entered leaves");
        --count;
    }

private:
    std::vector<std::int32_t> in_flight_;
    std::int32_t most_;
};

}  // namespace forebay::engine
