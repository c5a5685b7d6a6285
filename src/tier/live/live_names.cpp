// Carries changes of names and attributes over to replicas, and describes files that have one.
#include "tier/live/live_tier.hpp"

#include "foundation/base/printable.hpp"
#include "foundation/kernel/calls.hpp"
#include "tier/posix/tiered_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <utility>

namespace forebay::tier {

namespace {

// Within the quotes of a JSON string.
std::string in_json(std::string_view text) {
    std::string json;
    for (const char one : printable(text)) {
        json += one == '"' || one == '\\' ? "\\" : "";
        json += one;
    }
    return json;
}

}  // namespace

std::optional<ReplicaStatus> LiveTier::status_of(LiveFile& file) {
    struct stat found{};
    if (file.open) {
        if (kernel::fstat(file.open->descriptor, &found) != 0) {
            return std::nullopt;
        }
    } else if (file.closed_status) {
        return file.closed_status;
    } else {
        auto replica = fast_->open(file.name);
        if (!replica || !*replica ||
            kernel::fstat(static_cast<PosixTieredFile&>(**replica).fd(), &found) != 0) {
            return std::nullopt;
        }
    }
    return ReplicaStatus{found.st_size, found.st_blocks, found.st_mtim};
}

void LiveTier::add_status(int fd, struct stat& status) {
    if (!S_ISREG(status.st_mode)) {
        return;
    }
    const auto name = name_of(fd, status);
    if (!name) {
        return;
    }
    see(*name);
    const auto waits = [this, &name] {
        const auto listed = list_.find(*name);
        return listed && *listed && is_dirty((*listed)->state);
    };
    const std::shared_ptr<LiveFile> file = waits() ? find(*name) : entry_of(*name);
    if (!file) {
        return;
    }
    const FileLock lock{file->mutex};
    const bool newer = file->open ? is_newer(*file) : waits();
    auto found = newer ? status_of(*file) : std::nullopt;
    if (found && !file->open && !file->moving) {
        file->closed_status = found;
    }
    if (!found) {
        // It may have been moved since `status` was taken.
        struct stat now{};
        if (kernel::fstat(fd, &now) != 0) {
            return;
        }
        found = ReplicaStatus{now.st_size, now.st_blocks, now.st_mtim};
        // A replica in a fast place that fails: its length is what was known last.
        if (const auto listed = list_.find(*name); newer && listed && *listed && waits()) {
            found->bytes = (*listed)->bytes;
        }
    }
    status.st_size = found->bytes;
    status.st_blocks = found->blocks;
    status.st_mtim = found->modified;
}

LiveTier::AttributeChange::AttributeChange(LiveTier* tier, int fd) : tier_{tier}, fd_{fd} {
    const std::shared_ptr<LiveFile> file = tier_ != nullptr ? tier_->find(fd) : nullptr;
    if (!file) {
        return;
    }
    const FileLock lock{file->mutex};
    if (auto named = tier_->global_->open_again(fd, file->path)) {
        if (auto stamp = named->file->stamp()) {
            before_ = *stamp;
        }
    }
}

// A clean replica would be compared byte by byte at the next use.
LiveTier::AttributeChange::~AttributeChange() {
    const std::shared_ptr<LiveFile> file = before_ ? tier_->find(fd_) : nullptr;
    if (!file) {
        return;
    }
    const FileLock lock{file->mutex};
    const bool was_open = file->open != nullptr;
    const auto listed = tier_->list_.find(file->name);
    const bool clean = listed && *listed && (*listed)->state == ReplicaState::clean;
    if (!clean || file->moving || file->removed || (!was_open && !tier_->attach(*file))) {
        return;
    }
    LiveRecord& record = *file->open->record;
    const auto after = file->open->file->stamp();
    const StampVerdict then = compare_stamps(record.get().base, *before_);
    if (after && record.get().state == ReplicaState::clean &&
        (then == StampVerdict::same || then == StampVerdict::racy) &&
        compare_stamps(*before_, *after) != StampVerdict::contents) {
        static_cast<void>(
            record.change([&after](ReplicaRecord& changed) { changed.base = *after; }));
    }
    if (!was_open) {
        file->descriptor_now.store(-1, std::memory_order_release);
        file->open.reset();
    }
}

// The new path is on the replica before anything looks for its file there. A move that is under way
// goes on: it has the file open.
void LiveTier::relocate(LiveFile& file, const std::string& path) {
    file.path = path;
    if (file.open) {
        static_cast<void>(
            file.open->record->change([&path](ReplicaRecord& record) { record.path = path; }));
    } else if (auto replica = fast_->open(file.name); replica && *replica) {
        if (auto record = read_replica_record(**replica, fast_->key()); record && *record) {
            (*record)->path = path;
            static_cast<void>((*replica)->set_record(encode(**record, fast_->key())));
        }
    }
    if (auto now = list_.find(file.name); now && *now) {
        (*now)->path = path;
        static_cast<void>(list_.put(**now));
    }
}

void LiveTier::renamed(const std::string& from_now, const std::string& to_now) {
    const std::string from = global_->path_from_start(from_now);
    const std::string to = global_->path_from_start(to_now);
    for (const ListedReplica& one : list_.all_below(from)) {
        if (const std::shared_ptr<LiveFile> file = find(one.name)) {
            const FileLock lock{file->mutex};
            relocate(*file, to + one.path.substr(from.size()));
        }
    }
}

// A replica that is found later is looked for under the path that its record has, which is renewed
// for those only that are listed.
void LiveTier::before_name_change(int fd) {
    struct stat found{};
    if (kernel::fstat(fd, &found) != 0) {
        return;
    }
    if (S_ISDIR(found.st_mode)) {
        wait_until_found();
        return;
    }
    const std::shared_ptr<LiveFile> file = find(fd);
    if (file && found.st_nlink > 1) {
        static_cast<void>(bring_home(*file));
    }
}

void LiveTier::unlinked(int fd) {
    struct stat found{};
    if (kernel::fstat(fd, &found) != 0 || found.st_nlink > 0 || !S_ISREG(found.st_mode)) {
        return;
    }
    if (const auto name = name_of(fd, found)) {
        global_->forget(*name);
    }
    const std::shared_ptr<LiveFile> file = find(fd);
    if (!file) {
        return;
    }
    const FileLock lock{file->mutex};
    file->removed = true;
    file->moved.notify_all();
    bool used = false;
    {
        const std::lock_guard tier_lock{mutex_};
        used = file->handles > 0;
    }
    if (!used && !file->moving && !file->fills) {
        evict_file(*file);
        const std::lock_guard tier_lock{mutex_};
        files_.erase(file->name);
    }
}

std::string LiveTier::describe(int fd) {
    const std::shared_ptr<LiveFile> file = find(fd);
    if (!file) {
        return R"({"state":"none","generation":0,"bytes":0,"moving":false,"newer_since":0,)"
               R"("waits_for":"nothing","failure":""})";
    }
    const FileLock lock{file->mutex};
    const auto listed = list_.find(file->name);
    const ListedReplica one = listed && *listed ? **listed : ListedReplica{};
    const ReplicaState state = file->open ? file->open->record->get().state : one.state;
    constexpr std::int64_t second_ns = 1'000'000'000;
    return fmt::format(R"({{"state":"{}","generation":{},"bytes":{},"moving":{},"newer_since":{},)"
                       R"("waits_for":"{}","failure":"{}"}})",
                       tier::name_of(state), one.generation, one.bytes, file->moving,
                       one.dirtied_ns / second_ns,
                       is_dirty(state) ? reason_to_wait(*file) : "nothing", in_json(file->failure));
}

std::string_view LiveTier::reason_to_wait(const LiveFile& file) {
    if (file.moving) {
        return "move";
    }
    if (file.failures > 0 && clock_.now_ns() < file.retry_ns) {
        return "retry";
    }
    switch (file.policy.trigger) {
        case MoveTrigger::at_close: return writers_of(file) > 0 ? "close" : "turn";
        case MoveTrigger::at_idle: return "idle";
        case MoveTrigger::at_size: return "size";
        case MoveTrigger::at_job_end: return "job";
        case MoveTrigger::manual: return "order";
    }
    return "turn";
}

std::string LiveTier::describe_all(const std::string& path) {
    const auto sums = list_.sums(global_->path_from_start(path));
    const ListedSums all = sums ? *sums : ListedSums{};
    const std::lock_guard lock{mutex_};
    return fmt::format(
        R"({{"schema":"forebay.tier.status/1","fast":"{:016x}","replicas":{},"bytes":{},)"
        R"("waiting":{},"waiting_bytes":{},"made":{},"filled":{},"moved":{},"moved_bytes":{},)"
        R"("evicted":{},"rescued":{},"failed":{},"taken_over":{},"given_up":{},"unfound":{},)"
        R"("taken_bytes":{},"hits":{},"misses":{}}})",
        fast_->owner(), all.replicas, all.bytes, all.waiting, all.waiting_bytes, counts_.made,
        counts_.filled, counts_.moved, counts_.moved_bytes, counts_.evicted, counts_.rescued,
        counts_.failed, counts_.taken_over, counts_.given_up,
        unfound_.load(std::memory_order_relaxed), taken_bytes_.load(std::memory_order_relaxed),
        counts_.hits, counts_.misses);
}

}  // namespace forebay::tier
