// The types of the pool's interface: its options, the files that it is given, the requests that it
// gets, and its answers and counters.
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/base/stripes.hpp"
#include "foundation/base/units.hpp"
#include "foundation/ports/file_control.hpp"
#include "foundation/ports/stamp.hpp"
#include "foundation/ports/storage.hpp"
#include "pool/policy/folder_rules.hpp"
#include "pool/protocol/directory.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace forebay::pool {

// How a pool behaves. Set once, when it is made.
struct PoolOptions {
    std::int64_t cap_bytes = std::int64_t{1} << 30;       // bytes of blocks leased to all clients
    std::int64_t window_bytes = std::int64_t{256} << 20;  // write-behind window of a file
    std::int64_t age_max_ns = 30'000'000'000;             // maximum age of a deposit
    // A file that no client has written to for this long is drained.
    std::int64_t quiet_ns = 50'000'000;
    // Maximum length of a request to the file system.
    std::int64_t request_bytes_max = std::int64_t{4} << 20;
    // Requests in flight at each target (OST) of a file (k); 0: found while running.
    std::int32_t requests_in_flight = 2;
    std::int32_t files_at_once = 4;  // maximum number of files drained at a time
    std::size_t processors = 0;      // processors that daemon and clients share; 0: enough for all
    // Maximum size of the read cache. It counts in `cap_bytes`, and is at most a quarter of that.
    std::int64_t read_ahead_bytes = std::int64_t{256} << 20;
    // Daemons of other nodes use the same files: forgotten() reports slots, and no file is dropped
    // because it has no name here.
    bool shared = false;
    // With `paper`, a request is at most one block, and one request per file is in flight in each
    // direction.
    CacheConsistency consistency = CacheConsistency::pool;
    // A sync of a file is complete when the journal has its bytes.
    bool sync_to_journal = false;
};

// The maximum number of read-cache blocks at a time.
[[nodiscard]] std::size_t clean_blocks(const PoolOptions& options) noexcept;

using ports::ChangeStamp;

// A file as the daemon has opened it for itself: by another open of the same inode, so that the
// daemon can write after the program has ended. It closes its descriptors when the last owner is
// gone.
struct DaemonFile {
    ports::FileIdentity identity;
    std::unique_ptr<ports::FileStorage> storage;  // writes; null: the daemon may only read the file
    std::unique_ptr<ports::FileControl> control;  // null: the daemon has no descriptor of the file
    FileStripes stripes;
    std::string path;
    ChangeStamp stamp{};           // length and times when it was opened
    std::string place{};           // absolute path under which a replay of the journal looks for it
    std::uint64_t generation = 0;  // generation of the inode; 0: the file system does not tell
    bool local = false;      // on a file system of this node alone, so that looking at it is cheap
    std::int64_t room = -1;  // free bytes on its file system when it was opened; negative: unknown
    FileRule rule{};         // the rule of its directory; `past` concerns the caller of open()
    // Opens the file for read-ahead, when that is first wanted; `seen` is the stamp that the pool
    // keeps up to date. Empty, or returns null: the file cannot be read ahead.
    std::function<std::unique_ptr<ports::FileStorage>(
        const std::shared_ptr<const ChangeStamp>& seen)>
        open_for_reading{};
    // A file of this file system cannot have `deposit_end_max` bytes, so that it may refuse to take
    // a deposit (EFBIG). Only known where the file was opened for writing.
    bool has_short_files = false;
};

enum class AccessMode { read, write, both };

// A client's request about a file, which a later run_once() answers.
struct FileTask {
    enum class Kind { drain, sync, leave, truncate };
    Kind kind = Kind::drain;
    ThroughReason reason = ThroughReason::none;  // for `leave`
    Length bytes{};                              // for `truncate`: the new length
    bool changes = false;  // for `drain`: the client will then change the file itself
    // For `drain`: the client wants to know whether the file system has room for what is deposited.
    // The file is drained only if a look at the file system does not tell.
    bool for_room = false;
};
// A task to make the file leave for the sake of other nodes: once answered, they see all of it.
inline constexpr FileTask leave_to_other_nodes{FileTask::Kind::leave, ThroughReason::other_nodes};

// A program's wishes for one file.
struct FileAdjustment {
    Length window{};    // new write-behind window; 0: unchanged
    bool back = false;  // pool the file again, if it left because of `from`
    ThroughReason from = ThroughReason::switched;
};
// The answer to a task.
struct TaskCompletion {
    std::uint64_t ticket = 0;
    int error = 0;  // errno
};

// The place of a file in the directory.
struct RegisteredFile {
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
};

// The answer to another node that asks for bytes of a file.
struct SharedBytes {
    enum class State {
        none,    // they are not available here
        coming,  // they are being read: ask again later
        there,
    };
    State state = State::none;
    // Valid until the next round; fewer than asked for: the file ends there.
    std::span<const std::byte> bytes{};
};

// A file that was drained without an error, but whose close() failed: some file systems report
// errors of earlier writes only then.
struct FailedClose {
    std::string path;
    std::int64_t bytes = 0;  // bytes drained since it was opened: some may not have arrived
    int error = 0;           // errno
};

// A write that a client had begun and did not commit in time while the pool closed down. It was not
// acknowledged; the client has to write these bytes to the file itself.
struct GivenUpWrite {
    std::uint64_t process = 0;
    std::string path;
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
};

// Counters since the pool was made.
struct PoolCounts {
    std::uint64_t entries = 0;     // committed entries that were taken
    std::uint64_t refused = 0;     // malformed or forbidden entries
    std::uint64_t distrusted = 0;  // clients whose logs were malformed
    std::uint64_t revoked = 0;     // entries revoked because their clients did not commit in time
    std::uint64_t jobs = 0;        // flush batches
    std::uint64_t failed_jobs = 0;
    std::int64_t drained_bytes = 0;
    std::uint64_t wishes = 0;  // prefetch hints
    // Read-cache blocks whose reading was begun.
    std::uint64_t fetches = 0;
    std::uint64_t failed_fetches = 0;
    std::int64_t fetched_bytes = 0;
};

}  // namespace forebay::pool
