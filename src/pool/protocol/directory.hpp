// The directory: shared memory in which the daemon of a node tells its clients which files it
// knows, where their deposits lie, how far it has taken each log, and how much more each client may
// write. The daemon alone writes to it; clients map it read-only, so that no program can damage it.
//
// The deposits of a file are an ordered list of extents (extents.hpp) under a sequence lock: a
// version that is odd while the daemon changes the list. A reader reads the version, copies, and
// reads the version again.
#pragma once

#include "pool/protocol/limits.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <pthread.h>

namespace forebay::pool {

// A futex word; see foundation/ports/communicator.hpp.
using Word = std::atomic<std::uint32_t>;

// How the bytes of files are cached.
enum class CacheConsistency : std::uint32_t {
    pool,  // a read combines deposits, read-cache blocks and the file, range by range
    // The block cache of He et al. (2022): docs/decisions/0020-the-papers-cache-is-a-mode.md.
    paper,
};

// The condition on which a write is acknowledged.
enum class WriteDurability : std::uint32_t {
    process,  // the bytes are in the pool's memory: they survive the program
    node,     // the journal has them, too: they survive the node
    // The journal has failed: a write waits until the bytes are in the file, but not for a file
    // that cannot be drained.
    files,
};

// Why a file is written through instead of pooled; for the report. Clients may give the reasons up
// to `closing`, `tables` and `flags`; the others are the daemon's own.
enum class ThroughReason : std::uint32_t {
    none,
    mapped,     // mmap
    stream,     // C stdio or C++ streams
    append,     // O_APPEND
    direct,     // O_DIRECT, O_SYNC
    copied,     // sendfile, copy_file_range, splice
    inherited,  // inherited by a program that was started with the file open
    sent,       // its descriptor was sent to another process (SCM_RIGHTS)
    async,      // aio, io_uring
    asked,      // a setting; or a call or limit of file sizes that the pool cannot serve
    switched,   // the program switched pooling off for the file, and may switch it on again
    unmapped,   // a process that has the file open cannot map the pool's memory
    no_room,    // the file system has less free space than what is deposited for it
    closing,    // the pool closes down
    no_memory,  // no memory comes free, since what fills it cannot be drained
    // The file was open for reading and for writing at the same time, with CacheConsistency::paper,
    // where cached writes and read-ahead exclude each other.
    read_and_written,
    job_ends,     // the batch job will end soon: the pool takes nothing more
    no_journal,   // the journal's device has failed
    other_nodes,  // several nodes have the file open, and one of them writes
    node_lost,    // a daemon of another node has died or ended
    full,         // more processes want the pool than it has room for
    // A program runs whose calls are not captured. The file is pooled again after that.
    uncaptured,
    tables,  // threads or processes that share memory have separate tables of descriptors
    flags,   // a call had flags that the pool does not know
    // The daemon has reached its limit of descriptors, or has closed this file for the sake of
    // others.
    no_descriptor,
    // A process that has the file open began a write and never finished it (siglongjmp, a cancelled
    // thread), until the ring of its log was full.
    stuck_log,
};

// Whether a file that left for this reason can be pooled again while it is open.
[[nodiscard]] constexpr bool can_be_undone(ThroughReason reason) noexcept {
    return reason == ThroughReason::switched || reason == ThroughReason::uncaptured;
}

inline constexpr std::size_t levels = 6;       // levels of the skip list
inline constexpr std::uint32_t no_extent = 0;  // extent numbers begin with 1
using Heads = std::array<std::atomic<std::uint32_t>, levels>;

// How the free space of a file system compares to the pool: whether deposits for its files can hit
// ENOSPC when they are drained. Tells a client that closes a file whether it has to ask.
enum class RoomLeft : std::uint32_t {
    ample = 0,  // there is more than the pool could ever hold: a close need not ask
    // There is enough for what is deposited, but less than the pool can hold: a close asks the
    // daemon to look at the file system again.
    limited = 1,
    // There may not be enough for what is deposited: a close has the file drained, so that it can
    // report ENOSPC.
    scarce = 2,
};

// One file that the daemon knows. Its state is `pooled` (writes are deposits), `leaving` (writes
// wait while the deposits are drained) or `through` (write-through: writes go to the file system).
struct alignas(64) FileSlot {
    std::atomic<std::uint32_t> generation;  // counts the files that have used this slot
    std::atomic<FileState> state;
    std::atomic<ThroughReason> reason;
    // Sticky errno of draining; see FileTasks::clear_error. 0: none.
    std::atomic<std::int32_t> error;
    std::atomic<std::uint64_t> device;
    std::atomic<std::uint64_t> inode;
    // Sequence lock of the list at `heads`; odd while it changes.
    std::atomic<std::uint32_t> version;
    std::atomic<std::uint32_t> extents;  // number of extents in the list
    Heads heads;
    // One past the last byte that was deposited since the file became known or was truncated.
    std::atomic<std::int64_t> size;
    // CLOCK_REALTIME of the last deposit that was taken. 0: st_mtime on the file system is right.
    std::atomic<std::int64_t> modified_ns;
    // The next two let stat() hide that draining changes st_ctime. `stamped_ns` is the st_ctime
    // that the file system has had since the pool last changed the file; while it still has that
    // one, programs are shown `changed_ns` instead. 0: the last change was not the pool's.
    // ChangeTime::unsettled: the pool is changing the file now.
    std::atomic<std::int64_t> stamped_ns;
    std::atomic<std::int64_t> changed_ns;
    std::atomic<std::int64_t> window;   // write-behind window: maximum of taken - drained, in bytes
    std::atomic<std::int64_t> taken;    // bytes deposited so far
    std::atomic<std::int64_t> drained;  // bytes of these that were drained, overwritten or cut off
    Word progress;  // changes when deposits are freed, and with state, window and error
    std::atomic<RoomLeft> room;           // free space on its file system at the last look
    std::atomic<std::int64_t> waited_ns;  // total time that its writers report to have waited
    std::atomic<std::int64_t> high;       // maximum of taken - drained so far
    std::atomic<std::uint32_t> clean;     // its read-cache blocks, including those being read
    // Moving average of the time that it takes to read one whole read-cache block, in microseconds;
    // 0: no block was read yet.
    std::atomic<std::uint32_t> fetch_us;
    // The clients that may be about to commit deposits of the file: bit c % 64 of word c / 64 for
    // client c.
    std::array<std::atomic<std::uint64_t>, clients_max / 64> writers;
    std::array<char, path_bytes> path;  // as the program gave it to open(); for messages
};

// FileSlot::stamped_ns and changed_ns of a file that the daemon has forgotten since.
struct ChangeTime {
    static constexpr std::int64_t unsettled = -1;
    std::atomic<std::uint64_t> version;  // sequence lock: odd while it changes; 0: never used
    std::atomic<std::uint64_t> device;
    std::atomic<std::uint64_t> inode;
    std::atomic<std::int64_t> stamped_ns;
    std::atomic<std::int64_t> changed_ns;
};
// The index in Directory::change_times for a file. The table is direct-mapped: a file that is
// forgotten later displaces one with the same index.
[[nodiscard]] constexpr std::size_t change_time_place(std::uint64_t device,
                                                      std::uint64_t inode) noexcept {
    return (device * 0x9e3779b97f4a7c15U + inode) % change_times_max;
}

// One client, and how far the daemon has taken its log.
struct alignas(64) ClientSlot {
    // 0: the slot is free; else the process id, kept while the client's log holds bytes.
    std::atomic<std::uint64_t> used;
    // Another number for each log that had this slot, so that a client that has mapped one notices
    // the change; 0: there was none yet.
    std::atomic<std::uint64_t> log;
    // Commits of its log that are taken: their extents can be found.
    std::atomic<std::uint64_t> commits;
    // Entries below this number are done with: their places in the ring are free.
    std::atomic<std::uint64_t> entries;
    std::atomic<std::uint64_t> credit;  // credit: positions below this one may be written
    // Differs for each client admitted; 0: the daemon ignores this log.
    std::atomic<std::uint64_t> admission;
    std::atomic<std::uint64_t> durable;  // commits that the journal has, with WriteDurability::node
    Word progress;                       // changes with any of the above but `durable`
    Word synced;                         // changes with `durable`, or when `admission` becomes 0
};
static_assert(sizeof(ClientSlot) == 64);
// ClientSlot::commits and `durable` of a client that has gone: nobody has to wait for it.
inline constexpr std::uint64_t all_commits = ~std::uint64_t{0};

// Translates block numbers of a client's log to physical blocks: block n is physical block
// block_of(leases[n % blocks_max]).
using Leases = std::array<std::atomic<std::uint32_t>, blocks_max>;
// A bit of a lease: the memory was provided for this lease, and no process has touched it yet.
inline constexpr std::uint32_t new_memory = std::uint32_t{1} << 31U;
[[nodiscard]] constexpr std::uint32_t block_of(std::uint32_t lease) noexcept {
    return lease % std::uint32_t{blocks_max};
}

// One extent: consecutive bytes of a file that also lie consecutively in one block of a client's
// log. They come from one write, or from writes that followed each other. A node of the skip list.
struct alignas(64) ExtentNode {
    std::atomic<std::int64_t> begin;      // offset in the file
    std::atomic<std::int64_t> length;     // bytes
    std::atomic<std::uint64_t> position;  // the first byte's position in the client's log
    std::atomic<std::int64_t> time_ns;    // Entry::time_ns of its oldest byte
    std::atomic<std::uint32_t> client;
    std::atomic<std::uint32_t> height;  // number of levels of the skip list it is linked on
    Heads next;
};
static_assert(sizeof(ExtentNode) == 64);

// The read cache's blocks ("clean": equal to the file). Each is read once, for all clients.
enum class CleanState : std::uint32_t {
    free = 0,
    fetching = 1,  // being read: clients that want it wait
    ready = 2,
};
struct alignas(64) CleanSlot {
    // A CleanState in the two low bits, and a number that differs after each change. A reader that
    // finds the same word before and after copying has copied bytes of this block.
    Word state;
    std::atomic<std::uint32_t> file;        // slot of the file
    std::atomic<std::uint32_t> generation;  // generation of that slot
    std::atomic<std::uint32_t> next;        // the next block in the hash bucket
    std::atomic<std::int64_t> block;        // the block's number in the file
    // The bytes of the block that are there, or will be: offsets from the block's start.
    std::atomic<std::uint32_t> begin;
    std::atomic<std::uint32_t> end;
};
inline constexpr std::uint32_t no_clean = 0;  // numbers of read-cache blocks begin with 1

// How the daemon has ended, written by itself before it closes any connection.
enum class DaemonEnd : std::uint32_t {
    not_yet = 0,
    well = 1,   // everything is in the files: they are plain files now
    badly = 2,  // deposits may be lost, as if the daemon had been killed
};

struct DirectoryHeader {
    std::atomic<std::uint64_t> format;
    std::atomic<std::uint64_t> process;  // process id of the daemon
    // A robust mutex that the daemon holds while it lives: when its owner dies, the kernel changes
    // the mutex' word. Clients only look at that word.
    pthread_mutex_t alive;
    std::atomic<DaemonEnd> ended;
    std::atomic<std::uint32_t> closing;  // 1: the pool closes down, nothing more is deposited
    std::atomic<std::uint32_t> nodes;    // nodes of the job; each has a daemon
    // How many nodes read a shared file for all; 0: each for itself.
    std::atomic<std::uint32_t> readers;
    std::atomic<std::uint32_t> extents_used;
    // Rounds of the log ingest: the last one that has begun, and the last one that has taken all
    // that was committed before it began.
    std::atomic<std::uint32_t> round;
    Word taken_round;
    // 1: there are at least as many writing processes as processors, so that work had better be
    // avoided: new memory is then written without being mapped (docs/decisions/0035).
    std::atomic<std::uint32_t> crowded;
    std::atomic<CacheConsistency> consistency;
    std::atomic<WriteDurability> durability;
    std::atomic<std::int64_t> cap;  // maximum of `leased`, in bytes
    std::atomic<std::int64_t> leased;
    std::atomic<std::int64_t> high;           // maximum of `leased` so far
    std::atomic<std::uint32_t> clean_blocks;  // maximum number of read-cache blocks
    // The number of blocks that each reader may have fetched ahead of it.
    std::atomic<std::uint32_t> clean_share;
    std::atomic<std::int64_t> clean_bytes;    // memory that read-cache blocks use now
    std::atomic<std::int64_t> fetched_bytes;  // bytes read ahead since the daemon started
};

struct Directory {
    alignas(4096) DirectoryHeader header;
    // Which slots of `files` are in use: bit s % 64 of word s / 64 for slot s.
    alignas(4096) std::array<std::atomic<std::uint64_t>, files_max / 64> files_known;
    alignas(4096) std::array<ClientSlot, clients_max> clients;
    alignas(4096) std::array<Leases, clients_max> leases;
    alignas(4096) std::array<FileSlot, files_max> files;
    alignas(4096) std::array<ChangeTime, change_times_max> change_times;
    alignas(4096) std::array<ExtentNode, extents_max> extents;
    alignas(4096) std::array<std::atomic<std::uint32_t>, clean_buckets> clean_heads;
    alignas(4096) std::array<CleanSlot, clean_max + 1> clean;
};

}  // namespace forebay::pool
