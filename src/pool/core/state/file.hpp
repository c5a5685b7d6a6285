// The daemon's knowledge of one file: a part for each module that works on files, defined in a
// header of that module.
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
    // Owners: this, and background I/O under way, which end after a file that is given up.
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

    bool busy_ = false;      // among PoolFiles' busy files
    bool notifies_ = false;  // its word has changed: whoever sleeps is to be woken
};

}  // namespace forebay::pool
