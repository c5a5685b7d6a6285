// Keeps evenly spaced samples by halving: the newest always stays.
#include "pool/daemon/status/count_samples.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>

namespace forebay::daemon {

namespace {

// A sample is followed by a pause of at least so many times what its counts took: 2 % of a
// processor at most.
constexpr std::int64_t pause_per_cost = 50;

}  // namespace

CountSamples::CountSamples(std::size_t samples_max) : samples_max_{samples_max} {
    expects(samples_max <= most, "so many samples are kept at most");
}

bool CountSamples::is_due(std::int64_t now_ns) {
    if (!are_taken()) {
        return false;
    }
    if (!has_begun_) {
        has_begun_ = true;
        begun_ns_ = now_ns;
        due_ns_ = now_ns;
    }
    return now_ns >= due_ns_;
}

void CountSamples::add(const SampledCounts& counts, std::int64_t now_ns, std::int64_t cost_ns) {
    if (!are_taken()) {
        return;
    }
    expects(has_begun_, "samples are asked for before one is added");
    const CountSample sample{.since_ns = now_ns - begun_ns_, .counts = counts};
    if (samples_.empty() || sample.since_ns > samples_.back().since_ns) {
        samples_.push_back(sample);
    }
    if (samples_.size() >= samples_max_) {
        std::vector<CountSample> kept;
        for (std::size_t i = samples_.size() % 2 == 0 ? 1 : 0; i < samples_.size(); i += 2) {
            kept.push_back(samples_[i]);  // the last one is among them
        }
        samples_ = std::move(kept);
        interval_ns_ *= 2;
    }
    due_ns_ = now_ns + std::max(interval_ns_, pause_per_cost * cost_ns);
    ensures(samples_.size() < samples_max_, "the samples are bounded");
}

}  // namespace forebay::daemon
