// The pool's vocabulary: its options, the files that it is given, what it is asked for, and what it
// answers and counts.
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
    CacheConsistency consistency = CacheConsistency::pool;
    // A sync of a file is over when the journal has all of it.
    bool sync_to_journal = false;
};

// Blocks of the read cache that there may be at a time.
[[nodiscard]] std::size_t clean_blocks(const PoolOptions& options) noexcept;

using ports::ChangeStamp;

// A file on the file system, opened by the daemon for itself.
struct DaemonFile {
    ports::FileIdentity identity;
    std::unique_ptr<ports::FileStorage> storage;  // for writing; null: it may only be read
    std::unique_ptr<ports::FileControl> control;
    FileStripes stripes;
    std::string path;
    ChangeStamp stamp{};           // when it was opened
    std::string place{};           // where a replay looks for it: an absolute path
    std::uint64_t generation = 0;  // the inode's, where the file system tells; else 0
    bool local = false;            // nobody but this node has to be asked for it
    std::int64_t room = -1;        // on its file system, then; negative: not known
    FileRule rule{};               // its folder's; `past` is for the caller of open()
    // For reading ahead: called when that is wished for, with what the pool knows of the file from
    // then on. Null, or gives null: it cannot be done.
    std::function<std::unique_ptr<ports::FileStorage>(
        const std::shared_ptr<const ChangeStamp>& seen)>
        open_for_reading{};
};

enum class AccessMode { read, write, both };

// A client's request about a file; a later run_once() answers it.
struct FileTask {
    enum class Kind { drain, sync, leave, truncate };
    Kind kind = Kind::drain;
    ThroughReason reason = ThroughReason::none;  // leave
    Length bytes{};                              // truncate
    bool changes = false;                        // drain: the client then changes the file itself
    // drain: only where it cannot be known otherwise whether there is room for what was deposited.
    bool for_room = false;
};
// The file is in the file system for all nodes from then on.
inline constexpr FileTask leave_to_other_nodes{FileTask::Kind::leave, ThroughReason::other_nodes};

// A program's wishes for one file.
struct FileAdjustment {
    Length window{};    // 0: as it is
    bool back = false;  // pooled again, where it left because of `from`
    ThroughReason from = ThroughReason::switched;
};
struct TaskCompletion {
    std::uint64_t ticket = 0;
    int error = 0;  // errno
};

struct RegisteredFile {
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
};

// Bytes of a file that another node asks for.
struct SharedBytes {
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
struct PoolCounts {
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

}  // namespace forebay::pool
