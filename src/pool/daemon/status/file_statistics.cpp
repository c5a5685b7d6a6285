// See file_statistics.hpp.
#include "pool/daemon/status/file_statistics.hpp"

#include "foundation/base/atomics.hpp"
#include "pool/protocol/search.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

namespace forebay::daemon {

namespace {

// The oldest deposit's time, or now. A file with very many extents is looked at in part.
std::int64_t oldest_of(const pool::Directory& directory, const pool::FileSlot& file,
                       std::int64_t now_ns) {
    constexpr int looks_max = 1000;
    std::array<pool::Deposit, 256> found;
    std::int64_t oldest = now_ns;
    Offset at{0};
    for (int looks = 0; looks < looks_max; ++looks) {
        const Extent range{at, Length{std::numeric_limits<std::int64_t>::max() - at.bytes()}};
        const pool::Search search = pool::find(directory, file, range, found);
        for (std::size_t i = 0; i < search.found; ++i) {
            oldest = std::min(oldest, found.at(i).time_ns);
        }
        if (search.seen != pool::Seen::more) {
            break;
        }
        at = found.at(search.found - 1).extent.end();
    }
    return oldest;
}

void add_meter(const Meter& meter, std::int64_t now_ns, FileStory& to) {
    to.storage_ns += busy_ns(meter, now_ns);
    to.storage_bytes += meter.bytes;
    to.requests += meter.requests;
}

// A reason that every file has at the end, or that can be undone, hides none that came later.
bool says_why(pool::Reason reason) noexcept {
    return reason != pool::Reason::none && reason != pool::Reason::closing &&
           !pool::can_be_undone(reason);
}

pool::Reason first_of(pool::Reason before, pool::Reason later) noexcept {
    return says_why(before) || later == pool::Reason::none ? before : later;
}

// `later` came after all that `replay_plan` tells.
void add_story(const FileStory& later, FileStory& replay_plan) {
    const FileStory before = std::exchange(replay_plan, later);
    replay_plan.reason = first_of(before.reason, later.reason);
    replay_plan.error = later.error == 0 ? before.error : later.error;
    replay_plan.waited_ns += before.waited_ns;
    replay_plan.high = std::max(later.high, before.high);
    replay_plan.taken += before.taken;
    replay_plan.drained += before.drained;
    replay_plan.storage_ns += before.storage_ns;
    replay_plan.storage_bytes += before.storage_bytes;
    replay_plan.requests += before.requests;
    replay_plan.times += before.times;
}

}  // namespace

std::shared_ptr<Meter> FileStatistics::meter_of(const ports::Identity& identity) const {
    for (const auto& [slot, known] : known_) {
        if (known.identity == identity &&
            directory_.files[slot].generation.load(relaxed) == known.generation) {
            return known.meter;
        }
    }
    return std::make_shared<Meter>();
}

void FileStatistics::opened(std::uint32_t slot, const ports::Identity& identity,
                            std::shared_ptr<Meter> meter) {
    const pool::FileSlot& file = directory_.files[slot];
    Known& known = known_[slot];
    if (!known.meter || known.generation != file.generation.load(relaxed)) {
        const std::string_view path{file.path.data()};
        known = {.generation = file.generation.load(relaxed),
                 .identity = identity,
                 .meter = std::move(meter),
                 .replay_plan = {.path = std::string{path}, .times = 1}};
    }
    look(slot, known);
}

void FileStatistics::look(std::uint32_t slot, Known& known) const {
    const pool::FileSlot& file = directory_.files[slot];
    FileStory& replay_plan = known.replay_plan;
    replay_plan.state = file.state.load(relaxed);
    replay_plan.taken = std::max(replay_plan.taken, file.taken.load(relaxed));
    replay_plan.drained = std::max(replay_plan.drained, file.drained.load(relaxed));
    replay_plan.waited_ns = known.asked_ns + file.waited_ns.load(relaxed);
    replay_plan.window = file.window.load(relaxed);
    replay_plan.high = std::max(replay_plan.high, file.high.load(relaxed));
    replay_plan.extents = file.extents.load(relaxed);
    const pool::Reason reason = file.reason.load(relaxed);
    const int error = file.error.load(relaxed);
    replay_plan.reason = reason == pool::Reason::none ? replay_plan.reason : reason;
    replay_plan.error = error == 0 ? replay_plan.error : error;
}

void FileStatistics::waited(std::uint32_t slot, std::int64_t ns) {
    const auto found = known_.find(slot);
    if (found != known_.end()) {
        found->second.asked_ns += ns;
    }
}

void FileStatistics::look() {
    for (auto at = known_.begin(); at != known_.end();) {
        auto& [slot, known] = *at;
        const pool::FileSlot& file = directory_.files[slot];
        const std::uint32_t generation = file.generation.load(relaxed);
        const bool is_free = file.state.load(relaxed) == pool::FileState::free;
        if (!is_free && generation == known.generation) {
            look(slot, known);
            ++at;
            continue;
        }
        if (is_free && generation == known.generation + 1) {
            look(slot, known);  // its statistics stay until another file has the slot
        }
        known.replay_plan.state = pool::FileState::free;
        known.replay_plan.drained = known.replay_plan.taken;  // only then is a file forgotten
        known.replay_plan.extents = 0;
        add_meter(*known.meter, 0, known.replay_plan);
        if (ended_.size() >= stories_max && !ended_.contains(known.replay_plan.path)) {
            ++dropped_;
        } else {
            add_story(known.replay_plan, ended_[known.replay_plan.path]);
        }
        at = known_.erase(at);
    }
}

std::vector<std::uint32_t> FileStatistics::slots() const {
    std::vector<std::uint32_t> slots;
    slots.reserve(known_.size());
    for (const auto& [slot, known] : known_) {
        slots.push_back(slot);
    }
    return slots;
}

std::vector<FileStory> FileStatistics::replay_plans(std::int64_t now_ns) const {
    std::map<std::string, FileStory> all = ended_;
    for (const auto& [slot, known] : known_) {
        FileStory replay_plan = known.replay_plan;
        replay_plan.oldest_ns = now_ns - oldest_of(directory_, directory_.files[slot], now_ns);
        add_meter(*known.meter, now_ns, replay_plan);
        replay_plan.silent_ns = silent_ns(*known.meter, now_ns);
        add_story(replay_plan, all[replay_plan.path]);
    }
    std::vector<FileStory> replay_plans;
    replay_plans.reserve(all.size());
    for (auto& [path, replay_plan] : all) {
        replay_plans.push_back(std::move(replay_plan));
    }
    return replay_plans;
}

}  // namespace forebay::daemon
