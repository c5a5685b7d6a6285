// Measures how long a file system takes to transfer a file's bytes: a FileStorage that counts and
// times the requests that pass through it.
#pragma once

#include "foundation/ports/clock.hpp"
#include "foundation/ports/forwarding_storage.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace forebay::daemon {

struct StorageMeter {
    std::int64_t requests = 0;
    std::int64_t bytes = 0;          // bytes transferred
    std::int64_t busy_ns = 0;        // time with at least one request or sync in flight
    std::int64_t in_flight = 0;      // requests in flight now
    std::int64_t busy_since_ns = 0;  // when the first of these was submitted
    std::int64_t last_end_ns = 0;    // when a request ended last
};

// busy_ns, and the time since `busy_since_ns` if requests are in flight.
[[nodiscard]] std::int64_t busy_ns(const StorageMeter& meter, std::int64_t now_ns) noexcept;

// How long the file system has not answered although requests are in flight; 0: none is.
[[nodiscard]] std::int64_t silent_ns(const StorageMeter& meter, std::int64_t now_ns) noexcept;

// Measures the time in which at least one request of any file is in flight. Syncs of several files
// go on in threads of their own, so it may be used by several at a time.
class BusyTime {
public:
    void begin(const ports::TimeSource& clock);
    // So many requests have ended.
    void end(std::int64_t requests, const ports::TimeSource& clock);
    [[nodiscard]] std::int64_t total_ns(std::int64_t now_ns) const;

private:
    mutable std::mutex mutex_;
    std::int64_t in_flight_ = 0;
    std::int64_t since_ns_ = 0;  // when the first of these was submitted
    std::int64_t total_ns_ = 0;  // until then
};

class MeteredStorage final : public ports::ForwardingStorage {
public:
    // The meter is shared with the file's statistics, and `busy` by all files.
    MeteredStorage(std::unique_ptr<ports::FileStorage> inner, std::shared_ptr<StorageMeter> meter,
                   std::shared_ptr<BusyTime> busy, const ports::TimeSource& clock)
        : ForwardingStorage{std::move(inner)},
          meter_{std::move(meter)},
          busy_{std::move(busy)},
          clock_{clock} {}

    void submit(const ports::Request& request) override;
    std::size_t poll(std::span<ports::RequestCompletion> out) override;
    std::size_t wait(std::span<ports::RequestCompletion> out) override;
    Result<void> sync() override;

private:
    void begin();
    void end(std::int64_t requests);
    std::size_t count(std::span<const ports::RequestCompletion> done);

    std::shared_ptr<StorageMeter> meter_;
    std::shared_ptr<BusyTime> busy_;
    const ports::TimeSource& clock_;
};

}  // namespace forebay::daemon
