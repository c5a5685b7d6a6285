// Counts requests to one file, and the time during which at least one of them is in flight.
#include "pool/daemon/status/meter.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>

namespace forebay::daemon {

std::int64_t busy_ns(const StorageMeter& meter, std::int64_t now_ns) noexcept {
    return meter.busy_ns + (meter.in_flight > 0 ? now_ns - meter.busy_since_ns : 0);
}

std::int64_t silent_ns(const StorageMeter& meter, std::int64_t now_ns) noexcept {
    return meter.in_flight > 0 ? now_ns - std::max(meter.busy_since_ns, meter.last_end_ns) : 0;
}

void BusyTime::begin(const ports::TimeSource& clock) {
    const std::lock_guard lock{mutex_};
    if (in_flight_++ == 0) {
        since_ns_ = clock.now_ns();
    }
}

void BusyTime::end(std::int64_t requests, const ports::TimeSource& clock) {
    const std::lock_guard lock{mutex_};
    invariant(in_flight_ >= requests, "no more requests end than have begun");
    in_flight_ -= requests;
    if (in_flight_ == 0) {
        total_ns_ += clock.now_ns() - since_ns_;
    }
}

std::int64_t BusyTime::total_ns(std::int64_t now_ns) const {
    const std::lock_guard lock{mutex_};
    return total_ns_ + (in_flight_ > 0 ? std::max<std::int64_t>(now_ns - since_ns_, 0) : 0);
}

void MeteredStorage::begin() {
    busy_->begin(clock_);
    if (meter_->in_flight++ == 0) {
        meter_->busy_since_ns = clock_.now_ns();
    }
}

void MeteredStorage::end(std::int64_t requests) {
    if (requests == 0) {
        return;
    }
    busy_->end(requests, clock_);
    invariant(meter_->in_flight >= requests, "no more requests end than have begun");
    meter_->in_flight -= requests;
    meter_->last_end_ns = clock_.now_ns();
    if (meter_->in_flight == 0) {
        meter_->busy_ns += meter_->last_end_ns - meter_->busy_since_ns;
    }
}

std::size_t MeteredStorage::count(std::span<const ports::RequestCompletion> done) {
    for (const ports::RequestCompletion& one : done) {
        meter_->bytes += one.bytes.bytes();
    }
    meter_->requests += static_cast<std::int64_t>(done.size());
    end(static_cast<std::int64_t>(done.size()));
    return done.size();
}

void MeteredStorage::submit(const ports::Request& request) {
    begin();
    own().submit(request);
}

std::size_t MeteredStorage::poll(std::span<ports::RequestCompletion> out) {
    return count(out.first(own().poll(out)));
}

std::size_t MeteredStorage::wait(std::span<ports::RequestCompletion> out) {
    return count(out.first(own().wait(out)));
}

Result<void> MeteredStorage::sync() {
    begin();
    Result<void> done = own().sync();
    end(1);
    return done;
}

}  // namespace forebay::daemon
