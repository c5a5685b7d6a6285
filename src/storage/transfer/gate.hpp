// The gate in front of each storage target: a bounded number of requests in flight (EARTH's k,
// Tsujita et al. 2015). Where a target is served by one aggregator, its own count is the job's
// count; where several share it, windows take turns there (collective/engine/token_forwarder), each
// with one request at a time, and nobody's own count matters.
#pragma once

#include "foundation/base/units.hpp"
#include "storage/policy/throttle.hpp"

#include <cstdint>
#include <vector>

namespace forebay::transfer {

class Gate {
public:
    virtual ~Gate() = default;
    // Not 0: a request to `target` may start, as so many-eth in flight there; leave() must follow
    // when it has ended.
    [[nodiscard]] virtual std::int32_t try_enter(TargetId target) = 0;
    virtual void leave(TargetId target, const plan::ServedRequest& service) = 0;
};

// A fixed k per target.
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

// A k per target that is fixed, or follows from how long its requests take; it is seen either way
// how fast the target is.
class ThrottledGate final : public Gate {
public:
    // `throttles`: one per target; outlives the gate, and keeps what was seen.
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
