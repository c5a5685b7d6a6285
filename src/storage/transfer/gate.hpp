// The gate of each storage target bounds its requests in flight (EARTH's k, Tsujita et al. 2015).
// If one aggregator serves a target, its own count is the job's count. If several share a target,
// their windows take turns (collective/engine/token_forwarder) with one request each at a time, and
// the count of a single aggregator does not matter.
#pragma once

#include "foundation/base/units.hpp"
#include "storage/policy/throttle.hpp"

#include <cstdint>
#include <vector>

namespace forebay::transfer {

class Gate {
public:
    virtual ~Gate() = default;
    // Admits a request to `target`: returns the number of requests in flight there, including this
    // one, and leave() must follow when it has ended. 0: not admitted.
    [[nodiscard]] virtual std::int32_t try_enter(TargetId target) = 0;
    virtual void leave(TargetId target, const plan::ServedRequest& service) = 0;
};

// A gate with a constant k for each target.
class FixedGate final : public Gate {
public:
    FixedGate(std::int32_t targets, std::int32_t in_flight_max)
        : in_flight_(static_cast<std::size_t>(targets), 0), most_{in_flight_max} {}

    [[nodiscard]] std::int32_t try_enter(TargetId target) override {
        std::int32_t& count = in_flight_.at(target.position());
        return count >= most_ ? 0 : ++count;
    }
    void leave(TargetId target, const plan::ServedRequest& /*service*/) override {
        std::int32_t& count = in_flight_.at(target.position());
        expects(count > 0, "only who entered leaves");
        --count;
    }

private:
    std::vector<std::int32_t> in_flight_;
    std::int32_t most_;
};

// A gate whose k is the target's throttle's: constant, or found from the requests' durations.
// Either way the throttle measures the target's rate.
class ThrottledGate final : public Gate {
public:
    // `throttles` has one per target, outlives the gate, and keeps what was measured.
    explicit ThrottledGate(std::vector<plan::Throttle>& throttles)
        : throttles_{throttles}, in_flight_(throttles.size(), 0) {}

    [[nodiscard]] std::int32_t try_enter(TargetId target) override {
        std::int32_t& count = in_flight_.at(target.position());
        return count >= throttles_[target.position()].limit() ? 0 : ++count;
    }
    void leave(TargetId target, const plan::ServedRequest& service) override {
        std::int32_t& count = in_flight_.at(target.position());
        expects(count > 0, "only who entered leaves");
        --count;
        if (service.bytes > 0) {
            throttles_[target.position()].observe(service);
        }
    }

private:
    std::vector<plan::Throttle>& throttles_;
    std::vector<std::int32_t> in_flight_;
};

}  // namespace forebay::transfer
