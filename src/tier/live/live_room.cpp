// Room in fast storage: which files are let in, and which replicas make way.
#include "tier/live/live_tier.hpp"

#include <algorithm>
#include <chrono>
#include <sys/statvfs.h>

namespace forebay::tier {

namespace {

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
    const std::int64_t free = static_cast<std::int64_t>(system.f_bavail) * unit;
    if (room_bytes_ == 0) {
        return {capacity, capacity - free, high_part_, low_part_};
    }
    const std::int64_t own = list_.bytes();
    return {std::min(room_bytes_, own + free), own, high_part_, low_part_};
}

bool LiveTier::fits_in_own_room(const LiveFile& file, std::int64_t more) {
    const auto fits = [&] { return room_bytes_ == 0 || list_.bytes() + more <= room_bytes_; };
    return fits() || (give_room(file) && fits());
}

bool LiveTier::is_admitted(const LiveFile& file, TieredUse use, std::int64_t promised) {
    const PlaceRoom place = room();
    // Bytes that are being filled in are counted twice in part, so that no fill fails for lack of
    // room.
    const FastRoom room{.capacity_bytes = place.capacity,
                        .used_bytes = place.used + promised,
                        .high_bytes = place.high(),
                        .low_bytes = place.low(),
                        .global_bytes = use.writes && !has_room_below(0) ? 0 : -1};
    use.name = name_in(file.path);
    use.heat = 1;
    return admission_of(file.policy, use, room, {},
                        deadline_passed_.load(std::memory_order_relaxed)) ==
           AdmissionVerdict::admitted;
}

void LiveTier::move_others(const LiveFile& except) {
    announce_waiting();
    for (const ListedReplica& one : list_.all_waiting()) {
        const std::shared_ptr<LiveFile> file = one.name == except.name ? nullptr : find(one.name);
        if (file) {
            static_cast<void>(move_file(*file));  // it is told, and tried again
        }
    }
}

void LiveTier::leave_room_to_others(LiveFile& file) {
    {
        const FileLock lock{file.mutex};
        if (file.open || !file.policy.write) {
            return;
        }
    }
    if (list_.waiting_bytes() > 0 && !has_room_below(0)) {
        move_others(file);
    }
}

bool LiveTier::is_used(const ReplicaName& name) {
    const std::shared_ptr<LiveFile> file = entry_of(name);
    if (!file) {
        return false;
    }
    const FileLock lock{file->mutex, std::try_to_lock};
    if (!lock.owns_lock() || file->moving || file->fills) {
        return true;
    }
    const std::lock_guard tier_lock{mutex_};
    return file->handles > 0;
}

EvictionFacts LiveTier::eviction_facts(const LiveFile* except) {
    return {.is_used =
                [this, except](const ReplicaName& name) {
                    return (except != nullptr && name == except->name) || is_used(name);
                },
            .policy_of =
                [this](const std::string& path) {
                    return policies_.policy_of(path, believed_for_eviction);
                }};
}

bool LiveTier::evict_coldest(const EvictSituation& situation, const LiveFile* except) {
    bool given = false;
    for (const ReplicaName& name : coldest_to_evict(list_, situation, eviction_facts(except))) {
        given |= evict_unused(name);
    }
    return given;
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
    if (const std::int64_t now = clock_.now_ns(); now - looked_ns_ >= look_ns_) {
        looked_ns_ = now;
        sweep_entries();
        list_.take_back();  // a folder's policy may have changed
        evict_expired();
    }
    const PlaceRoom place = room();
    static_cast<void>(evict_coldest({.now_ns = calendar_.now_ns(),
                                     .used_bytes = place.used,
                                     .high_bytes = place.high(),
                                     .low_bytes = place.low()},
                                    nullptr));
}

// The policy of a folder is asked for when it has got its first replica, at the latest: so no
// replica that expires is overlooked if no policy that was found since the last time says so.
void LiveTier::evict_expired() {
    ask_policies_of_new_folders();
    if (!policies_.take_any_expires()) {
        return;
    }
    const std::int64_t now = calendar_.now_ns();
    for (const ReplicaName& name : expired_to_evict(list_, now, eviction_facts(nullptr))) {
        static_cast<void>(evict_unused(name));
    }
}

void LiveTier::ask_policies_of_new_folders() {
    for (const std::string& folder : list_.take_new_folders()) {
        static_cast<void>(policies_.policy_of(folder + "/x", believed_for_eviction));
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
    return evict_coldest({.now_ns = calendar_.now_ns(),
                          .used_bytes = place.used,
                          .high_bytes = -1,
                          .low_bytes = low_for_a_write(place.used, place.capacity, place.low())},
                         &except);
}

}  // namespace forebay::tier
