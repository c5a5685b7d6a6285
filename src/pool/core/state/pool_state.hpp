// The state that the parts of the pool share: options, ports, counters, extents, clients, files,
// background work, read cache and journal; and the few steps that concern more than one of these.
#pragma once

#include "pool/core/flush/journal.hpp"
#include "pool/core/ingest/ingest_state.hpp"
#include "pool/core/ports.hpp"
#include "pool/core/prefetch/read_cache.hpp"
#include "pool/core/state/background.hpp"
#include "pool/core/state/clients.hpp"
#include "pool/core/state/files.hpp"
#include "pool/core/types.hpp"
#include "pool/protocol/extents.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace forebay::pool {

class PoolState {
public:
    PoolState(Directory& shared, const PoolPorts& node, const PoolOptions& wanted);
    PoolState(const PoolState&) = delete;
    PoolState& operator=(const PoolState&) = delete;

    Directory& directory;
    const PoolPorts ports;
    const PoolOptions options;
    FileExtents extents;
    PoolCounts counts;
    IngestState ingest;
    PoolClients clients;
    BackgroundWork background;
    ReadCache read_cache;
    PoolFiles files;
    Journal journal;

    // Whether a file may not have deposits and read-cache blocks at the same time.
    [[nodiscard]] bool excludes() const noexcept {
        return options.consistency == CacheConsistency::paper;
    }
    [[nodiscard]] std::int64_t now_ns() const { return ports.clock.now_ns(); }
    // The memory of the deposit's bytes in its client's log.
    [[nodiscard]] std::byte* memory_of(const Deposit& deposit) const noexcept;

    // A client has opened the file: makes it known, or updates it.
    [[nodiscard]] Result<PooledFile*> make_known(DaemonFile& open);
    // Frees deposits that are not in the file's extents any more, because they were drained,
    // overwritten or cut off.
    void free(PooledFile& file, const std::vector<Deposit>& deposits);
    // See BackgroundWork::begin.
    void begin_background_task(PooledFile& file, BackgroundTask::Company company,
                               std::function<std::int64_t()> call,
                               std::function<void(std::int64_t)> then);
    // Calls the continuations of background tasks that have ended. Returns true if any had.
    bool end_background_tasks();
    // See Pool::close_down().
    void close_down(ThroughReason reason);
    // Wakes the clients that sleep on words that have changed in this round.
    void wake_notified();
    // At the end: wakes all clients, and publishes that whatever they wait for has happened.
    void release_waiters();
};

}  // namespace forebay::pool
