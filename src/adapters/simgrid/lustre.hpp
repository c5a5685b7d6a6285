// The modelled file system: metadata server, server links and storage targets, each a queue whose
// state is a few numbers. Knows nothing of SimGrid: who drives it says what time it is. Seeded and
// deterministic.
#pragma once

#include "adapters/simgrid/platform.hpp"
#include "ports/storage.hpp"

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace forebay::adapters {

// Serves one after another.
class Queue {
public:
    // When something that comes at `now` and takes `duration` is through.
    double serve(double now, double duration) noexcept {
        free_at_ = (free_at_ > now ? free_at_ : now) + duration;
        busy_ += duration;
        return free_at_;
    }
    // Something else takes the place for `duration`.
    void hold_up(double now, double duration) noexcept { serve(now, duration); }
    [[nodiscard]] double free_at() const noexcept { return free_at_; }
    [[nodiscard]] double busy() const noexcept { return busy_; }

private:
    double free_at_ = 0;
    double busy_ = 0;
};

// What is wrong with one target.
struct Sickness {
    std::int32_t target = -1;  // none
    double slower = 1;         // its requests take so many times as long
    double error_from = -1;    // seconds; from then on they fail with EIO. Negative: never
};

// One request as it comes to a target.
struct Arrival {
    std::int32_t target = 0;
    std::int32_t client = 0;  // rank
    std::int64_t offset = 0;  // in the file
    std::int64_t bytes = 0;
    std::int64_t pieces = 1;  // contiguous runs: each is an extent on the target
};

class Lustre {
public:
    Lustre(const Platform& platform, std::uint64_t seed, const Sickness& sickness);

    // When the target is through with it; `now` never goes back between calls.
    double arrive(double now, const Arrival& request);
    // The link of the server that `target` hangs on.
    double link(double now, std::int32_t target, std::int64_t bytes);
    // Opening or closing the file.
    double open(double now);
    double close(double now);
    [[nodiscard]] bool fails(double now, std::int32_t target) const noexcept;

    // Seconds in which each target worked.
    [[nodiscard]] std::vector<double> busy() const;
    [[nodiscard]] std::int64_t requests() const noexcept { return requests_; }

private:
    struct Target {
        Queue queue;
        struct Present {
            double until;
            std::int32_t client;
        };
        std::deque<Present> present;  // requests not through, oldest first
        std::unordered_map<std::int32_t, std::int32_t> streams;  // requests of each client
        std::uint64_t number = 0;
        std::unordered_map<std::int64_t, std::int32_t> holders;  // of a stripe's lock
    };

    double metadata(double now, double duration);
    [[nodiscard]] double varied(std::int32_t target, std::uint64_t number) const noexcept;

    Platform platform_;
    std::uint64_t seed_;
    Sickness sickness_;
    std::vector<Target> targets_;
    std::vector<Queue> links_;
    std::vector<Queue> metadata_;
    std::deque<double> at_metadata_;  // when each request there will be through
    std::int64_t requests_ = 0;
};

}  // namespace forebay::adapters
