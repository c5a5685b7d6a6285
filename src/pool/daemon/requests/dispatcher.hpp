// The daemon's state, and its answers to questions. Knows sessions, but no sockets of its own.
#pragma once

#include "foundation/base/yielding.hpp"
#include "foundation/ports/clock.hpp"
#include "pool/cluster/coherence/coherence_client.hpp"
#include "pool/cluster/peer_reads/peer_read_client.hpp"
#include "pool/cluster/peer_reads/peer_read_server.hpp"
#include "pool/core/pool.hpp"
#include "pool/daemon/liveness/liveness.hpp"
#include "pool/daemon/memory/budget.hpp"
#include "pool/daemon/memory/memory.hpp"
#include "pool/daemon/memory/shared_segment.hpp"
#include "pool/daemon/replay/open_journal.hpp"
#include "pool/daemon/requests/uncaptured.hpp"
#include "pool/daemon/session.hpp"
#include "pool/daemon/status/file_statistics.hpp"
#include "pool/daemon/status/status.hpp"
#include "pool/policy/deadline.hpp"
#include "pool/policy/folder_rules.hpp"
#include "pool/policy/memory_limit.hpp"
#include "pool/protocol/messages.hpp"
#include "storage/posix/background_io.hpp"
#include "storage/uring/open.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace forebay::daemon {

struct DispatcherOptions {
    pool::PoolOptions pool;
    pool::MemoryLimit memory;        // that the pool shares with the programs
    std::vector<std::string> notes;  // what people are to know of these options
    adapters::Preference storage = adapters::Preference::automatic;
    JournalOptions journal;
    // No file is pooled: every write is with the file system before it returns.
    bool through = false;
    std::vector<pool::FolderRule> folders;
    // The end of the batch job, CLOCK_REALTIME, and how long before it the pool takes nothing more.
    std::int64_t job_end_ns = pool::Deadline::never;
    std::int64_t job_margin_ns = 0;
    // For the daemons of a job, which each have a pool; see coherence_client.hpp.
    tokens::Node node = 0;
    std::uint32_t nodes = 1;
    std::uint32_t readers = 0;  // see CoherenceClient::Job
    // Outlives the dispatcher; null: only connected processes find files by their inodes.
    pool::KnownInodes* inodes = nullptr;
};

struct Clocks {
    const ports::Clock& steady;
    const ports::Clock& calendar;          // of files' times
    const ports::Clock* effort = nullptr;  // processor time of this process; null: not bounded
};

class Dispatcher {
public:
    // The clocks outlive it, and so does `post`, where there are other daemons. The calling thread
    // is the one whose death clients see. All that a journal has is in its files then, or its notes
    // say that it is not.
    [[nodiscard]] static Result<std::unique_ptr<Dispatcher>> make(
        const DispatcherOptions& options, const Clocks& clocks,
        cluster::PeerTransport* post = nullptr);
    Dispatcher(const Dispatcher&) = delete;
    Dispatcher& operator=(const Dispatcher&) = delete;
    // Clients see that it is dead, unless end() was called.
    ~Dispatcher();

    // That of `stop` waits until the end: to bring it about is the caller's.
    [[nodiscard]] Answer answer(Session& session, const protocol::Question& question,
                                std::vector<OwnFd> descriptors);
    // Completes an answer that waited for its ticket; it may then wait for another one.
    void complete(Session& session, Answer& answer, std::uint64_t ticket);
    // A ticket has come back, and no session waits for it any more.
    void nobody_wants(std::uint64_t ticket);
    // Files that were left alone do with fewer descriptors, if there are any.
    bool give_descriptors_back() {
        return pool_.give_descriptors_back(DescriptorBudget::given_back_max) > 0;
    }
    // The session is over; what its client committed counts.
    void leave(Session& session);

    // A round of the pool. True when anything was done.
    bool advance();
    [[nodiscard]] std::vector<pool::Done> done();
    [[nodiscard]] bool idle() const {
        return pool_.idle() && opening_ == 0 && (!coherence_ || coherence_->idle()) &&
               (!passing_ || passing_->idle());
    }
    // The client's log makes no sense.
    [[nodiscard]] bool distrusts(std::uint32_t client) const { return pool_.distrusted(client); }

    // Tells the other daemons that this one ends.
    void announce_shutdown();
    // Another daemon has died since the last call.
    [[nodiscard]] bool peer_lost() noexcept { return coherence_ && coherence_->somebody_died(); }
    // No more deposits from now on.
    void close_down(pool::Reason why);
    // Closes down once, when the batch job will end. True: it was now.
    [[nodiscard]] bool close_before_the_job_ends();
    // Closes down; the ticket comes back when everything is drained that can be.
    [[nodiscard]] std::uint64_t stop();
    // Nothing can arrive any more that has not arrived: what is left has errors.
    [[nodiscard]] bool drained_as_far_as_possible() const;
    // Whatever programs are about to do: nothing is acknowledged from now on that was not taken.
    void refuse_commits() { pool_.refuse_commits(); }
    // Writes what did not arrive into rescue files below the first folder that takes them.
    [[nodiscard]] std::vector<Rescued> rescue(const std::vector<std::string>& folders);
    // Behind that: what the journal still has, it keeps for the next daemon.
    void finish_journal();
    // Last: clients see that the daemon has ended, and how. Before any connection is closed, since
    // a client looks at that when its connection ends.
    void end(Ending ending);

    [[nodiscard]] std::string status(bool ended, const std::vector<Rescued>& rescued = {});
    [[nodiscard]] const pool::Directory& directory() const noexcept { return directory_; }
    // Readable when the journal has something to tell; -1: there is none. To be emptied.
    [[nodiscard]] int journal_bell() const noexcept {
        return journal_.folder ? journal_.folder->bell() : -1;
    }
    // Messages for people, since the last time.
    [[nodiscard]] std::vector<std::string> news();

private:
    static constexpr std::uint64_t first_opening = std::uint64_t{1} << 63;  // the pool's are below

    Dispatcher(SharedSegment segment, CleanMemory clean, KeptJournal journal,
               const DispatcherOptions& options, const Clocks& clocks,
               cluster::PeerTransport* post);

    void hello(Session& session, const protocol::Question& question, Answer& answer);
    void let_in_outside(Session& session, const protocol::Question& question, Answer& answer);
    [[nodiscard]] std::optional<std::uint32_t> admit(const Session& session,
                                                     const protocol::Question& question,
                                                     const pool::Log& log, Answer& answer);
    // The process goes on without the pool once all files have left it.
    void reject_client(Answer& answer, int error, const std::string& why);
    [[nodiscard]] bool everything_has_left();
    void pass_log(const protocol::Question& question, Answer& answer) const;
    void pass_lent_log(const protocol::Question& question, Answer& answer) const;
    void open(Session& session, const protocol::Question& question, std::vector<OwnFd> descriptors,
              Answer& answer);
    void request_token(Session& session, Answer& answer, std::uint64_t ticket);
    [[nodiscard]] std::string durability_ended() const;
    [[nodiscard]] bool opens_at_once(const Opening& opening) const;
    void begin_opening(Session& session, Answer& answer);
    void register_file(Session& session, Answer& answer);
    void read_by_others(pool::OpenFile& file);
    void refuse_open(Answer& answer, int error);
    void ask(const Session& session, const protocol::Question& question, Answer& answer);
    void settle(const Session& session, const protocol::Question& question, Answer& answer);
    void settle(Answer& answer, std::uint64_t ticket);
    void adjust(const Session& session, const protocol::Question& question, Answer& answer);
    void run(const Session& session, const protocol::Question& question, Answer& answer);
    void await_closing(Answer& answer);
    void make_room_for_uncaptured(Session& session, const protocol::Question& question,
                                  Answer& answer);
    void end_of_connection(Session& session);
    bool bring_back_after_uncaptured();
    void tell_status(Answer& answer);
    void pass_directory(Answer& answer) const;

    SharedSegment segment_;
    pool::Directory& directory_;
    Memory memory_;
    CleanMemory clean_;
    Sleepers sleepers_;
    const ports::Clock& clock_;
    const ports::Clock& calendar_;
    DispatcherOptions options_;
    FileStatistics history_;
    std::vector<std::uint32_t> departing_;  // clients whose logs are still needed
    std::int64_t started_ns_;
    pool::Deadline deadline_;
    std::int64_t looked_at_deadline_ns_ = 0;
    Ending ending_ = Ending::badly;
    KeptJournal journal_;
    std::size_t told_ = 0;         // number of its notes that news() has returned
    bool journal_failed_ = false;  // which is among them
    adapters::BackgroundThreads
        background_io_;  // a file system that hangs must not stop the daemon
    adapters::BackgroundThreads openings_;
    DescriptorBudget budget_;
    std::set<std::uint64_t> local_mounts_;  // whose files nobody but this node has
    std::uint64_t next_opening_ = first_opening;
    Yielding yielding_;
    std::int64_t opening_ = 0;  // openings that are under way
    // Made behind the pool, whose files use them to their end.
    std::optional<cluster::CoherenceClient> coherence_;
    std::optional<cluster::PeerReadClient> passed_;
    pool::Pool pool_;
    std::optional<cluster::PeerReadServer> passing_;
    // Files of openings that have not ended, by ticket; and whether the other daemons admitted
    // them.
    struct Coming {
        tokens::FileKey file;
        bool admitted = false;
    };
    std::map<std::uint64_t, Coming> coming_;
    std::map<std::uint64_t, ports::Identity> running_;  // programs that are being closed, by ticket
    std::vector<std::uint64_t> sent_away_;              // tickets that wait until all has left
    UncapturedPrograms uncaptured_;
    bool runs_uncaptured_ = false;  // files left for one, and have not come back
    bool uncaptured_told_ = false;
    bool outside_told_ = false;
    // Files of processes that cannot map the pool's memory.
    std::set<std::pair<std::uint64_t, std::uint64_t>> outside_;
};

}  // namespace forebay::daemon
