// Begins an fsync, and tells the journal its result.
#include "pool/core/flush/sync.hpp"

#include "foundation/base/contracts.hpp"

#include <cerrno>
#include <memory>
#include <utility>

namespace forebay::pool {

namespace {

// Syncs the file; returns 0 or an errno. fsync on a read-only descriptor makes durable what others
// have written, too.
int sync_open(const DaemonFile& open) {
    if (!open.storage) {
        return open.control->sync();
    }
    const auto synced = open.storage->sync();
    if (synced) {
        return 0;
    }
    return synced.error().system == 0 ? EIO : synced.error().system;
}

// After a failed fsync nobody knows which bytes are on the disk, and a second one may succeed
// without writing them: with a journal, which still has them, the error stays with the file.
void note_failure(PoolState& pool_state, PooledFile& file, int error) {
    pool_state.journal.sync_failed(file);
    if (pool_state.journal.asked()) {
        pool_state.files.slot_of(file).error.store(error, std::memory_order_relaxed);
        file.flush.failed_ns = pool_state.now_ns();
        file.flush.error_reported = false;
        file.flush.error_healed = false;
        pool_state.files.notify(file);
    }
}

}  // namespace

void begin_sync(PoolState& pool_state, PooledFile& file, std::function<void(int)> then) {
    expects(!file.flush.batch && !file.background_task, "nothing of the file is under way");
    expects(file.open->control != nullptr, "the daemon has a descriptor of the file");
    const std::uint64_t through = pool_state.journal.begin_sync(file);
    const bool past = std::exchange(file.journal.past_the_pool,
                                    pool_state.files.state_of(file) != FileState::pooled);
    // Shared by the call, which fills it in, and by the continuation.
    const auto stamp = std::make_shared<std::optional<ChangeStamp>>();
    pool_state.begin_background_task(
        file, BackgroundTask::Company::alone,
        [open = file.open, stamp]() -> std::int64_t {
            const int error = sync_open(*open);
            if (error == 0) {
                *stamp = open->control->stamp();
            }
            return error;
        },
        [&pool_state, &file, through, stamp, past, then = std::move(then)](std::int64_t error) {
            file.journal.past_the_pool = file.journal.past_the_pool || (past && error != 0);
            if (error == 0) {
                pool_state.journal.synced(file, through, *stamp);
            } else {
                note_failure(pool_state, file, static_cast<int>(error));
            }
            then(static_cast<int>(error));
        });
}

}  // namespace forebay::pool
