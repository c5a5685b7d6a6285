// The modelled file system: metadata server, server links and storage targets, each a queue whose
// state is a few numbers. Knows nothing of SimGrid: who drives it says what time it is. Seeded and
// deterministic.
#pragma once

#include "foundation/ports/storage.hpp"
#include "worlds/simgrid/extent_locks.hpp"
#include "worlds/simgrid/platform.hpp"
#include "worlds/simgrid/server_memory.hpp"

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace forebay::adapters {

// Serves one after another.
class ServiceQueue {
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

// One target's faults.
struct TargetFaults {
    std::int32_t target = -1;  // none
    double slower = 1;         // its requests take so many times as long
    double error_from = -1;    // seconds; from then on they fail with EIO. Negative: never
};

// One request as it comes to a target.
struct RequestArrival {
    std::int32_t target = 0;
    std::int32_t client = 0;  // rank
    std::int64_t offset = 0;  // in the file
    std::int64_t bytes = 0;
    std::int64_t pieces = 1;  // contiguous runs: each is an extent on the target
    // From a node's client, which has the lock already: the object that `offset` is in. Negative:
    // not from one, and every stripe has a lock of its own.
    std::int64_t object = -1;
};

class SimulatedLustre {
public:
    // `slower`: by which each target's times are multiplied; empty: by 1.
    SimulatedLustre(const MachinePlatform& platform, std::uint64_t seed,
                    const TargetFaults& sickness, std::vector<double> slower = {});

    // When the target is through with it; `now` never goes back between calls.
    double arrive(double now, const RequestArrival& request);
    // The same for a read of a node's client: what its server has in memory need not be read.
    double fetch(double now, const RequestArrival& request);
    // The link of the server that `target` hangs on.
    double link(double now, std::int32_t target, std::int64_t bytes);
    // Opening or closing the file.
    double open(double now);
    double close(double now);
    // Opening a file that is not there yet.
    double create(double now, std::int64_t objects);
    // How long a node's client waits for the lock of what it writes, or of an object that it reads
    // (`range.rank` does not matter). Not negative.
    double lock(std::int64_t object, const LockRange& range);
    // Whether the node's client has the lock already.
    [[nodiscard]] bool has_lock(std::int64_t object, const LockRange& range);
    double share(std::int64_t object, std::int32_t client);
    [[nodiscard]] bool fails(double now, std::int32_t target) const noexcept;

    // Seconds in which each target worked.
    [[nodiscard]] std::vector<double> busy() const;
    [[nodiscard]] std::int64_t requests() const noexcept { return requests_; }
    // Locks that clients of nodes waited for, and those of others that this took away.
    [[nodiscard]] std::int64_t locks_asked() const noexcept { return locks_asked_; }
    [[nodiscard]] std::int64_t locks_lost() const noexcept { return locks_lost_; }
    // Bytes that each target wrote or read.
    [[nodiscard]] std::vector<std::int64_t> target_bytes() const;

private:
    struct Target {
        ServiceQueue queue;
        struct Present {
            double until;
            std::int32_t client;
        };
        std::deque<Present> present;  // requests not through, oldest first
        std::unordered_map<std::int32_t, std::int32_t> streams;  // requests of each client
        std::uint64_t number = 0;
        std::unordered_map<std::int64_t, std::int32_t> holders;  // of a stripe's lock
        std::int64_t bytes = 0;
        std::int64_t object = -1;  // of the last request of a node's client, and where that ended
        std::int64_t end = 0;
    };

    double metadata(double now, double duration);
    [[nodiscard]] double varied(std::int32_t target, std::uint64_t number) const noexcept;
    [[nodiscard]] static bool continues(Target& target, const RequestArrival& request) noexcept;
    [[nodiscard]] double changing_hands(Target& target, const RequestArrival& request) const;
    [[nodiscard]] std::size_t server_of(std::int32_t target) const noexcept {
        return static_cast<std::size_t>(target) % links_.size();
    }

    MachinePlatform platform_;
    std::uint64_t seed_;
    TargetFaults sickness_;
    std::vector<double> slower_;
    std::vector<Target> targets_;
    std::vector<ServiceQueue> links_;
    std::vector<ServerMemory> memories_;
    std::unordered_map<std::int64_t, ExtentLocks> locks_;
    std::unordered_set<std::int64_t> shares_;
    std::int64_t locks_asked_ = 0;
    std::int64_t locks_lost_ = 0;
    std::vector<ServiceQueue> metadata_;
    std::deque<double> at_metadata_;  // when each request there will be through
    std::int64_t requests_ = 0;
};

}  // namespace forebay::adapters
