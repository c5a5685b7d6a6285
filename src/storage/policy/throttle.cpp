// The rounds of observation, and the decision after each round.
#include "storage/policy/throttle.hpp"

#include <algorithm>
#include <cmath>

namespace forebay::plan {

Throttle Throttle::fixed(std::int32_t limit) noexcept {
    Throttle throttle;
    throttle.limit_ = std::max(limit, 1);
    throttle.best_ = throttle.limit_;
    return throttle;
}

Throttle Throttle::finding(std::int32_t first) noexcept {
    Throttle throttle;
    throttle.finds_ = true;
    throttle.limit_ = std::clamp(first, 1, limit_max);
    throttle.best_ = throttle.limit_;
    return throttle;
}

Throttle Throttle::knowing(const FoundLimit& found) noexcept {
    Throttle throttle = finding(found.limit);
    if (found.rate > 0) {
        throttle.settled_ = true;
        throttle.remembered_ = true;
        throttle.best_rate_ = found.rate;
        throttle.most_seen_ = throttle.limit_;
        throttle.quiet_rounds_ = settled_rounds - rechecked_rounds;
    }
    return throttle;
}

Throttle Throttle::first(const Tuning& tuning, const FoundLimit& known) noexcept {
    if (!tuning.finds_limit()) {
        return fixed(tuning.requests_in_flight);
    }
    return known.limit > 0 ? knowing(known) : finding(first_requests_in_flight);
}

std::int32_t Throttle::needed() const noexcept { return std::max(observed_min, 2 * limit_); }

double Throttle::usual_rate() const noexcept {
    return rated_ < observed_min ? 0 : std::exp(log_rates_ / rated_);
}

void Throttle::rate(const ServedRequest& service) noexcept {
    const double nanoseconds = static_cast<double>(std::max<std::int64_t>(service.nanoseconds, 1));
    const double bytes = static_cast<double>(std::max<std::int64_t>(service.bytes, 1));
    if (rated_ == rated_max) {
        rated_ /= 2;
        log_rates_ /= 2;
    }
    ++rated_;
    log_rates_ += std::log(std::max(service.in_flight, 1) * bytes * 1e9 / nanoseconds);
}

void Throttle::observe(const ServedRequest& service) noexcept {
    rate(service);
    most_seen_ = std::max(most_seen_, service.in_flight);
    if (finds_ && service.in_flight != limit_) {
        if (service.in_flight < limit_) {
            count_unfilled(service.in_flight);
        }
        return;
    }
    if (limit_ <= best_) {
        unfilled_ = 0;
        unfilled_most_ = 0;
    }
    if (skip_ > 0) {
        --skip_;
        return;
    }
    bytes_ += static_cast<double>(service.bytes);
    nanoseconds_ += static_cast<double>(std::max<std::int64_t>(service.nanoseconds, 1));
    if (++observed_ < needed()) {
        return;
    }
    const double rate = limit_ * bytes_ * 1e9 / nanoseconds_;
    if (observed_ < patience * needed() && unclear(rate)) {
        return;
    }
    bytes_ = 0;
    nanoseconds_ = 0;
    observed_ = 0;
    if (!finds_) {
        best_rate_ = rate;
    } else if (settled_) {
        judge_settled(rate);
    } else {
        decide(rate);
    }
}

// Counts a request that found fewer in flight than limit_. After enough of them, the program
// evidently has no more concurrent requests, so a larger k cannot be tried.
void Throttle::count_unfilled(std::int32_t in_flight) noexcept {
    unfilled_most_ = std::max(unfilled_most_, in_flight);
    if (++unfilled_ < 2 * needed()) {
        return;
    }
    if (limit_ <= best_) {
        fall_back(unfilled_most_);
    } else if (settled_) {
        try_out(best_);
    } else {
        above_ = limit_;
        scarce_ = true;
        ++rounds_;
        search_on();
    }
}

// Continues with a lower k: the first value, or the remembered one, exceeds the number of requests
// that this job has in flight, or the job has fewer now.
void Throttle::fall_back(std::int32_t most) noexcept {
    best_ = most;
    begin_anew();
    above_ = most + 1;
    scarce_ = true;
}

// Whether the measured gain is too close to the decision's threshold for so few requests, whose
// durations vary by a tenth and more.
bool Throttle::unclear(double rate) const noexcept {
    if (best_rate_ == 0) {
        return observed_ < 2 * needed();
    }
    const double gain = rate / best_rate_ - 1;
    return finds_ && limit_ != best_ && std::abs(gain - (limit_ > best_ ? rise : -fall)) < margin;
}

void Throttle::decide(double rate) noexcept {
    ++rounds_;
    if (best_rate_ == 0) {
        best_rate_ = rate;
    } else if (limit_ > best_) {
        if (rate > best_rate_ * (1 + rise)) {
            below_ = best_;
            best_ = limit_;
            best_rate_ = rate;
        } else {
            above_ = limit_;
            scarce_ = false;
        }
    } else if (rate > best_rate_ * (1 - fall)) {
        above_ = best_;
        scarce_ = false;
        best_ = limit_;
        best_rate_ = std::max(rate, best_rate_);
    } else {
        below_ = limit_;
    }
    search_on();
}

// Chooses the next k to try: first upwards; then by bisection between the best k and the bounds
// known to be no better, until they are within a quarter of it.
void Throttle::search_on() noexcept {
    const std::int32_t close = std::max(1, best_ / 4);
    if (rounds_ < rounds_max && above_ == 0 && best_ < limit_max) {
        try_out(best_ + std::max(best_ / 2, 1));
    } else if (rounds_ < rounds_max && above_ - best_ > close) {
        try_out((best_ + above_) / 2);
    } else if (rounds_ < rounds_max && best_ - below_ > close) {
        try_out((best_ + below_) / 2);
    } else {
        settled_ = true;
        quiet_rounds_ = 0;
        try_out(best_);
    }
}

void Throttle::judge_settled(double rate) noexcept {
    // After a probe upwards with a clear gain the search starts again, since there may be more to
    // gain. Both directions need nearly the same gain, so that noise alone does not drift
    // downwards.
    if (limit_ > best_) {
        const double gain = rate / best_rate_ - 1;
        scarce_ = scarce_ && gain > fall;
        best_ = gain > fall ? limit_ : best_;
        if (gain > rise) {
            begin_anew();
        } else {
            try_out(best_);
        }
        return;
    }
    if (limit_ < best_) {
        if (rate > best_rate_ * (1 - fall / 2)) {
            best_ = limit_;
            scarce_ = false;
        }
        try_out(best_);
        return;
    }
    if (rate > best_rate_ * change || rate * change < best_rate_) {
        begin_anew();
        return;
    }
    remembered_ = false;
    best_rate_ += (rate - best_rate_) / 4;
    if (++quiet_rounds_ >= settled_rounds) {
        probe();
    }
}

// Tries a k a quarter away. A smaller step would be hidden by the variation of requests, and losing
// a little in many steps would add up. A k beyond what the job ever had in flight cannot be tried.
void Throttle::probe() noexcept {
    quiet_rounds_ = 0;
    const std::int32_t step = std::max(1, best_ / 4);
    const std::int32_t most = std::min(limit_max, most_seen_ + 1);
    const std::int32_t other = probes_++ % 2 == 0 ? best_ - step : std::min(best_ + step, most);
    if (other >= 1) {
        try_out(other);
    }
}

void Throttle::begin_anew() noexcept {
    settled_ = false;
    remembered_ = false;
    scarce_ = false;
    above_ = 0;
    below_ = 0;
    rounds_ = 0;
    best_rate_ = 0;
    try_out(best_);
}

void Throttle::try_out(std::int32_t limit) noexcept {
    limit_ = std::clamp(limit, 1, limit_max);
    skip_ = limit_;
    observed_ = 0;
    unfilled_ = 0;
    unfilled_most_ = 0;
    bytes_ = 0;
    nanoseconds_ = 0;
}

}  // namespace forebay::plan
