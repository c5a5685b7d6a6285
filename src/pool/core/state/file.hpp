// The daemon's record of one file: for each module that works on files a part, which that module
// defines in its own folder.
#pragma once

#include "pool/core/flush/flush_state.hpp"
#include "pool/core/flush/journal_state.hpp"
#include "pool/core/ingest/deposit_totals.hpp"
#include "pool/core/lifecycle/file_opens.hpp"
#include "pool/core/lifecycle/lifecycle_state.hpp"
#include "pool/core/prefetch/prefetch_state.hpp"
#include "pool/core/requests/request_state.hpp"
#include "pool/core/state/background_task.hpp"
#include "pool/core/state/file_stamp.hpp"
#include "pool/core/state/room_state.hpp"
#include "pool/core/types.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace forebay::pool {

struct PooledFile {
    std::uint32_t slot = 0;
    // Shared by this object and by background I/O under way, which may outlive it if the file is
    // given up.
    std::shared_ptr<DaemonFile> open;
    FileStamp stamp;

    FileOpens opens;
    DepositTotals deposits;
    FlushState flush;
    JournalState journal;
    PrefetchState prefetch;
    RequestState requests;
    LifecycleState lifecycle;
    RoomState room;
    std::optional<BackgroundTask> background_task;

private:
    friend class PoolFiles;

    bool busy_ = false;  // in PoolFiles::busy_
    // FileSlot::progress is due to change: whoever sleeps on it is woken at the end of the round.
    bool notifies_ = false;
};

}  // namespace forebay::pool
