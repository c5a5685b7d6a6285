// The pool of a node, as its daemon keeps it: takes what clients have written into their logs,
// knows of each byte who wrote it last, gives clients credit, and drains files to the file system.
// One thread; knows no sockets, and the file system only through ports.
//
//   logs ──take──▶ extents of each file ──drain──▶ Channel ──▶ file system
//          (in order of time)   │                               │
//   credit ◀── blocks that nobody needs any more ◀──────────────┘
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/base/stripes.hpp"
#include "foundation/base/units.hpp"
#include "foundation/ports/background_io.hpp"
#include "foundation/ports/clock.hpp"
#include "foundation/ports/file_control.hpp"
#include "foundation/ports/stamp.hpp"
#include "foundation/ports/storage.hpp"
#include "pool/policy/folder_rules.hpp"
#include "pool/protocol/directory.hpp"
#include "pool/protocol/known_inodes.hpp"
#include "pool/protocol/log.hpp"
#include "pool/protocol/search.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace forebay::pool {

struct PoolOptions {
    std::int64_t cap_bytes = std::int64_t{1} << 30;       // leased blocks of all clients
    std::int64_t window_bytes = std::int64_t{256} << 20;  // a file's deposits that are not drained
    std::int64_t age_max_ns = 30'000'000'000;             // no deposit gets older
    std::int64_t quiet_ns = 50'000'000;  // a file nobody writes to for so long is drained
    std::int64_t request_bytes_max = std::int64_t{4} << 20;
    std::int32_t requests_in_flight = 2;  // k of each target of a file; 0: found while running
    std::int32_t files_at_once = 4;       // that are being drained
    std::size_t processors = 0;           // that daemon and clients share; 0: enough for all
    // Blocks of all files that were read ahead; of the cap, and no more than a quarter of it.
    std::int64_t read_ahead_bytes = std::int64_t{256} << 20;
    // Other nodes have files open, too: forgotten() is kept, and no file without a name is dropped.
    bool shared = false;
    // paper: a request is a block at most, and one is under way for a file in each direction.
    Consistency consistency = Consistency::pool;
    // A sync of a file is over when the journal has all of it.
    bool sync_to_journal = false;
};

// Blocks of the read cache that there may be at a time.
[[nodiscard]] std::size_t clean_blocks(const PoolOptions& options) noexcept;

// The memory behind the clients' logs. Charged to who provides it, the daemon; cleared by who
// touches it first, the client.
class Memory {
public:
    virtual ~Memory() = default;
    // Physical block `block` of the client is there from now on. False: there is no memory.
    [[nodiscard]] virtual bool provide(std::uint32_t client, std::uint32_t block) = 0;
    // It may be given back to the system.
    virtual void release(std::uint32_t client, std::uint32_t block) = 0;
};

// The memory of read-cache blocks, one for all clients, which may only read it.
class CleanMemory {
public:
    virtual ~CleanMemory() = default;
    // The memory of block `number`, from 1 on; see clean_place().
    [[nodiscard]] virtual std::byte* block(std::uint32_t number) = 0;
    // It is there from now on. False: there is no memory.
    [[nodiscard]] virtual bool provide(std::uint32_t number) = 0;
    // It may be given back to the system.
    virtual void release(std::uint32_t number) = 0;
};

class JournalWriter;

// Those who sleep on a word of the directory.
class Sleepers {
public:
    virtual ~Sleepers() = default;
    // The word has changed.
    virtual void wake(Word& word) = 0;
};

// The pool's needs of the node. All of it outlives the pool.
struct PoolPorts {
    Memory& memory;
    Sleepers& sleepers;
    const ports::Clock& clock;     // CLOCK_MONOTONIC: of the entries in the logs
    const ports::Clock& calendar;  // CLOCK_REALTIME: of files' times
    // Null: what takes long (fsync, truncate) is done by advance() itself, and holds up all files.
    ports::BackgroundIo* background_io = nullptr;
    // Null: nothing is read ahead.
    CleanMemory* clean = nullptr;
    // Processor time of this process. Null: it may take as much as there is.
    const ports::Clock* effort = nullptr;
    // Null: what is taken is durable enough.
    JournalWriter* journal = nullptr;
    // Null: nobody looks for files there.
    KnownInodes* inodes = nullptr;
};

using ports::Stamp;

// A file on the file system, opened by the daemon for itself.
struct OpenFile {
    ports::Identity identity;
    std::unique_ptr<ports::Storage> storage;  // for writing; null: it may only be read
    std::unique_ptr<ports::FileControl> control;
    Stripes stripes;
    std::string path;
    Stamp stamp{};                 // when it was opened
    std::string place{};           // where a replay looks for it: an absolute path
    std::uint64_t generation = 0;  // the inode's, where the file system tells; else 0
    bool local = false;            // nobody but this node has to be asked for it
    std::int64_t room = -1;        // on its file system, then; negative: not known
    FileRule rule{};               // its folder's; `past` is for the caller of open()
    // For reading ahead: called when that is wished for, with what the pool knows of the file from
    // then on. Null, or gives null: it cannot be done.
    std::function<std::unique_ptr<ports::Storage>(const std::shared_ptr<const Stamp>& seen)>
        open_for_reading{};
};

enum class Access { read, write, both };

// A client's request about a file; a later advance() answers it.
struct Task {
    enum class Kind { drain, sync, leave, truncate };
    Kind kind = Kind::drain;
    Reason reason = Reason::none;  // leave
    Length bytes{};                // truncate
    bool changes = false;          // drain: the client then changes the file itself
    // drain: only where it cannot be known otherwise whether there is room for what was deposited.
    bool for_room = false;
};
// The file is in the file system for all nodes from then on.
inline constexpr Task leave_to_other_nodes{Task::Kind::leave, Reason::other_nodes};

// A program's wishes for one file.
struct Adjustment {
    Length window{};    // 0: as it is
    bool back = false;  // pooled again, where it left because of `from`
    Reason from = Reason::switched;
};
struct Done {
    std::uint64_t ticket = 0;
    int error = 0;  // errno
};

struct Opened {
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
};

// Bytes of a file that another node asks for.
struct Shared {
    enum class State {
        none,    // they cannot be had here
        coming,  // they are being read: to be asked for again
        there,
    };
    State state = State::none;
    std::span<const std::byte> bytes{};  // until the next round; fewer where the file ends
};

// A file was drained, and the file system told only when it was closed that something is wrong.
struct FailedClose {
    std::string path;
    std::int64_t bytes = 0;  // that were drained since it was opened: some may not have arrived
    int error = 0;           // errno
};

// A client that took longer than the pool waits for: what it was about to deposit is its own
// business.
struct GivenUpWrite {
    std::uint64_t process = 0;
    std::string path;
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
};

// Since the pool began.
struct Counts {
    std::uint64_t entries = 0;     // committed ones that were taken
    std::uint64_t refused = 0;     // entries that made no sense, or that nobody may make
    std::uint64_t distrusted = 0;  // clients
    std::uint64_t revoked = 0;     // entries that their clients had not committed in time
    std::uint64_t jobs = 0;        // drain jobs
    std::uint64_t failed_jobs = 0;
    std::int64_t drained_bytes = 0;
    std::uint64_t wishes = 0;  // to read ahead
    std::uint64_t fetches = 0;
    std::uint64_t failed_fetches = 0;
    std::int64_t fetched_bytes = 0;
};

class Pool {
public:
    // The directory outlives the pool, and is zero at first; its format, cap and lists are filled
    // in here, the daemon's process and its mutex by who made it.
    Pool(Directory& directory, const PoolPorts& ports, const PoolOptions& options);
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    ~Pool();

    // nullopt: there are clients_max already. `log` is mapped as a whole and zero; its blocks are
    // the Memory's.
    [[nodiscard]] std::optional<std::uint32_t> admit(std::uint64_t process, Log log);
    // The client has gone, or died: what it committed counts, its files are closed, and its log may
    // be unmapped once departed() says so. Its number is then free for another one.
    void dismiss(std::uint32_t client);
    // The client's log makes no sense: the pool takes nothing more from it. To be dismissed.
    [[nodiscard]] bool distrusted(std::uint32_t client) const;
    [[nodiscard]] bool departed(std::uint32_t client);

    // The client has opened the file. A file that is known is the same one by its identity; the
    // better storage of the two is kept (one that can write).
    [[nodiscard]] Result<Opened> open(std::uint32_t client, OpenFile file, Access access);
    void close(std::uint32_t client, std::uint32_t slot, std::uint32_t generation);
    // nullopt: nobody has it open, and nothing of it is left to be done.
    [[nodiscard]] std::optional<Opened> known(const ports::Identity& file) const;
    // No client has it open, and it will be closed on the file system once it is drained.
    [[nodiscard]] bool lets_go(const ports::Identity& file) const;
    // Up to so many files that are left alone do without descriptors of the daemon's; how many. It
    // has them back after some rounds.
    std::size_t give_descriptors_back(std::size_t most);
    // So many files are being opened by other threads, and come by open() or not at all: any file
    // that has lost its last name may be one of them.
    void being_opened(std::int64_t files);

    // A ticket, which done() gives back. ENOENT comes as its error where there is no such file.
    [[nodiscard]] std::uint64_t ask(std::uint32_t slot, std::uint32_t generation, const Task& task);
    // The same of the files that have these slots now; a ticket for each, in their order.
    [[nodiscard]] std::vector<std::uint64_t> ask_each(std::span<const std::uint32_t> slots,
                                                      const Task& task);
    // At once: 0, or an errno. EBUSY: it cannot come back, because more than a switch keeps it out.
    [[nodiscard]] int adjust(std::uint32_t slot, std::uint32_t generation,
                             const Adjustment& wanted);
    // A range of one block of a file that was opened as `seen`. The block is read ahead where it is
    // not there and `begins`. The caller sees to it that nothing of the file is deposited, here or
    // elsewhere.
    [[nodiscard]] Shared share(std::uint32_t slot, const Stamp& seen, const Extent& range,
                               bool begins);
    // Everything that is there is drained; the error of the first file that has one.
    [[nodiscard]] std::uint64_t drain_all();
    // No more deposits from now on: all files leave. The first call counts.
    void close_down(Reason why);
    // Once it was closed down: every entry of every log is taken, or will never be committed.
    [[nodiscard]] bool all_taken() const;
    // Whatever clients are about to do: nothing is committed from now on, and what was is taken.
    void refuse_commits();
    // Behind that, where everything has arrived: nobody need wait for this pool.
    void end();
    // Writes that it did not wait for while it closed down, since the last call.
    [[nodiscard]] std::vector<GivenUpWrite> given_up();

    // A round: takes logs, gives credit, starts requests and ends them. Never blocks. True when
    // anything was done.
    bool advance();
    // Tickets that are answered; each comes once.
    [[nodiscard]] std::vector<Done> done();
    // Slots of files that are not known any more, since the last call; only where `shared`.
    [[nodiscard]] std::vector<std::uint32_t> forgotten();
    // Nothing is deposited, on its way, or asked for, and no file is being closed.
    [[nodiscard]] bool idle() const;
    [[nodiscard]] const Counts& counts() const;
    // Those that have ended; while any is under way, closing().
    [[nodiscard]] const std::vector<FailedClose>& failed_closes() const;
    [[nodiscard]] bool closing() const;
    // 0, or why the journal takes nothing more: everything is written through since.
    [[nodiscard]] int journal_error() const;
    // The rest of the file is kept elsewhere, durably.
    void kept_elsewhere(std::uint32_t slot);
    // At the end. True: a replay would write nothing.
    [[nodiscard]] bool finish_journal();
    // Something of the file is nowhere but in the journal, since a sync of it has failed.
    [[nodiscard]] bool only_in_journal(std::uint32_t slot) const;
    // The file's deposits that are not drained, and those that could not be, for the rescue.
    [[nodiscard]] std::vector<Deposit> undrained(std::uint32_t slot) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace forebay::pool
