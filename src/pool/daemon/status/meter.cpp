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

void MeteredStorage::begin() {
    if (meter_->in_flight++ == 0) {
        meter_->busy_since_ns = clock_.now_ns();
    }
}

void MeteredStorage::end(std::int64_t requests) {
    if (requests == 0) {
        return;
    }
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
    inner_->submit(request);
}

std::size_t MeteredStorage::poll(std::span<ports::RequestCompletion> out) {
    return count(out.first(inner_->poll(out)));
}

std::size_t MeteredStorage::wait(std::span<ports::RequestCompletion> out) {
    return count(out.first(inner_->wait(out)));
}

Result<void> MeteredStorage::sync() {
    begin();
    Result<void> done = inner_->sync();
    end(1);
    return done;
}

}  // namespace forebay::daemon
