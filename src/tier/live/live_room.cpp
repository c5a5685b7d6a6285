// Room in fast storage: which files are let in, and which replicas make way.
#include "tier/live/live_tier.hpp"

#include "tier/policy/evict_order.hpp"

#include <chrono>
#include <sys/statvfs.h>
#include <utility>

namespace forebay::tier {

namespace {

constexpr std::int64_t look_at_all_ns = 10'000'000'000;
// How old a known policy may be here: asking for one is a request to a server.
constexpr auto believed_for_eviction = std::chrono::minutes{1};

std::string_view name_in(std::string_view path) noexcept {
    return path.substr(path.rfind('/') + 1);
}

}  // namespace

LiveTier::PlaceRoom LiveTier::room() const {
    struct statvfs system{};
    if (::fstatvfs(fast_folder_.get(), &system) != 0) {
        return {};
    }
    const auto unit = static_cast<std::int64_t>(system.f_frsize);
    const auto capacity = static_cast<std::int64_t>(system.f_blocks) * unit;
    return {capacity, capacity - static_cast<std::int64_t>(system.f_bavail) * unit};
}

bool LiveTier::is_admitted(const LiveFile& file, TieredUse use, std::int64_t promised) {
    const PlaceRoom place = room();
    // Bytes that are being filled in are counted twice in part, so that no fill fails for lack of
    // room.
    const FastRoom room{.capacity_bytes = place.capacity,
                        .used_bytes = place.used + promised,
                        .high_bytes = place.high(),
                        .low_bytes = place.low()};
    use.name = name_in(file.path);
    use.heat = 1;
    return admission_of(file.policy, use, room, {}, false) == AdmissionVerdict::admitted;
}

LiveTier::RoomTaken LiveTier::what_may_go(const LiveFile* except) {
    RoomTaken taken;
    for (const ListedReplica& one : list_.all_below("/")) {
        if (one.state != ReplicaState::clean || (except != nullptr && one.name == except->name)) {
            continue;
        }
        const std::shared_ptr<LiveFile> file = entry_of(one.name);
        const FileLock lock = file ? FileLock{file->mutex, std::try_to_lock} : FileLock{};
        bool used = file && (!lock.owns_lock() || file->moving || file->fills);
        if (file) {
            const std::lock_guard tier_lock{mutex_};
            used |= file->handles > 0;
        }
        const FolderPolicy policy = policies_.policy_of(one.path, believed_for_eviction);
        taken.names.push_back(one.name);
        taken.candidates.push_back({.bytes = one.bytes,
                                    .clean = true,
                                    .open = used,
                                    .pinned = policy.pinned,
                                    .heat = one.heat,
                                    .used_ns = one.used_ns,
                                    .live_ns = policy.live_ns});
    }
    return taken;
}

// Whoever opens the file meanwhile waits for its lock, and finds no replica then.
bool LiveTier::evict_unused(const ReplicaName& name) {
    std::shared_ptr<LiveFile> file;
    FileLock lock;
    {
        const std::lock_guard tier_lock{mutex_};
        auto& entry = files_[name];
        if (!entry) {
            entry = std::make_shared<LiveFile>(name);
        }
        file = entry;
        if (file->handles > 0) {
            return false;
        }
        lock = FileLock{file->mutex, std::try_to_lock};  // the caller may have another file's
    }
    const auto listed = list_.find(name);
    const bool evicted = lock.owns_lock() && !file->moving && !file->fills && !file->open &&
                         listed && *listed && (*listed)->state == ReplicaState::clean &&
                         evict(parts(), name);
    if (evicted) {
        file->closed_status.reset();
        const std::lock_guard tier_lock{mutex_};
        ++counts_.evicted;
    }
    let_go(*file);
    return evicted;
}

// Replicas whose time is up, and the coldest ones where fast storage is full.
void LiveTier::evict_old() {
    const PlaceRoom place = room();
    const std::int64_t now = clock_.now_ns();
    const bool is_time = now - looked_ns_ >= look_at_all_ns;
    looked_ns_ = is_time ? now : looked_ns_;
    if (is_time) {
        sweep_entries();
    }
    if (place.used <= place.high() && !(is_time && policies_.any_expires())) {
        return;
    }
    const RoomTaken taken = what_may_go(nullptr);
    for (const std::size_t one : to_evict(taken.candidates, {.now_ns = calendar_.now_ns(),
                                                             .used_bytes = place.used,
                                                             .high_bytes = place.high(),
                                                             .low_bytes = place.low()})) {
        static_cast<void>(evict_unused(taken.names[one]));
    }
}

// Files that nobody uses, and that wait for nothing, need no entry: find() makes it again.
void LiveTier::sweep_entries() {
    const std::lock_guard tier_lock{mutex_};
    std::erase_if(files_, [this](const auto& entry) {
        const std::shared_ptr<LiveFile>& file = entry.second;
        if (file->handles > 0 || file.use_count() > 1) {
            return false;
        }
        // Nobody else has it, nor gets it while the tier's mutex is held.
        const FileLock lock{file->mutex, std::try_to_lock};
        const auto listed = list_.find(entry.first);
        return lock.owns_lock() && !file->open && !file->moving && !file->filling && listed &&
               !(*listed && is_dirty((*listed)->state));
    });
}

bool LiveTier::give_room(const LiveFile& except) {
    const PlaceRoom place = room();
    const RoomTaken taken = what_may_go(&except);
    bool given = false;
    for (const std::size_t one :
         to_evict(taken.candidates,
                  {.now_ns = calendar_.now_ns(),
                   .used_bytes = place.used,
                   .high_bytes = -1,
                   .low_bytes = low_for_a_write(place.used, place.capacity, place.low())})) {
        given |= evict_unused(taken.names[one]);
    }
    return given;
}

}  // namespace forebay::tier
