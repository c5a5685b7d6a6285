// The pool's counts in the course of a run, for the time line of its record: a bounded number of
// samples, evenly spaced. Pure: the caller brings counts and time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace forebay::daemon {

// Counts of all files together. All but `outstanding` only grow, but for files whose counts were
// dropped (FileStatistics::dropped()).
struct SampledCounts {
    std::int64_t taken = 0;        // bytes that programs wrote into the pool
    std::int64_t stored = 0;       // bytes that requests moved to the file system
    std::int64_t outstanding = 0;  // taken bytes that are not on the file system yet
    std::int64_t waited_ns = 0;    // of all processes together; a wait counts when it is over

    friend bool operator==(const SampledCounts&, const SampledCounts&) = default;
};

struct CountSample {
    std::int64_t since_ns = 0;  // since the first time that the samples were asked for
    SampledCounts counts;
};

class CountSamples {
public:
    static constexpr std::size_t most = 1000;  // of which `samples_max` may be
    static constexpr std::int64_t first_interval_ns = 250'000'000;

    // Fewer than two samples show no course: then none is taken.
    explicit CountSamples(std::size_t samples_max);

    // Whether the next sample is to be taken. Time begins at the first call.
    [[nodiscard]] bool is_due(std::int64_t now_ns);
    // Takes in a sample, for whose counts the caller took `cost_ns`. When there are `samples_max`,
    // every second one goes, and from then on half as many are taken.
    void add(const SampledCounts& counts, std::int64_t now_ns, std::int64_t cost_ns);

    [[nodiscard]] bool are_taken() const noexcept { return samples_max_ >= 2; }
    [[nodiscard]] const std::vector<CountSample>& all() const noexcept { return samples_; }

private:
    std::size_t samples_max_;
    bool has_begun_ = false;
    std::int64_t begun_ns_ = 0;
    std::int64_t due_ns_ = 0;
    std::int64_t interval_ns_ = first_interval_ns;
    std::vector<CountSample> samples_;
};

}  // namespace forebay::daemon
