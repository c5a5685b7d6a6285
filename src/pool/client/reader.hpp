// Reads pooled files: overlays deposits, straight from the logs in which they lie, over the file
// system's bytes. These come from read-cache blocks, which the daemon fetched for all processes of
// the node, or else from the file itself.
#pragma once

#include "pool/client/daemon.hpp"
#include "pool/client/log_writer.hpp"
#include "pool/client/readahead/read_ahead_policy.hpp"
#include "pool/protocol/search.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay::pool {

// Port: the file in the file system, without the pool.
class BackingFile {
public:
    BackingFile(const BackingFile&) = delete;
    BackingFile& operator=(const BackingFile&) = delete;

    // As pread: returns bytes read, or minus an errno.
    [[nodiscard]] virtual std::int64_t read(std::int64_t offset,
                                            std::span<std::byte> bytes) noexcept = 0;
    // Whether these bytes of the program's memory can be written to. Asked before deposits are
    // copied there.
    [[nodiscard]] virtual bool may_fill(std::span<std::byte> bytes) noexcept {
        static_cast<void>(bytes);
        return true;
    }

protected:
    BackingFile() noexcept = default;
    ~BackingFile() = default;
};

// How a reader sends prefetch hints (`hint_writer`), and the read-cache blocks; null: nothing is
// read ahead.
struct ReadAheadAccess {
    LogWriter* hint_writer = nullptr;
    std::uint32_t client = 0;  // this process'
    const std::byte* blocks = nullptr;
};

class PoolReader {
public:
    PoolReader(const Directory& directory, Daemon& daemon, const ReadAheadAccess& ahead) noexcept
        : directory_{directory},
          daemon_{daemon},
          ahead_{ahead},
          consistency_{directory.header.consistency.load(std::memory_order_relaxed)} {}
    PoolReader(const PoolReader&) = delete;
    PoolReader& operator=(const PoolReader&) = delete;
    ~PoolReader() = default;

    // Reads `bytes` at `offset`, and sees everything that any process of the node had written to
    // the file before. Returns bytes read, fewer only at the end of the file, or minus an errno:
    // the file's, or EIO if the daemon is dead. `guess` predicts reads by this descriptor; null:
    // nothing is fetched ahead.
    [[nodiscard]] std::int64_t read(FileId file, BackingFile& backing, ReadAheadPolicy* guess,
                                    std::int64_t offset, std::span<std::byte> bytes) noexcept;
    // One past the last deposited byte; 0 without deposits; minus EIO if the daemon is dead.
    [[nodiscard]] std::int64_t deposited_size(FileId file) noexcept;

private:
    // Wait until the daemon has taken all commits made before to this file, by one client, or by
    // all. False: the daemon is dead.
    [[nodiscard]] bool catch_up(const FileSlot& slot) noexcept;
    [[nodiscard]] bool catch_up_with(std::uint32_t client) noexcept;
    [[nodiscard]] bool catch_up_with_each(std::uint32_t first, std::uint64_t writers,
                                          bool& seen_all) noexcept;
    [[nodiscard]] bool catch_up_with_all() noexcept;
    // The arguments of one read.
    struct Source {
        FileId file;
        const FileSlot& slot;
        BackingFile& backing;
        ReadAheadPolicy* guess;
    };
    // Tells the policy how the daemon caches.
    void set_up(ReadAheadPolicy& guess) const noexcept;
    // Read-cache blocks that may be fetched ahead of this reader.
    [[nodiscard]] std::int32_t share_of(const FileSlot& slot) const noexcept;
    // Sends hints to the daemon by entries of the log.
    void publish(const Source& source, const PrefetchHints& wishes) noexcept;
    // Notes a read, and publishes what it predicts.
    void wish(const Source& source, std::int64_t offset, std::size_t bytes) noexcept;
    // One attempt of a read: extents, bytes below, deposits, and the check that nothing changed.
    [[nodiscard]] std::int64_t look(const Source& source, std::int64_t offset,
                                    std::span<std::byte> bytes) noexcept;
    // Whether the range has the same deposits as `before`.
    [[nodiscard]] bool still_there(const FileSlot& slot, const Extent& range,
                                   std::span<const Deposit> before) const noexcept;
    // Copies a deposit from its log. False: the log is not mapped, or the deposit makes no sense.
    [[nodiscard]] bool copy(const Deposit& deposit, std::byte* to) noexcept;
    // The bytes below the deposits: from read-cache blocks or the file.
    [[nodiscard]] std::int64_t below(const Source& source, std::int64_t offset,
                                     std::span<std::byte> bytes) noexcept;
    // From the file.
    [[nodiscard]] std::int64_t direct(const Source& source, std::int64_t offset,
                                      std::span<std::byte> bytes) noexcept;
    // From one read-cache block; 0: it has nothing of the range's beginning.
    [[nodiscard]] std::size_t clean(const Source& source, std::int64_t offset,
                                    std::span<std::byte> bytes) noexcept;

    const Directory& directory_;
    Daemon& daemon_;
    ReadAheadAccess ahead_;
    CacheConsistency consistency_;
};

}  // namespace forebay::pool
