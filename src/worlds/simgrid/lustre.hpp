// The model of the parallel file system: metadata server, server links and storage targets (OSTs),
// each a queue whose state is a few numbers. It knows nothing of SimGrid: its caller passes the
// time. Deterministic for a seed.
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

// A FIFO queue with one server.
class ServiceQueue {
public:
    // The time at which a job that arrives at `now` and takes `duration` is finished.
    double serve(double now, double duration) noexcept {
        free_at_ = (free_at_ > now ? free_at_ : now) + duration;
        busy_ += duration;
        return free_at_;
    }
    // Occupies the server for `duration` with other work.
    void hold_up(double now, double duration) noexcept { serve(now, duration); }
    [[nodiscard]] double free_at() const noexcept { return free_at_; }
    [[nodiscard]] double busy() const noexcept { return busy_; }

private:
    double free_at_ = 0;
    double busy_ = 0;
};

// Faults of one target, for experiments with a sick target.
struct TargetFaults {
    std::int32_t target = -1;  // none
    double slower = 1;         // factor on the duration of its requests
    double error_from = -1;  // from this time on (seconds) requests fail with EIO; negative: never
};

// A request that arrives at a target.
struct RequestArrival {
    std::int32_t target = 0;
    std::int32_t client = 0;  // rank
    std::int64_t offset = 0;  // in the file
    std::int64_t bytes = 0;
    std::int64_t pieces = 1;  // contiguous runs: each is an extent on the target
    // The object that `offset` is in, for a request through a node's client, which holds the lock
    // already. Negative: the request bypasses clients, and every stripe has a lock of its own.
    std::int64_t object = -1;
};

class SimulatedLustre {
public:
    // `slower` has a factor on the times of each target; empty: all are 1.
    SimulatedLustre(const MachinePlatform& platform, std::uint64_t seed,
                    const TargetFaults& sickness, std::vector<double> slower = {});

    // The time at which the target has done the request; `now` must not decrease between calls.
    double arrive(double now, const RequestArrival& request);
    // As arrive(), for a read through a node's client, which may hit the server's read cache.
    double fetch(double now, const RequestArrival& request);
    // The time at which the link of the target's server has carried the bytes.
    double link(double now, std::int32_t target, std::int64_t bytes);
    // The times at which the metadata server has opened or closed the file.
    double open(double now);
    double close(double now);
    // As open(), for a file that has to be created with this many objects.
    double create(double now, std::int64_t objects);
    // Seconds, not negative, that a node's client waits for the lock of a range that it writes.
    // share() does the same for an object that it reads.
    double lock(std::int64_t object, const LockRange& range);
    // Whether the node's client holds the lock already.
    [[nodiscard]] bool has_lock(std::int64_t object, const LockRange& range);
    double share(std::int64_t object, std::int32_t client);
    [[nodiscard]] bool fails(double now, std::int32_t target) const noexcept;

    // Seconds that each target was busy.
    [[nodiscard]] std::vector<double> busy() const;
    [[nodiscard]] std::int64_t requests() const noexcept { return requests_; }
    // Lock requests of the nodes' clients, and the locks of other clients that these revoked.
    [[nodiscard]] std::int64_t locks_asked() const noexcept { return locks_asked_; }
    [[nodiscard]] std::int64_t locks_lost() const noexcept { return locks_lost_; }
    // Bytes read and written at each target.
    [[nodiscard]] std::vector<std::int64_t> target_bytes() const;

private:
    struct Target {
        ServiceQueue queue;
        struct Present {
            double until;
            std::int32_t client;
        };
        std::deque<Present> present;  // requests not finished, oldest first
        std::unordered_map<std::int32_t, std::int32_t> streams;  // requests of each client
        std::uint64_t number = 0;
        // The client that holds each stripe's lock.
        std::unordered_map<std::int64_t, std::int32_t> holders;
        std::int64_t bytes = 0;
        std::int64_t object = -1;  // object and end of the last request through a client
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
    std::vector<ServerReadCache> memories_;
    std::unordered_map<std::int64_t, ExtentLocks> locks_;
    std::unordered_set<std::int64_t> shares_;
    std::int64_t locks_asked_ = 0;
    std::int64_t locks_lost_ = 0;
    std::vector<ServiceQueue> metadata_;
    std::deque<double> at_metadata_;  // finishing times of the requests there
    std::int64_t requests_ = 0;
};

}  // namespace forebay::adapters
