// The daemon's word to its clients: which files it knows, where their deposits lie, how far each
// log is taken, and how much more each client may write. The daemon alone writes to it; clients map
// it read-only, so that no program can damage it.
//
// A file's deposits are an ordered list of extents (extents.hpp) under a sequence number that is
// odd while the daemon changes it: a reader looks, copies, and looks again.
#pragma once

#include "pool/protocol/limits.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <pthread.h>

namespace forebay::pool {

// A word that is slept on; see foundation/ports/communicator.hpp.
using Word = std::atomic<std::uint32_t>;

// How bytes are cached.
enum class CacheConsistency : std::uint32_t {
    pool,   // reads overlay deposits, what was read ahead, and the file, range by range
    paper,  // as He et al. (2022); see docs/decisions/0020-the-papers-cache-is-a-mode.md
};

// The condition that a write waits for.
enum class WriteDurability : std::uint32_t {
    process,  // the daemon's memory has it: it survives the program
    node,     // the journal has it, too: it survives the node
    files,    // the journal has failed: the file has it, unless it cannot be drained
};

// Why a file is not pooled, for the report. Processes give reasons up to `closing`, and `tables`
// and `flags`.
enum class ThroughReason : std::uint32_t {
    none,
    mapped,     // mmap
    stream,     // C stdio or C++ streams
    append,     // O_APPEND
    direct,     // O_DIRECT, O_SYNC
    copied,     // sendfile, copy_file_range, splice
    inherited,  // by a program that was started with it open
    sent,       // to another process, over a socket
    async,      // aio, io_uring
    asked,      // by the program or the user
    switched,   // by the program, which may switch it on again
    unmapped,   // a process that has it open cannot map the pool's memory
    no_room,    // the file system has less room than what is deposited
    closing,    // the pool ends
    no_memory,  // none comes free: what fills it cannot be drained
    // opened for both at a time, where cached writes and read-ahead exclude each other
    read_and_written,
    job_ends,     // the batch job will end: the pool takes nothing more
    no_journal,   // its device has failed
    other_nodes,  // several nodes have it open, and one of them writes
    node_lost,    // a daemon of another node has gone
    full,         // there are more processes than the pool has room for
    uncaptured,   // a program runs whose calls nobody captures; it comes back after that
    tables,       // threads or processes with one memory have several tables of descriptors
    flags,        // a call had flags that the pool does not know
    // The daemon may have no more files open, or has closed this one for others that need it more.
    no_descriptor,
    stuck_log,  // a write of a process that has it open was begun, and is never finished
};

// The file may be pooled again, though it is still open.
[[nodiscard]] constexpr bool can_be_undone(ThroughReason reason) noexcept {
    return reason == ThroughReason::switched || reason == ThroughReason::uncaptured;
}

inline constexpr std::size_t levels = 6;
inline constexpr std::uint32_t no_extent = 0;  // number 0 is never used
using Heads = std::array<std::atomic<std::uint32_t>, levels>;

// Whether what may be deposited for files of a file system arrives there.
enum class RoomLeft : std::uint32_t {
    ample = 0,    // whatever the pool can hold
    limited = 1,  // what is deposited, and no more: a close asks the daemon to look again
    scarce = 2,   // hardly that: a close has the file drained, to know whether it arrives
};

struct alignas(64) FileSlot {
    std::atomic<std::uint32_t> generation;  // one more for each file that had this slot
    std::atomic<FileState> state;
    std::atomic<ThroughReason> reason;
    std::atomic<std::int32_t> error;  // sticky errno of draining; 0: none
    std::atomic<std::uint64_t> device;
    std::atomic<std::uint64_t> inode;
    std::atomic<std::uint32_t> version;  // of `heads` and what hangs there; odd: being changed
    std::atomic<std::uint32_t> extents;  // how many hang there
    Heads heads;
    // One past the last byte that was deposited since the file was made known or truncated.
    std::atomic<std::int64_t> size;
    // CLOCK_REALTIME of the last deposit that was taken; 0: the file system knows the time.
    std::atomic<std::int64_t> modified_ns;
    // st_ctime that the file system has since the pool changed the file last: draining is no change
    // that a program made, which sees `changed_ns` instead as long as the file system has this one.
    // 0: it was not the pool. ChangeTime::unsettled: the pool is changing the file.
    std::atomic<std::int64_t> stamped_ns;
    std::atomic<std::int64_t> changed_ns;
    std::atomic<std::int64_t> window;     // bytes that may be deposited and not drained
    std::atomic<std::int64_t> taken;      // bytes deposited so far, and …
    std::atomic<std::int64_t> drained;    // … of these, those that need no memory any more
    Word progress;                        // changes when anything of the file is drained
    std::atomic<RoomLeft> room;           // on its file system, when that was last looked at
    std::atomic<std::int64_t> waited_ns;  // what its writers say that they waited for room
    std::atomic<std::int64_t> high;       // most that was deposited and not drained
    std::atomic<std::uint32_t> clean;     // blocks that were, or are being, read ahead
    std::atomic<std::uint32_t> fetch_us;  // that reading a whole one took, lately; 0: none was
    // Clients that may have deposits of it on their way: bit c % 64 of word c / 64 for client c.
    std::array<std::atomic<std::uint64_t>, clients_max / 64> writers;
    std::array<char, path_bytes> path;  // as it was opened; for messages
};

// The two times of a file that was forgotten since: FileSlot::stamped_ns and changed_ns.
struct ChangeTime {
    static constexpr std::int64_t unsettled = -1;
    std::atomic<std::uint64_t> version;  // odd: being changed; 0: there is none
    std::atomic<std::uint64_t> device;
    std::atomic<std::uint64_t> inode;
    std::atomic<std::int64_t> stamped_ns;
    std::atomic<std::int64_t> changed_ns;
};
// Where those of a file are, unless another one has displaced them.
[[nodiscard]] constexpr std::size_t change_time_place(std::uint64_t device,
                                                      std::uint64_t inode) noexcept {
    return (device * 0x9e3779b97f4a7c15U + inode) % change_times_max;
}

struct alignas(64) ClientSlot {
    std::atomic<std::uint64_t> used;       // 0: free; else the process, as long as it holds bytes
    std::atomic<std::uint64_t> log;        // another number for each log that was here; 0: none was
    std::atomic<std::uint64_t> commits;    // those of its log that are in the index
    std::atomic<std::uint64_t> entries;    // all entries of its log below this one are done with
    std::atomic<std::uint64_t> credit;     // positions below this one may be written
    std::atomic<std::uint64_t> admission;  // another one for each client; 0: nobody listens to it
    std::atomic<std::uint64_t> durable;    // commits that outlive the node, where that is promised
    Word progress;                         // changes with any of these but `durable`
    Word synced;                           // changes with `durable`, or when nobody listens
};
static_assert(sizeof(ClientSlot) == 64);
// Commits of a client that has gone: nobody need wait for any.
inline constexpr std::uint64_t all_commits = ~std::uint64_t{0};

// Where a client's blocks lie: block number n of its log is physical block
// block_of(leases[n % blocks_max]).
using Leases = std::array<std::atomic<std::uint32_t>, blocks_max>;
// In a lease: the memory was provided for it, and nobody has touched it yet.
inline constexpr std::uint32_t new_memory = std::uint32_t{1} << 31U;
[[nodiscard]] constexpr std::uint32_t block_of(std::uint32_t lease) noexcept {
    return lease % std::uint32_t{blocks_max};
}

// One run of a file's bytes that were deposited together, or together with what lies before it.
struct alignas(64) ExtentNode {
    std::atomic<std::int64_t> begin;      // in the file
    std::atomic<std::int64_t> length;     // bytes; all in one block
    std::atomic<std::uint64_t> position;  // in the client's log
    std::atomic<std::int64_t> time_ns;    // see Entry::time_ns; of the oldest byte
    std::atomic<std::uint32_t> client;
    std::atomic<std::uint32_t> height;  // levels it hangs on
    Heads next;
};
static_assert(sizeof(ExtentNode) == 64);

// A block of a file as the file system has it: read once, for all who read it.
enum class CleanState : std::uint32_t {
    free = 0,
    fetching = 1,  // is being read: clients that want it wait
    ready = 2,
};
struct alignas(64) CleanSlot {
    // A CleanState in the last two bits, and a number that is another one after each change: the
    // same word before and after copying means that the copied bytes are the block's.
    Word state;
    std::atomic<std::uint32_t> file;        // slot
    std::atomic<std::uint32_t> generation;  // of that slot
    std::atomic<std::uint32_t> next;        // in its bucket
    std::atomic<std::int64_t> block;        // its number in the file
    // Which of its bytes are there, or will be.
    std::atomic<std::uint32_t> begin;
    std::atomic<std::uint32_t> end;
};
inline constexpr std::uint32_t no_clean = 0;  // number 0 is never used

// How the daemon has ended, as it says itself before it hangs up on anybody.
enum class DaemonEnd : std::uint32_t {
    not_yet = 0,
    well = 1,   // everything has arrived: files are plain files
    badly = 2,  // as if it had been killed
};

struct DirectoryHeader {
    std::atomic<std::uint64_t> format;
    std::atomic<std::uint64_t> process;  // the daemon's
    // Held by the daemon as long as it lives: a robust mutex, whose word the kernel changes when
    // its owner dies. Clients only look at it.
    pthread_mutex_t alive;
    std::atomic<DaemonEnd> ended;
    std::atomic<std::uint32_t> closing;  // no more deposits: write through
    std::atomic<std::uint32_t> nodes;    // in the job, with a daemon each
    std::atomic<std::uint32_t> readers;  // nodes that read a file for all; 0: each for itself
    std::atomic<std::uint32_t> extents_used;
    // Rounds in which the daemon takes what clients have committed: the last that has begun, and
    // the last that has taken all that was committed before it began.
    std::atomic<std::uint32_t> round;
    Word taken_round;
    // There are writers for all processors: the less work the better, whoever does it.
    std::atomic<std::uint32_t> crowded;
    std::atomic<CacheConsistency> consistency;
    std::atomic<WriteDurability> durability;
    std::atomic<std::int64_t> cap;  // bytes of blocks that may be leased
    std::atomic<std::int64_t> leased;
    std::atomic<std::int64_t> high;           // most that was leased
    std::atomic<std::uint32_t> clean_blocks;  // that the memory of clean blocks has room for
    // Blocks that each reader may have fetched ahead of it.
    std::atomic<std::uint32_t> clean_share;
    std::atomic<std::int64_t> clean_bytes;    // memory of clean blocks that is there
    std::atomic<std::int64_t> fetched_bytes;  // since the daemon began
};

struct Directory {
    alignas(4096) DirectoryHeader header;
    // Bit s % 64 of word s / 64: slot s of `files` is in use.
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
