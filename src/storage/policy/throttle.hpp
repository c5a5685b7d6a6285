// Finds how many requests a storage target likes to have in flight (EARTH's k, whose choice Tsujita
// et al., 2015, left open) from nothing but how long requests take. Plain bytes: it travels with a
// target's turns, and is kept from call to call.
//
// By Little's law a target with k requests in flight that take R each delivers k · bytes / R. That
// rate, as a function of k, rises, has one top and falls (Gunther's universal scalability law:
// contention and coherence make every such curve so). A climb over such a curve converges: it
// raises k by half while the rate rises, and halves the bracket around the best when it does not.
// Every round of observation raises the best rate by `rise`, or shrinks the bracket; after
// `rounds_max` it settles with the best it has. Then it probes a neighbour from time to time, and
// begins anew when that is better, or when the target has become another one. A k that nobody has
// in flight is not stayed at: finding goes on from the most that anybody has.
#pragma once

#include "storage/policy/tuning.hpp"

#include <cstdint>

namespace forebay::plan {

// One request that a target has dealt with.
struct ServedRequest {
    std::int64_t bytes = 0;  // moved; 0: it failed, or was beyond the file's end
    std::int64_t nanoseconds = 0;
    std::int32_t in_flight = 1;  // at its target when it was started, itself included
};

// The k found for a target, or for the targets of a file on average.
struct FoundLimit {
    std::int32_t limit = 0;  // k; 0: nothing was found
    double rate = 0;         // bytes per second with it; 0: it may have changed since

    bool operator==(const FoundLimit&) const noexcept = default;
};

class Throttle {
public:
    static constexpr double rise = 0.03;   // more k is worth it from this gain on
    static constexpr double fall = 0.01;   // less k is preferred up to this loss
    static constexpr double change = 1.5;  // a rate that differs by this factor is news
    static constexpr std::int32_t rounds_max = 8;
    static constexpr std::int32_t observed_min = 8;      // requests in a round of observation
    static constexpr double margin = 0.06;               // nearer to a decision, more are observed
    static constexpr std::int32_t patience = 4;          // and so many times as many at most
    static constexpr std::int32_t settled_rounds = 24;   // between two probes
    static constexpr std::int32_t rechecked_rounds = 2;  // before the first one of what was known
    static constexpr std::int32_t limit_max = 64;
    static constexpr std::int32_t rated_max = 64;  // of the usual rate; then the old count half

    Throttle() = default;
    // Never changes.
    [[nodiscard]] static Throttle fixed(std::int32_t limit) noexcept;
    // Begins at `first`.
    [[nodiscard]] static Throttle finding(std::int32_t first) noexcept;
    // Takes what was found before for right, and looks at it again soon; without a rate it begins
    // there and finds anew.
    [[nodiscard]] static Throttle knowing(const FoundLimit& found) noexcept;

    // A target's, at the start of a job: k as `tuning` gives it, or found, beginning with what is
    // `known` of the file system.
    [[nodiscard]] static Throttle first(const Tuning& tuning, const FoundLimit& known) noexcept;

    // Requests that may be in flight now.
    [[nodiscard]] std::int32_t limit() const noexcept { return limit_; }
    void observe(const ServedRequest& service) noexcept;

    [[nodiscard]] bool finds() const noexcept { return finds_; }
    [[nodiscard]] bool settled() const noexcept { return settled_; }
    // Settled by what was observed of the target; not only remembered, nor only because nobody had
    // more requests: that says something of the job.
    [[nodiscard]] bool found() const noexcept { return settled_ && !remembered_ && !scarce_; }
    // The best so far, and the rate that was observed with it in bytes per second; 0: none yet.
    [[nodiscard]] std::int32_t best() const noexcept { return finds_ ? best_ : limit_; }
    [[nodiscard]] double rate() const noexcept { return best_rate_; }
    // How fast the target lately was, whatever was in flight, also where nothing is to be found:
    // the geometric mean of its requests' rates by Little's law, in bytes per second, which one
    // stall among many does not change much. 0: of too few requests.
    [[nodiscard]] double usual_rate() const noexcept;
    // Rounds of observation until it settled for the last time.
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
    bool remembered_ = false;  // and not looked at yet
    bool scarce_ = false;      // above_ is what nobody had, not what was worse
    std::int32_t limit_ = 1;
    std::int32_t best_ = 1;
    std::int32_t above_ = 0;  // the least that is known to be no better; 0: none
    std::int32_t below_ = 0;  // the most below the best that is known to be worse
    std::int32_t rounds_ = 0;
    std::int32_t quiet_rounds_ = 0;  // since the last probe
    std::int32_t skip_ = 0;          // requests of the time before
    std::int32_t observed_ = 0;
    // Requests that found fewer in flight than are allowed: of a try of more, all; else since the
    // last one that did not. And the most that any of them found.
    std::int32_t unfilled_ = 0;
    std::int32_t unfilled_most_ = 0;
    std::int32_t most_seen_ = 0;
    std::int32_t probes_ = 0;
    double best_rate_ = 0;
    double bytes_ = 0;
    double nanoseconds_ = 0;
    double log_rates_ = 0;  // sum over the rated requests
    std::int32_t rated_ = 0;
};

}  // namespace forebay::plan
