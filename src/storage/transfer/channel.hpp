// The way to storage of one rank: takes windows (or any other source of requests), keeps as many
// requests in flight as the gate lets through, finishes short and interrupted ones, and remembers
// the first error by file offset.
#pragma once

#include "foundation/ports/clock.hpp"
#include "foundation/ports/storage.hpp"
#include "storage/policy/failure.hpp"
#include "storage/transfer/gate.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace forebay::transfer {

// Where requests come from, one after another; each goes to one target.
class RequestSource {
public:
    virtual ~RequestSource() = default;
    // The next request's pieces into `pieces` (cleared first) and its target; nullopt: no more.
    virtual std::optional<TargetId> next(std::vector<ports::Piece>& pieces) = 0;
};

// Whether the rank has something else to do while a request is at the storage.
enum class ChannelPace { overlapped, at_once };

// Requests of one source that may be in flight at once, as far as the gate lets them through. One:
// a window that has its turn at a shared target stands for one request (collective/plan/turns.hpp).
enum class PerJob { any, one };

struct ChannelOptions {
    IoDirection direction = IoDirection::write;
    std::size_t jobs = 1;  // sources that may be open at once
    ChannelPace pace = ChannelPace::overlapped;
    PerJob per_job = PerJob::any;
};

class Channel {
public:
    // In flight at once, over all targets; fewer where the storage's depth is less. Each may hold
    // a list of CutLimits::pieces_max pieces, and io_uring's queues are made for as many.
    static constexpr std::size_t requests_max = 16;

    Channel(ports::FileStorage& storage, Gate& gate, const ports::TimeSource& clock,
            const ChannelOptions& options);

    // Contract: job number `job` is finished. After a failure of a write, what is begun is dropped.
    void begin(std::size_t job, std::unique_ptr<RequestSource> source);
    [[nodiscard]] bool finished(std::size_t job) const { return !jobs_.at(job).open; }
    // By the job's last source; 0 unless everything that it asked for was moved.
    [[nodiscard]] std::int64_t bytes_moved(std::size_t job) const {
        return jobs_.at(job).whole ? jobs_.at(job).bytes : 0;
    }
    [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_; }

    // Takes completions and starts requests, without blocking. True when anything was done.
    bool run_once();
    // Blocks until a completion. Contract: something is in flight.
    void block();

    [[nodiscard]] const plan::FirstFailure& failure() const noexcept { return failure_; }
    [[nodiscard]] std::int64_t end_of_file() const noexcept { return end_of_file_; }
    [[nodiscard]] std::int64_t requests() const noexcept { return requests_; }
    // Time with at least one request in flight; nanoseconds.
    [[nodiscard]] std::int64_t busy_ns() const noexcept { return busy_ns_; }

private:
    struct Job {
        std::unique_ptr<RequestSource> source;
        std::size_t outstanding = 0;
        std::int64_t bytes = 0;  // moved
        bool whole = false;      // nothing failed, lay beyond the file's end or was dropped
        bool open = false;
    };
    struct Entry {
        std::vector<ports::Piece> pieces;
        std::size_t first = 0;  // pieces before it are done
        std::size_t job = 0;
        TargetId target;
        plan::ServedRequest service;
        std::int64_t begin_ns = 0;
        bool used = false;
    };

    bool collect();
    bool start();
    bool hold_next();
    [[nodiscard]] std::vector<std::size_t>::iterator next_job();
    void submit(std::size_t entry);
    void complete(const ports::RequestCompletion& completion);
    static std::int64_t trim(Entry& entry, std::int64_t bytes);
    void release(std::size_t entry);
    void fail(Offset at, int system);
    void close_if_done(std::size_t job);

    ports::FileStorage& storage_;
    Gate& gate_;
    const ports::TimeSource& clock_;
    ChannelOptions options_;
    std::vector<Job> jobs_;
    std::vector<std::size_t> order_;  // open jobs that still have requests, oldest first
    std::vector<Entry> entries_;
    std::optional<std::size_t> held_;  // cut, but not let through yet
    std::size_t in_flight_ = 0;
    plan::FirstFailure failure_;
    std::int64_t end_of_file_ = plan::FirstFailure::nowhere;
    std::int64_t requests_ = 0;
    std::int64_t busy_ns_ = 0;
    std::int64_t busy_since_ = 0;
};

}  // namespace forebay::transfer
