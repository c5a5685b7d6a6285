// The pool of a node and the parts around it: what the daemon's requests, its shutdown and its loop
// work on.
#pragma once

#include "foundation/ports/clock.hpp"
#include "pool/cluster/coherence/coherence_client.hpp"
#include "pool/cluster/peer_reads/peer_read_client.hpp"
#include "pool/cluster/peer_reads/peer_read_server.hpp"
#include "pool/core/pool.hpp"
#include "pool/daemon/liveness/liveness.hpp"
#include "pool/daemon/memory/memory.hpp"
#include "pool/daemon/memory/shared_segment.hpp"
#include "pool/daemon/replay/open_journal.hpp"
#include "pool/daemon/requests/ticket_sources.hpp"
#include "pool/daemon/status/file_statistics.hpp"
#include "pool/daemon/status/notes.hpp"
#include "pool/daemon/status/status.hpp"
#include "pool/policy/deadline.hpp"
#include "pool/policy/folder_rules.hpp"
#include "pool/policy/memory_limit.hpp"
#include "storage/posix/background_io.hpp"
#include "storage/uring/open.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace forebay::daemon {

struct DaemonOptions {
    pool::PoolOptions pool;
    pool::MemoryLimit memory;        // that the pool shares with the programs
    std::vector<std::string> notes;  // what people are to know of these options
    adapters::StoragePreference storage = adapters::StoragePreference::automatic;
    JournalOptions journal;
    // No file is pooled: every write is with the file system before it returns.
    bool through = false;
    std::vector<pool::FolderRule> folders;
    // The end of the batch job, CLOCK_REALTIME, and how long before it the pool takes nothing more.
    std::int64_t job_end_ns = pool::DrainDeadline::never;
    std::int64_t job_margin_ns = 0;
    // For the daemons of a job, which each have a pool; see coherence_client.hpp.
    tokens::Node node = 0;
    std::uint32_t nodes = 1;
    std::uint32_t readers = 0;  // see CoherenceClient::Job
    // Outlives the daemon's context; null: only connected processes find files by their inodes.
    pool::KnownInodes* inodes = nullptr;
};

struct DaemonClocks {
    const ports::TimeSource& steady;
    const ports::TimeSource& calendar;          // of files' times
    const ports::TimeSource* effort = nullptr;  // processor time of this process; null: not bounded
};

struct DaemonContext {
    // The clocks outlive it, and so does `post`, where there are other daemons. The calling thread
    // is the one whose death clients see. All that a journal has is in its files then, or its notes
    // say that it is not.
    [[nodiscard]] static Result<std::unique_ptr<DaemonContext>> make(const DaemonOptions& options,
                                                                     const DaemonClocks& clocks,
                                                                     cluster::PeerTransport* post);
    DaemonContext(SharedSegment directory_segment, SharedCleanMemory clean_memory, KeptJournal kept,
                  const DaemonOptions& daemon_options, const DaemonClocks& daemon_clocks,
                  cluster::PeerTransport* post);
    DaemonContext(const DaemonContext&) = delete;
    DaemonContext& operator=(const DaemonContext&) = delete;
    // Clients see that the daemon is dead, unless its shutdown said that it ends well.
    ~DaemonContext();

    // A round of the pool, and of what passes between the daemons. True when anything was done.
    bool run_once();
    [[nodiscard]] bool idle() const;
    // Nothing is in the pool any more, but for what cannot be drained.
    [[nodiscard]] bool all_files_have_left();
    // Files that were left alone do with fewer descriptors, if there are any.
    bool give_descriptors_back();

    [[nodiscard]] std::string status(bool ended, const std::vector<RescuedFile>& rescued = {});
    // Messages for people, since the last time.
    [[nodiscard]] std::vector<std::string> new_notes();
    // Readable when the journal has something to tell; -1: there is none. To be emptied.
    [[nodiscard]] int journal_bell() const noexcept;

    const DaemonOptions options;
    const DaemonClocks clocks;
    SharedSegment segment;  // of the directory
    pool::Directory& directory;
    SharedLogMemory memory;
    SharedCleanMemory clean;
    SharedSleepers sleepers;
    FileStatistics statistics;
    std::int64_t started_ns;
    ShutdownOutcome ending = ShutdownOutcome::badly;
    KeptJournal journal;
    DaemonNotes notes;
    // A file system that hangs must not stop the daemon.
    adapters::BackgroundThreads background_io;
    adapters::BackgroundThreads openings;
    // The three for the other daemons are there together, or none is. Files of the pool use the
    // first two to their end, so that these outlive it.
    std::optional<cluster::CoherenceClient> coherence;
    std::optional<cluster::PeerReadClient> peer_read_client;
    pool::Pool pool;
    std::optional<cluster::PeerReadServer> peer_read_server;
    TicketSources tickets;

private:
    [[nodiscard]] std::string why_durability_ended() const;
};

}  // namespace forebay::daemon
