// Files of which a tier of another node has bytes that the parallel file system lacks: an open
// waits for them. And the other side of it: what tiers of other nodes wait for is moved.
#include "tier/live/live_tier.hpp"

#include "foundation/base/error_number.hpp"
#include "foundation/base/report.hpp"
#include "foundation/kernel/calls.hpp"
#include "storage/transfer/gate.hpp"
#include "tier/live/long_wait.hpp"
#include "tier/policy/peer_wait.hpp"
#include "tier/posix/tiered_file.hpp"

#include <cerrno>
#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <sys/stat.h>
#include <thread>
#include <utility>

namespace forebay::tier {

namespace {

constexpr auto peer_look_every = std::chrono::milliseconds{50};
constexpr auto hear_every = std::chrono::milliseconds{100};

void report(const std::string& message) { forebay::report("forebay-mount", message); }

}  // namespace

Result<LiveTier::SeenFile> LiveTier::look_at(int fd, const ReplicaName& name) {
    const auto record = global_->record_of(fd, name);
    struct stat found{};
    if (!record || kernel::fstat(fd, &found) != 0) {
        return failure(record ? system_error(errno, "look at a file") : record.error());
    }
    constexpr std::int64_t second_ns = 1'000'000'000;
    const auto marker = decode_any_marker(*record, *fast_);
    const MarkerVerdict verdict = judge_marker(marker, name.inode, fast_->owner());
    return SeenFile{.marker = verdict == MarkerVerdict::elsewhere ? marker : std::nullopt,
                    .is_own = verdict == MarkerVerdict::lost,
                    .bytes = found.st_size,
                    .changed_ns = found.st_ctim.tv_sec * second_ns + found.st_ctim.tv_nsec};
}

int LiveTier::wait_for_peer(const TieredOpening& opening, const ReplicaName& name,
                            bool& may_be_lost) {
    std::optional<std::uint64_t> generation;
    std::int64_t silent_since = clock_.now_ns();
    LongWait waits{waits_for_peer_};
    for (SeenFile before;;) {
        const auto now = look_at(opening.fd, name);
        if (!now) {
            return errno_of(now.error());
        }
        if (now->bytes != before.bytes || now->changed_ns != before.changed_ns) {
            silent_since = clock_.now_ns();
            before = *now;
        }
        may_be_lost = now->is_own;
        const FileMarker marker = now->marker.value_or(FileMarker{});
        generation = generation.value_or(marker.generation);
        const auto place = now->marker ? peers_.find(marker.owner) : std::nullopt;
        const PeerStep step =
            next_peer_step({.is_marked = now->marker.has_value(),
                            .generation_before = *generation,
                            .generation = marker.generation,
                            .writes = opening.writes,
                            .empties = opening.empties,
                            .peer = !place                        ? PeerState::unseen
                                    : PeerPlaces::is_used(*place) ? PeerState::alive
                                                                  : PeerState::dead,
                            .silent_ns = clock_.now_ns() - silent_since,
                            .silent_ns_max = peer_wait_ns_});
        switch (step) {
            case PeerStep::proceed: return 0;
            case PeerStep::overwrite: {
                auto named = global_->open_again(opening.fd, opening.path);
                const auto removed = named ? named->file->remove_record() : Result<void>{};
                return removed ? 0 : errno_of(removed.error());
            }
            case PeerStep::refuse:
                report(fmt::format(
                    "cannot open {} (its newest bytes are in fast storage of another node, {}, and "
                    "are not moved). Run `forebay tier finish` or `forebay tier sync` there, or "
                    "write it anew.",
                    opening.path, place ? *place : fmt::format("number {:016x}", marker.owner)));
                return EIO;
            case PeerStep::ask: static_cast<void>(PeerPlaces::ask(*place, name)); break;
            case PeerStep::take_over:
                if (take_over(*place, name, opening.path)) {
                    continue;
                }
                break;
            case PeerStep::wait: break;
        }
        waits.begin();
        std::this_thread::sleep_for(peer_look_every);
    }
}

bool LiveTier::take_over(const std::string& place, const ReplicaName& name,
                         const std::string& path) {
    auto fast = FastFolder::open(place);
    if (!fast) {
        return false;  // its tier has started again, say
    }
    auto replica = (*fast)->open(name);
    auto file = global_->open(path, name);
    if (!replica || !*replica || !file || !*file) {
        return false;
    }
    auto record = read_replica_record(**replica, (*fast)->key());
    if (!record || !*record) {
        return false;
    }
    if ((*record)->path != path) {  // renamed since, or this node has another name for the folder
        (*record)->path = path;
        if (!(*replica)->set_record(encode(**record, (*fast)->key()))) {
            return false;
        }
    }
    MemoryReplicaList list;
    CopyMemory memory;
    const TierParts dead{**fast, *global_, list};
    const auto done = tier::set_right(dead, name, memory);
    if (!done || done->done == RedoAction::rescue) {
        report(!done
                   ? done.error().message
                   : fmt::format("{} was changed by somebody else: the bytes that were written to "
                                 "it are in {}. Compare the two.",
                                 path, done->kept_in));
        return done.has_value();
    }
    record = read_replica_record(**replica, (*fast)->key());
    if (!record || !*record || !is_dirty((*record)->state)) {
        return record.has_value();
    }
    LiveRecord live{**replica, (*fast)->key(), std::move(**record)};
    transfer::FixedGate gate{(*file)->stripes().targets, 2};
    const auto end = MoveTask{dead, {name, **replica, **file, live}, gate, clock_, memory}.run();
    if (!end) {
        report(end.error().message);
        return false;
    }
    const std::lock_guard lock{mutex_};
    ++counts_.taken_over;
    return true;
}

void LiveTier::serve_peers() {
    std::int64_t renewed_ns = 0;
    std::unique_lock lock{mutex_};
    while (!ends_) {
        lock.unlock();
        if (const std::int64_t now = clock_.now_ns(); now - renewed_ns >= lease_renewed_ns) {
            renewed_ns = now;
            fast_->renew_lease();
        }
        for (const ReplicaName& name : fast_->take_asked()) {
            see(name);
            if (const std::shared_ptr<LiveFile> file = find(name)) {
                const FileLock file_lock{file->mutex};
                const auto listed = list_.find(name);
                file->orders += listed && *listed && is_dirty((*listed)->state) ? 1 : 0;
                file->retry_ns = 0;
                list_.mark_changed(name);
                news_.notify_all();
            }
        }
        lock.lock();
        news_.wait_for(lock, hear_every, [this] { return ends_; });
    }
}

}  // namespace forebay::tier
