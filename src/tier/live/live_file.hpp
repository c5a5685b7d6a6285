// A regular file of the parallel file system while programs have it open, or while it has a
// replica. LiveTier changes it.
#pragma once

#include "foundation/base/result.hpp"
#include "tier/mover/live_record.hpp"
#include "tier/mover/ports.hpp"
#include "tier/policy/folder_policy.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace forebay::tier {

// A replica that is open, and its file.
struct OpenedReplica {
    std::unique_ptr<TieredFile> replica;
    std::unique_ptr<TieredFile> file;
    std::unique_ptr<LiveRecord> record;
    int descriptor = -1;  // of the replica
};

// A replica's size and time, as stat returns them.
struct ReplicaStatus {
    std::int64_t bytes = 0;
    std::int64_t blocks = 0;  // of 512 bytes
    timespec modified{};
};

struct LiveFile {
    explicit LiveFile(const ReplicaName& file) : name{file} {}

    // The descriptor that reads and writes go to; -1: the file's own. It stays open until the last
    // handle is closed, also when it is not used any more.
    [[nodiscard]] int descriptor() const noexcept {
        return descriptor_now.load(std::memory_order_acquire);
    }

    [[nodiscard]] bool is_ordered() const noexcept { return orders_done < orders; }

    const ReplicaName name;
    std::atomic<int> descriptor_now = -1;

    // Protected by the tier's mutex.
    std::uint32_t handles = 0;
    std::uint32_t writers = 0;

    std::mutex mutex;  // protects everything below
    std::condition_variable moved;
    std::string path;
    FolderPolicy policy{};
    std::unique_ptr<OpenedReplica> open;  // null: there is no replica, or it is closed
    std::vector<std::unique_ptr<OpenedReplica>> retired;  // not used any more, but maybe being read
    std::optional<ReplicaStatus> closed_status;           // of a replica that is not open
    bool moving = false;           // a move is under way, by the mover's thread
    bool fills = false;            // the mover's thread copies its bytes just now
    bool filling = false;          // its bytes are being copied, or will be
    bool removed = false;          // its last name is gone
    bool unreadable = false;       // somebody was told that its newest bytes cannot be read
    bool must_be_rescued = false;  // somebody else has changed the file; the rescue has failed
    // How often its newer bytes went to a rescue file, since somebody else had changed the file.
    std::uint32_t rescues = 0;
    // Orders to move it, and those that a move has carried out: one that began after the order, or
    // that no write has overtaken.
    std::uint64_t orders = 0;
    std::uint64_t orders_done = 0;
    std::int64_t written_ns = 0;  // monotonic, as all times here
    std::int64_t dirtied_ns = 0;
    std::int64_t retry_ns = 0;
    std::int64_t listed_bytes = 0;  // its length by the list, while it is written
    std::uint32_t failures = 0;     // of moves, one after another
    std::string failure{};          // of the last of them, for people
};

}  // namespace forebay::tier
