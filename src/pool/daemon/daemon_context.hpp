// The pool of a node and everything that it needs in its daemon (shared memory, journal, clocks,
// other daemons), in one object: requests, shutdown and the daemon's loop all work on it.
#pragma once

#include "foundation/ports/clock.hpp"
#include "pool/cluster/coherence/coherence_client.hpp"
#include "pool/cluster/handover/handover_client.hpp"
#include "pool/cluster/handover/handover_server.hpp"
#include "pool/cluster/peer_reads/peer_read_client.hpp"
#include "pool/cluster/peer_reads/peer_read_server.hpp"
#include "pool/core/pool.hpp"
#include "pool/daemon/liveness/liveness.hpp"
#include "pool/daemon/memory/memory.hpp"
#include "pool/daemon/memory/shared_segment.hpp"
#include "pool/daemon/replay/open_journal.hpp"
#include "pool/daemon/requests/opening.hpp"
#include "pool/daemon/requests/ticket_sources.hpp"
#include "pool/daemon/status/count_samples.hpp"
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
    pool::MemoryLimit memory;        // memory that the pool shares with the programs
    std::vector<std::string> notes;  // messages for users about these options
    adapters::StoragePreference storage = adapters::StoragePreference::automatic;
    JournalOptions journal;
    // True: every file is written through; no write returns before the file system has it.
    bool through = false;
    std::vector<pool::FolderRule> folders;
    // When the batch job ends (CLOCK_REALTIME), and how long before that the pool closes down.
    std::int64_t job_end_ns = pool::DrainDeadline::never;
    std::int64_t job_margin_ns = 0;
    // For a job on several nodes, whose daemons each have a pool: the number of this one, and how
    // many there are; see coherence_client.hpp.
    tokens::Node node = 0;
    std::uint32_t nodes = 1;
    std::uint32_t readers = 0;         // see CoherenceClient::Job
    std::uint32_t writers = 0;         // see WriterPlace
    bool hands_over_anywhere = false;  // on any file system
    std::size_t samples_max = 0;       // see CountSamples
    // Outlives the context. Null: only connected processes can tell which inodes the daemon knows.
    pool::KnownInodes* inodes = nullptr;
};

struct DaemonClocks {
    const ports::TimeSource& steady;
    const ports::TimeSource& calendar;  // CLOCK_REALTIME, for the times of files
    // CPU time of this process; null: its use is not bounded
    const ports::TimeSource* effort = nullptr;
    const ports::TickSource* file_ticks = nullptr;  // null: file times have no ticks
};

struct DaemonContext {
    // The clocks outlive the context, and so does `post`, which is null where there are no other
    // daemons. Clients see the death of the calling thread as that of the daemon. If an earlier
    // daemon left a journal, its deposits are in their files when this returns, or the notes say
    // why not.
    [[nodiscard]] static Result<std::unique_ptr<DaemonContext>> make(const DaemonOptions& options,
                                                                     const DaemonClocks& clocks,
                                                                     cluster::PeerTransport* post);
    DaemonContext(SharedSegment directory_segment, SharedCleanMemory clean_memory, KeptJournal kept,
                  const DaemonOptions& daemon_options, const DaemonClocks& daemon_clocks,
                  cluster::PeerTransport* post);
    DaemonContext(const DaemonContext&) = delete;
    DaemonContext& operator=(const DaemonContext&) = delete;
    // Clients see that the daemon is dead, unless its shutdown has set `ending` to `well`.
    ~DaemonContext();

    // One round of the pool and of the messages between daemons. True when anything was done. The
    // samples of the counts begin with the first round.
    bool run_once();
    [[nodiscard]] bool idle() const;
    // No file is in the pool any more, except for those that cannot be drained.
    [[nodiscard]] bool all_files_have_left();
    // Has the pool close descriptors of files that nobody has used lately. True if there were any.
    bool give_descriptors_back();

    [[nodiscard]] std::string status(bool ended, const std::vector<RescuedFile>& rescued = {});
    // The bytes that are handed over to the node that writes for this one.
    [[nodiscard]] OpenWish::HandsOver hands_over() const noexcept;
    // This node writes bytes for others now.
    [[nodiscard]] bool writes_for_others() const {
        return handover_server && handover_server->is_writing();
    }
    // Takes nothing more to be written for other nodes.
    void refuse_handovers();
    // The messages for users that have come since the last call.
    [[nodiscard]] std::vector<std::string> new_notes();
    // An eventfd that becomes readable when a request of the journal has ended, and must be
    // emptied; -1: there is no journal.
    [[nodiscard]] int journal_bell() const noexcept;

    const DaemonOptions options;
    const DaemonClocks clocks;
    SharedSegment segment;  // the memory of `directory`
    pool::Directory& directory;
    SharedLogMemory memory;
    SharedCleanMemory clean;
    SharedSleepers sleepers;
    FileStatistics statistics;
    CountSamples samples;
    std::int64_t started_ns;
    std::size_t clients_high = 0;  // the most processes that were admitted at a time
    ShutdownOutcome ending = ShutdownOutcome::badly;
    KeptJournal journal;
    DaemonNotes notes;
    // Threads for calls that a file system may hang in: the daemon's own thread must not wait for
    // them.
    adapters::BackgroundThreads background_io;
    adapters::BackgroundThreads openings;
    adapters::BackgroundThreads openings_for_others;
    // These and peer_read_server exist together, where there are other daemons. Files of the pool
    // use the first two and handover_client until they are closed, so these are declared before the
    // pool and outlive it.
    std::optional<cluster::CoherenceClient> coherence;
    std::optional<cluster::PeerReadClient> peer_read_client;
    std::optional<cluster::HandoverClient> handover_client;  // only where another node writes
    std::optional<cluster::HandoverServer> handover_server;
    pool::Pool pool;
    std::optional<cluster::PeerReadServer> peer_read_server;
    TicketSources tickets;

private:
    void join_handovers(cluster::HandoverTransport& post);
    bool run_handovers();
    void drain_for_lost_node();
    void note_stuck_handovers();
    [[nodiscard]] std::string why_durability_ended() const;
    void sample_counts();
    void sample_counts_if_due();

    cluster::HandoverTransport* handover_transport_ = nullptr;
    bool must_drain_ = false;  // a node is gone; see drain_for_lost_node()
    bool told_of_stuck_ = false;
};

}  // namespace forebay::daemon
