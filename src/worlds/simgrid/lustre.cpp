// The time of a request at a target depends on the requests that are there when it arrives.
#include "worlds/simgrid/lustre.hpp"

#include "worlds/memory/file.hpp"

#include <algorithm>
#include <utility>

namespace forebay::adapters {

SimulatedLustre::SimulatedLustre(const MachinePlatform& platform, std::uint64_t seed,
                                 const TargetFaults& sickness, std::vector<double> slower)
    : platform_{platform},
      seed_{seed},
      sickness_{sickness},
      slower_{std::move(slower)},
      targets_(static_cast<std::size_t>(platform.target.count)),
      links_(static_cast<std::size_t>(platform.server.count)),
      memories_(static_cast<std::size_t>(platform.server.count),
                ServerReadCache{platform.server.memory}),
      metadata_(static_cast<std::size_t>(platform.metadata.threads)) {
    slower_.resize(targets_.size(), 1);
}

double SimulatedLustre::varied(std::int32_t target, std::uint64_t number) const noexcept {
    const std::uint64_t dice = scramble(seed_, static_cast<std::uint64_t>(target), number);
    const double even = static_cast<double>(dice >> 11) * 0x1p-53;
    return 1 + platform_.target.jitter * (2 * even - 1);
}

// The cost of the stripe's lock, for requests that do not come through a node's client.
double SimulatedLustre::changing_hands(Target& target, const RequestArrival& request) const {
    const auto [holder, fresh] =
        target.holders.try_emplace(request.offset / platform_.stripe_bytes, request.client);
    const bool other = !fresh && holder->second != request.client;
    holder->second = request.client;
    return other ? platform_.target.lock_time : 0;
}

// Whether the request continues the target's previous one in the same object. Requests that do not
// come through a client name no object.
bool SimulatedLustre::continues(Target& target, const RequestArrival& request) noexcept {
    const bool same = request.object >= 0 && request.object == target.object;
    const bool follows = same && request.offset == target.end;
    target.object = request.object;
    target.end = request.offset + request.bytes;
    return follows;
}

double SimulatedLustre::arrive(double now, const RequestArrival& request) {
    const TargetPlatform& model = platform_.target;
    Target& target = targets_.at(static_cast<std::size_t>(request.target));
    while (!target.present.empty() && target.present.front().until <= now) {
        const auto gone = target.streams.find(target.present.front().client);
        if (--gone->second == 0) {
            target.streams.erase(gone);
        }
        target.present.pop_front();
    }
    ++target.streams[request.client];
    const auto queued = static_cast<std::int64_t>(target.present.size()) + 1;
    const auto streams = static_cast<std::int64_t>(target.streams.size());
    const auto beyond = [](std::int64_t count, std::int64_t free) {
        return static_cast<double>(std::max<std::int64_t>(count - free, 0));
    };
    const double interference =
        model.interference_per_stream * beyond(streams, model.streams_free) +
        model.interference_per_queued * beyond(queued, model.queued_free);
    const std::int64_t runs = continues(target, request) ? 0 : request.pieces;
    double duration = model.request_time * static_cast<double>(runs) +
                      static_cast<double>(request.bytes) / model.rate * (1 + interference);
    duration += request.object < 0 ? changing_hands(target, request) : 0;
    duration *= varied(request.target, target.number++);
    duration *= request.target == sickness_.target ? sickness_.slower : 1;
    duration *= slower_[static_cast<std::size_t>(request.target)];
    ++requests_;
    target.bytes += request.bytes;
    const double until = target.queue.serve(now, duration);
    target.present.push_back({until, request.client});
    return until;
}

double SimulatedLustre::fetch(double now, const RequestArrival& request) {
    constexpr std::int64_t block_bytes = ServerReadCache::block_bytes;
    ServerReadCache& memory = memories_[server_of(request.target)];
    const std::int64_t first = request.offset / block_bytes;
    const std::int64_t last = (request.offset + request.bytes - 1) / block_bytes;
    std::int64_t missing = 0;
    double until = now;
    for (std::int64_t block = first; block <= last; ++block) {
        const auto there = memory.there(request.object, block);
        missing += there ? 0 : 1;
        until = std::max(until, there.value_or(now));
    }
    if (missing == 0) {
        return until;
    }
    RequestArrival rest = request;
    rest.bytes = platform_.server.memory == 0 ? request.bytes : missing * block_bytes;
    until = std::max(until, arrive(now, rest));
    for (std::int64_t block = first; block <= last; ++block) {
        if (!memory.there(request.object, block)) {
            memory.keep(request.object, block, until);
        }
    }
    return until;
}

double SimulatedLustre::link(double now, std::int32_t target, std::int64_t bytes) {
    ServiceQueue& own = links_.at(server_of(target));
    return own.serve(now, static_cast<double>(bytes) / platform_.server.link_rate);
}

double SimulatedLustre::metadata(double now, double duration) {
    while (!at_metadata_.empty() && at_metadata_.front() <= now) {
        at_metadata_.pop_front();
    }
    const auto waiting = static_cast<double>(at_metadata_.size());
    ServiceQueue& thread = *std::ranges::min_element(metadata_, {}, &ServiceQueue::free_at);
    const double until = thread.serve(now, duration * (1 + platform_.metadata.crowding * waiting));
    at_metadata_.push_back(until);
    return until;
}

double SimulatedLustre::open(double now) { return metadata(now, platform_.metadata.open_time); }

double SimulatedLustre::close(double now) { return metadata(now, platform_.metadata.close_time); }

double SimulatedLustre::create(double now, std::int64_t objects) {
    const MetadataPlatform& model = platform_.metadata;
    return metadata(now, model.open_time + model.object_time * static_cast<double>(objects));
}

bool SimulatedLustre::has_lock(std::int64_t object, const LockRange& range) {
    return locks_[object].use(range);
}

double SimulatedLustre::lock(std::int64_t object, const LockRange& range) {
    if (has_lock(object, range)) {
        return 0;
    }
    const std::int32_t lost = locks_[object].grant(range);
    ++locks_asked_;
    locks_lost_ += lost;
    return platform_.target.grant_time + (lost > 0 ? platform_.target.lock_time : 0);
}

double SimulatedLustre::share(std::int64_t object, std::int32_t client) {
    constexpr std::int64_t clients_max = 65536;
    const bool fresh = shares_.insert(object * clients_max + client).second;
    locks_asked_ += fresh ? 1 : 0;
    return fresh ? platform_.target.grant_time : 0;
}

bool SimulatedLustre::fails(double now, std::int32_t target) const noexcept {
    return target == sickness_.target && sickness_.error_from >= 0 && now >= sickness_.error_from;
}

std::vector<std::int64_t> SimulatedLustre::target_bytes() const {
    std::vector<std::int64_t> bytes;
    bytes.reserve(targets_.size());
    for (const Target& target : targets_) {
        bytes.push_back(target.bytes);
    }
    return bytes;
}

std::vector<double> SimulatedLustre::busy() const {
    std::vector<double> seconds;
    seconds.reserve(targets_.size());
    for (const Target& target : targets_) {
        seconds.push_back(target.queue.busy());
    }
    return seconds;
}

}  // namespace forebay::adapters
