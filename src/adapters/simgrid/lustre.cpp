// How long a target takes follows from who else is there when a request comes.
#include "adapters/simgrid/lustre.hpp"

#include "adapters/memory/file.hpp"

#include <algorithm>

namespace forebay::adapters {

Lustre::Lustre(const Platform& platform, std::uint64_t seed, const Sickness& sickness)
    : platform_{platform},
      seed_{seed},
      sickness_{sickness},
      targets_(static_cast<std::size_t>(platform.target.count)),
      links_(static_cast<std::size_t>(platform.server.count)),
      metadata_(static_cast<std::size_t>(platform.metadata.threads)) {}

double Lustre::varied(std::int32_t target, std::uint64_t number) const noexcept {
    const std::uint64_t dice = scramble(seed_, static_cast<std::uint64_t>(target), number);
    const double even = static_cast<double>(dice >> 11) * 0x1p-53;
    return 1 + platform_.target.jitter * (2 * even - 1);
}

double Lustre::arrive(double now, const Arrival& request) {
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
    double duration = model.request_time * static_cast<double>(request.pieces) +
                      static_cast<double>(request.bytes) / model.rate * (1 + interference);
    const auto [holder, fresh] =
        target.holders.try_emplace(request.offset / platform_.stripe_bytes, request.client);
    if (!fresh && holder->second != request.client) {
        duration += model.lock_time;
        holder->second = request.client;
    }
    duration *= varied(request.target, target.number++);
    duration *= request.target == sickness_.target ? sickness_.slower : 1;
    ++requests_;
    const double until = target.queue.serve(now, duration);
    target.present.push_back({until, request.client});
    return until;
}

double Lustre::link(double now, std::int32_t target, std::int64_t bytes) {
    Queue& own = links_.at(static_cast<std::size_t>(target) % links_.size());
    return own.serve(now, static_cast<double>(bytes) / platform_.server.link_rate);
}

double Lustre::metadata(double now, double duration) {
    while (!at_metadata_.empty() && at_metadata_.front() <= now) {
        at_metadata_.pop_front();
    }
    const auto waiting = static_cast<double>(at_metadata_.size());
    Queue& thread = *std::ranges::min_element(metadata_, {}, &Queue::free_at);
    const double until = thread.serve(now, duration * (1 + platform_.metadata.crowding * waiting));
    at_metadata_.push_back(until);
    return until;
}

double Lustre::open(double now) { return metadata(now, platform_.metadata.open_time); }

double Lustre::close(double now) { return metadata(now, platform_.metadata.close_time); }

bool Lustre::fails(double now, std::int32_t target) const noexcept {
    return target == sickness_.target && sickness_.error_from >= 0 && now >= sickness_.error_from;
}

std::vector<double> Lustre::busy() const {
    std::vector<double> seconds;
    seconds.reserve(targets_.size());
    for (const Target& target : targets_) {
        seconds.push_back(target.queue.busy());
    }
    return seconds;
}

}  // namespace forebay::adapters
