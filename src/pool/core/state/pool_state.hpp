// Everything that the parts of the pool share: options, ports, counts, extents, journal; clients,
// files, and background work; and the few steps that concern more than one of them.
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

    // Cached writes and read-ahead of a file exclude each other.
    [[nodiscard]] bool excludes() const noexcept {
        return options.consistency == CacheConsistency::paper;
    }
    [[nodiscard]] std::int64_t now_ns() const { return ports.clock.now_ns(); }
    // Where the bytes lie.
    [[nodiscard]] std::byte* memory_of(const Deposit& deposit) const noexcept;

    // A client has opened the file: it is known from now on.
    [[nodiscard]] Result<PooledFile*> make_known(DaemonFile& open);
    // Deposits of the file are nobody's any more: their bytes are free.
    void free(PooledFile& file, const std::vector<Deposit>& deposits);
    // See BackgroundWork::begin.
    void begin_background_task(PooledFile& file, BackgroundTask::Company company,
                               std::function<std::int64_t()> call,
                               std::function<void(std::int64_t)> then);
    bool end_background_tasks();
    // No more deposits from now on: all files leave, and logs are sealed. The first call counts.
    void close_down(ThroughReason reason);
    // Wakes those who sleep on what has changed.
    void wake_notified();
    // At the end: whatever clients wait for has happened.
    void release_waiters();
};

}  // namespace forebay::pool
