// The conditions that each transition of a file waits for.
#include "pool/core/lifecycle/file_life.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"
#include "pool/core/flush/change_time.hpp"
#include "pool/core/flush/sync.hpp"
#include "pool/core/requests/tasks.hpp"
#include "pool/core/state/room.hpp"

#include <algorithm>

namespace forebay::pool {

namespace {

// The file system is asked for its free space each second and each 16 MiB that a file holds more,
// and whether a file has a name each 10 ms.
constexpr std::int64_t room_look_ns = 1'000'000'000;
constexpr std::int64_t room_look_bytes = room_margin_bytes;
constexpr std::int64_t name_look_ns = 10'000'000;
// Maximum wait for space of unlinked files: if files are created and unlinked all the time, there
// is always another one.
constexpr std::int64_t room_wait_ns = 1'000'000'000;
// After a request of another node, a file stays known for this long: that node may ask for more,
// and nodes that read by way of it may be slower.
constexpr std::int64_t shared_for_ns = 500'000'000;

// Whether the file is open for reading and for writing; for CacheConsistency::paper.
bool read_and_written(const PooledFile& file) {
    bool reads = false;
    bool writes = false;
    for (const auto& [client, opens] : file.opens.by_client) {
        for (const AccessMode access : opens.each) {
            reads = reads || access != AccessMode::write;
            writes = writes || access != AccessMode::read;
        }
    }
    return reads && writes;
}

// Whether no client, request or node needs the file.
bool nobody_needs(const PooledFile& file) {
    return file.opens.by_client.empty() && !file.flush.batch && file.requests.waiting.empty() &&
           !file.background_task && !file.prefetch.listed &&
           file.prefetch.asked_by_peer_ns == never_ns;
}

}  // namespace

void FileLife::note_opened(PoolState& pool_state, PooledFile& file) {
    if (read_and_written(file)) {
        file.lifecycle.mixed_ns = pool_state.now_ns();
        pool_state.files.mark_busy(file);
    }
}

bool FileLife::look_at(PooledFile& file) {
    judge_mixed(file);
    if (file.prefetch.asked_by_peer_ns != never_ns &&
        (pool_state_.now_ns() - file.prefetch.asked_by_peer_ns > shared_for_ns ||
         pool_state_.files.state_of(file) != FileState::pooled)) {
        file.prefetch.asked_by_peer_ns = never_ns;
    }
    look_at_room(file);
    look_at_name(file);
    if (file.deposits.held_bytes == 0 && !file.flush.batch && !file.background_task) {
        (void)stamped(file);
    }
    const bool synced = sync_for_journal(file);
    const bool through = go_through(file);
    const bool let_go = let_descriptors_go(file);
    return forget(file) || through || let_go || synced;
}

// Syncs the file if the journal wants that: its records of a durable file can be let go.
bool FileLife::sync_for_journal(PooledFile& file) {
    if (!pool_state_.journal.wants_sync(file)) {
        return false;
    }
    begin_sync(pool_state_, file, [](int /*error*/) {});
    return true;
}

// The file is judged when the logs have been taken up to the open that mixed the two: one of them
// may say that the file was closed before.
void FileLife::judge_mixed(PooledFile& file) {
    if (file.lifecycle.mixed_ns == never_ns ||
        file.lifecycle.mixed_ns >= pool_state_.ingest.taken_until_ns) {
        return;
    }
    file.lifecycle.mixed_ns = never_ns;
    if (read_and_written(file)) {
        pool_state_.files.leave(file, ThroughReason::read_and_written);
    }
}

// Deposits for which there is no space must not be acknowledged; so space is looked at in time.
void FileLife::look_at_room(PooledFile& file) {
    if (pool_state_.files.state_of(file) != FileState::pooled || file.deposits.held_bytes == 0 ||
        file.background_task) {
        return;
    }
    const std::int64_t now = pool_state_.now_ns();
    const bool asked = file.room.asked_ns != never_ns && now - file.room.asked_ns < room_look_ns;
    if (asked && !FileTasks::asks_for_room(pool_state_, file) &&
        file.deposits.held_bytes - file.room.asked_held_bytes < room_look_bytes) {
        return;
    }
    file.room.asked_ns = now;
    file.room.asked_held_bytes = file.deposits.held_bytes;
    pool_state_.begin_background_task(
        file, BackgroundTask::Company::any, [open = file.open] { return open->control->room(); },
        [this, &file, look = begin_look(pool_state_)](std::int64_t room) {
            judge_room(file, {room, look.began_ns, look.drained_bytes});
        });
}

void FileLife::judge_room(PooledFile& file, const RoomLook& look) {
    note_room(pool_state_, file, look);
    if (is_short_of_room(pool_state_, file, look.room)) {
        pool_state_.files.leave(file, ThroughReason::no_room);
    }
}

// Whether a client may open files that have no name and that nobody has open.
bool FileLife::may_be_reopened() const {
    return std::ranges::any_of(pool_state_.clients.admitted(), [](const Client& client) {
        const Log& log = client.log();
        return log.mapped() && log.header().opened_paths.load(std::memory_order_seq_cst) != 0;
    });
}

// Nobody will ever read a file that has no name and is not open anywhere: its deposits are dropped.
void FileLife::look_at_name(PooledFile& file) {
    const std::int64_t now = pool_state_.now_ns();
    const bool asked = file.lifecycle.name_asked_ns != never_ns &&
                       now - file.lifecycle.name_asked_ns < name_look_ns;
    if (!nobody_needs(file) || being_opened_ > 0 || file.deposits.held_bytes == 0 || asked ||
        file.lifecycle.may_be_inherited || pool_state_.options.shared || may_be_reopened()) {
        return;
    }
    file.lifecycle.name_asked_ns = now;
    pool_state_.begin_background_task(
        file, BackgroundTask::Company::alone,
        [open = file.open] { return std::int64_t{open->control->has_name() ? 1 : 0}; },
        [this, &file](std::int64_t has_name) {
            if (has_name != 0 || !nobody_needs(file) || being_opened_ > 0 || may_be_reopened()) {
                return;
            }
            std::vector<Deposit> gone;
            const Extent all{Offset{0}, Offset::none() - Offset{0}};
            const bool cut = pool_state_.extents.cut(pool_state_.files.slot_of(file), all, gone);
            invariant(cut, "whole extents are not split");
            pool_state_.free(file, gone);
            pool_state_.journal.drop(file);
            ensures(file.deposits.held_bytes == 0, "nothing of the file is deposited any more");
        });
}

// The file's st_mtime shall be the time of its last deposit, not that of the request that drained
// it. It is set once after draining: a time that the program sets later (tar, cp -p) stays.
bool FileLife::stamped(PooledFile& file) {
    const std::int64_t modified = pool_state_.files.slot_of(file).modified_ns.load(relaxed);
    if (modified == 0) {
        return true;
    }
    if (!pool_state_.journal.may_change(file)) {
        return false;
    }
    expects(file.open->control != nullptr, "the daemon has a descriptor of the file");
    file.stamp.mark_changed_here();
    note_changing(pool_state_, file);
    // Shared by the call, which fills it in, and by the continuation.
    const auto stamp = std::make_shared<std::optional<ChangeStamp>>();
    pool_state_.begin_background_task(
        file, BackgroundTask::Company::alone,
        [open = file.open, modified, stamp] {
            const int error = open->control->set_modified(modified);
            *stamp = open->control->stamp();
            return std::int64_t{error};
        },
        [this, &file, modified, stamp](std::int64_t /*error*/) {
            note_changed(pool_state_, file, *stamp, modified);
            std::atomic<std::int64_t>& now = pool_state_.files.slot_of(file).modified_ns;
            // A deposit within the same tick may have come meanwhile.
            const bool done = now.load(relaxed) == modified && file.deposits.held_bytes == 0;
            now.store(done ? 0 : now.load(relaxed), relaxed);
            file.stamp.mark_changed_here();
            pool_state_.files.mark_busy(file);
        });
    return false;
}

// From leaving to through, once nothing is deposited, no client has an entry reserved, and the
// journal needs nothing of the file.
bool FileLife::go_through(PooledFile& file) {
    FileSlot& slot = pool_state_.files.slot_of(file);
    if (slot.state.load(relaxed) != FileState::leaving || file.deposits.held_bytes > 0 ||
        file.flush.batch || file.background_task ||
        pool_state_.ingest.round <= file.lifecycle.left_in_round ||
        file.lifecycle.reserved_in_round == pool_state_.ingest.round || !stamped(file) ||
        !pool_state_.journal.nothing_of(file) || waits_for_room(file)) {
        return false;
    }
    invariant(!file.requests.truncates, "a truncation is a background task");
    // From now on the file system knows the file's length; a program outside of the pool may
    // truncate it.
    slot.size.store(0, std::memory_order_release);
    slot.state.store(FileState::through, std::memory_order_seq_cst);
    pool_state_.files.notify(file);
    return true;
}

// A file that left for lack of space shall see the disk as it would be without the pool: files that
// were unlinked are closed first.
bool FileLife::waits_for_room(PooledFile& file) {
    if (pool_state_.files.slot_of(file).reason.load(relaxed) != ThroughReason::no_room) {
        return false;
    }
    if (file.room.short_since_ns == never_ns) {
        file.room.short_since_ns = pool_state_.now_ns();
    }
    return pool_state_.now_ns() - file.room.short_since_ns < room_wait_ns &&
           room_may_come(pool_state_, file, file.room.short_since_ns);
}

// The clients of a file that is through have descriptors of their own. A file that may be pooled
// again keeps the daemon's.
bool FileLife::let_descriptors_go(PooledFile& file) {
    const bool through = pool_state_.files.state_of(file) == FileState::through &&
                         !can_be_undone(pool_state_.files.slot_of(file).reason.load(relaxed));
    if (!through || file.background_task || file.prefetch.listed ||
        !pool_state_.journal.nothing_of(file) || (!file.open->storage && !file.open->control)) {
        return false;
    }
    pool_state_.files.release_descriptors(file);
    return true;
}

// Forgets a file that nobody needs, once it is drained, stamped and settled in the journal.
bool FileLife::forget(PooledFile& file) {
    if (!nobody_needs(file) || file.deposits.held_bytes > 0 || !stamped(file) ||
        !pool_state_.journal.nothing_of(file)) {
        return false;
    }
    pool_state_.files.forget(file);
    return true;
}

}  // namespace forebay::pool
