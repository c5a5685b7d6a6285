// Finds the number of requests in flight at which a storage target is fastest (EARTH's k, whose
// choice Tsujita et al., 2015, left open), from nothing but the durations of requests. A throttle
// is trivially copyable: it is sent to the next aggregator with the target's turn, and is kept from
// call to call.
//
// By Little's law, a target with k requests in flight that take R each delivers k · bytes / R. This
// rate, as a function of k, rises to one maximum and falls (Gunther's universal scalability law:
// contention and coherence make every such curve so), so that hill climbing converges. k is raised
// by half while the rate rises; then the bracket around the best k is bisected. Each round of
// observation raises the best rate by at least `rise` or shrinks the bracket; after `rounds_max`
// rounds the throttle settles on the best k. From time to time it then probes a neighbouring k, and
// starts the search again if that is clearly better, or if the target's rate has changed. If the
// program never has k requests in flight, the search continues from the most that it has.
#pragma once

#include "storage/policy/tuning.hpp"

#include <cstdint>

namespace forebay::plan {

// A request that a target has completed.
struct ServedRequest {
    std::int64_t bytes = 0;  // moved; 0: the request failed or was beyond the end of file
    std::int64_t nanoseconds = 0;
    std::int32_t in_flight = 1;  // at its target when it started, including itself
};

// The k found for a target, or the mean over the targets of a file.
struct FoundLimit {
    std::int32_t limit = 0;  // k; 0: not found
    double rate = 0;         // bytes per second at this k; 0: too old to be trusted

    bool operator==(const FoundLimit&) const noexcept = default;
};

class Throttle {
public:
    static constexpr double rise = 0.03;  // a larger k is taken from this relative gain on
    static constexpr double fall = 0.01;  // a smaller k is taken up to this relative loss
    // The target has changed if its rate differs by this factor.
    static constexpr double change = 1.5;
    static constexpr std::int32_t rounds_max = 8;
    // Requests in a round of observation, or 2 k if that is more.
    static constexpr std::int32_t observed_min = 8;
    // If the gain is this close to a threshold, the round is extended.
    static constexpr double margin = 0.06;
    static constexpr std::int32_t patience = 4;         // at most to this multiple of its requests
    static constexpr std::int32_t settled_rounds = 24;  // rounds between two probes
    // Rounds before the first probe of a remembered k.
    static constexpr std::int32_t rechecked_rounds = 2;
    static constexpr std::int32_t limit_max = 64;
    // Requests in the usual rate; then the weight of all so far is halved.
    static constexpr std::int32_t rated_max = 64;

    Throttle() = default;
    // A throttle with a constant k.
    [[nodiscard]] static Throttle fixed(std::int32_t limit) noexcept;
    // A throttle that searches for k, starting at `first`.
    [[nodiscard]] static Throttle finding(std::int32_t first) noexcept;
    // A throttle that starts settled on an earlier run's k, and probes it soon. If `found` has no
    // rate, it searches, starting at that k.
    [[nodiscard]] static Throttle knowing(const FoundLimit& found) noexcept;

    // The throttle of a target at the start of a job: k is given by `tuning`, or searched for,
    // starting with the k `known` for the file system.
    [[nodiscard]] static Throttle first(const Tuning& tuning, const FoundLimit& known) noexcept;

    // The present k: how many requests may be in flight now.
    [[nodiscard]] std::int32_t limit() const noexcept { return limit_; }
    void observe(const ServedRequest& service) noexcept;

    [[nodiscard]] bool finds() const noexcept { return finds_; }
    [[nodiscard]] bool settled() const noexcept { return settled_; }
    // Whether k was determined by observing the target. False while k is only remembered, and if
    // the search ended because the job had no more requests, which says nothing of the target.
    [[nodiscard]] bool found() const noexcept { return settled_ && !remembered_ && !scarce_; }
    // The best k so far, and the rate observed with it in bytes per second; 0: none yet.
    [[nodiscard]] std::int32_t best() const noexcept { return finds_ ? best_ : limit_; }
    [[nodiscard]] double rate() const noexcept { return best_rate_; }
    // The target's recent rate with whatever was in flight, also for a constant k: the geometric
    // mean of the requests' rates by Little's law, in bytes per second, which is robust against
    // single stalls. 0: too few requests.
    [[nodiscard]] double usual_rate() const noexcept;
    // Rounds of observation until the throttle settled last.
    [[nodiscard]] std::int32_t rounds() const noexcept { return rounds_; }

private:
    void rate(const ServedRequest& service) noexcept;
    void count_unfilled(std::int32_t in_flight) noexcept;
    void fall_back(std::int32_t most) noexcept;
    [[nodiscard]] bool unclear(double rate) const noexcept;
    void decide(double rate) noexcept;
    void judge_settled(double rate) noexcept;
    void probe() noexcept;
    void search_on() noexcept;
    void try_out(std::int32_t limit) noexcept;
    void begin_anew() noexcept;
    [[nodiscard]] std::int32_t needed() const noexcept;

    bool finds_ = false;
    bool settled_ = false;
    bool remembered_ = false;  // settled by an earlier run, not confirmed yet
    bool scarce_ = false;      // above_ is more than the job has in flight, not a worse k
    std::int32_t limit_ = 1;
    std::int32_t best_ = 1;
    std::int32_t above_ = 0;  // the smallest k above best_ known to be no better; 0: none
    std::int32_t below_ = 0;  // the largest k below best_ known to be worse; 0: none
    std::int32_t rounds_ = 0;
    std::int32_t quiet_rounds_ = 0;  // settled rounds since the last probe
    std::int32_t skip_ = 0;          // requests to ignore, which started under the previous k
    std::int32_t observed_ = 0;
    // Requests that found fewer than limit_ in flight (counted since the change of limit_, or, if
    // limit_ is not above best_, since the last request that found limit_), and the most that any
    // of them found.
    std::int32_t unfilled_ = 0;
    std::int32_t unfilled_most_ = 0;
    std::int32_t most_seen_ = 0;
    std::int32_t probes_ = 0;
    double best_rate_ = 0;
    double bytes_ = 0;
    double nanoseconds_ = 0;
    double log_rates_ = 0;  // sum over rated_ requests
    std::int32_t rated_ = 0;
};

}  // namespace forebay::plan
