// A rank's way to storage. It takes requests from windows or other sources, keeps as many in flight
// as the gate admits, resubmits the rest of short and interrupted ones, and keeps the first error
// by file offset.
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

// Yields requests one after another; each request goes to one target.
class RequestSource {
public:
    virtual ~RequestSource() = default;
    // Stores the next request's pieces in `pieces` (cleared first) and returns its target; nullopt:
    // no more.
    virtual std::optional<TargetId> next(std::vector<ports::Piece>& pieces) = 0;
};

// Whether the rank does other work while a request is at the storage, or submits synchronously.
enum class ChannelPace { overlapped, at_once };

// How many requests of one source may be in flight, besides the gate's bound. `one`: a window that
// has its turn at a shared target counts there as one request (collective/plan/turns.hpp).
enum class PerJob { any, one };

struct ChannelOptions {
    IoDirection direction = IoDirection::write;
    std::size_t jobs = 1;  // sources that may be active at once
    ChannelPace pace = ChannelPace::overlapped;
    PerJob per_job = PerJob::any;
};

class Channel {
public:
    // Requests in flight over all targets; fewer if the storage's depth is smaller. Each may have a
    // list of CutLimits::pieces_max pieces. io_uring's queue is sized for this number.
    static constexpr std::size_t requests_max = 16;

    Channel(ports::FileStorage& storage, Gate& gate, const ports::TimeSource& clock,
            const ChannelOptions& options);

    // Contract: job number `job` is finished. After a failed write, new jobs are dropped.
    void begin(std::size_t job, std::unique_ptr<RequestSource> source);
    [[nodiscard]] bool finished(std::size_t job) const { return !jobs_.at(job).open; }
    // Bytes moved by the job's last source; 0 unless all of its requests were moved whole.
    [[nodiscard]] std::int64_t bytes_moved(std::size_t job) const {
        return jobs_.at(job).whole ? jobs_.at(job).bytes : 0;
    }
    [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_; }

    // Takes completions and starts requests, without blocking. True if anything was done.
    bool run_once();
    // Blocks until a completion arrives. Contract: something is in flight.
    void block();

    [[nodiscard]] const plan::FirstFailure& failure() const noexcept { return failure_; }
    [[nodiscard]] std::int64_t end_of_file() const noexcept { return end_of_file_; }
    [[nodiscard]] std::int64_t requests() const noexcept { return requests_; }
    // Nanoseconds with at least one request in flight.
    [[nodiscard]] std::int64_t busy_ns() const noexcept { return busy_ns_; }

private:
    struct Job {
        std::unique_ptr<RequestSource> source;
        std::size_t outstanding = 0;
        std::int64_t bytes = 0;  // moved
        bool whole = false;      // no request failed, hit the end of file or was dropped
        bool open = false;
    };
    struct Entry {
        std::vector<ports::Piece> pieces;
        std::size_t first = 0;  // index of the first piece that is not done
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
    // Open jobs with a source that may have more requests, oldest first.
    std::vector<std::size_t> order_;
    std::vector<Entry> entries_;
    std::optional<std::size_t> held_;  // entry of a request that the gate has not admitted yet
    std::size_t in_flight_ = 0;
    plan::FirstFailure failure_;
    std::int64_t end_of_file_ = plan::FirstFailure::nowhere;
    std::int64_t requests_ = 0;
    std::int64_t busy_ns_ = 0;
    std::int64_t busy_since_ = 0;
};

}  // namespace forebay::transfer
