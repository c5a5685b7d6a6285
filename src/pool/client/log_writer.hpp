// Writes deposits into this process' log: reserve, copy, commit (pool/protocol/log.hpp). Safe in
// several threads at once, in signal handlers, and in a forked child that shares the log. Allocates
// nothing, and makes no system call unless credit is exhausted or memory is new.
//
// Several processes can fill memory together without a further copy, such as a window of a
// collective write: lend() reserves memory of the log, all of them write to it, and append_lent()
// commits it.
#pragma once

#include "pool/client/daemon.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace forebay::pool {

// The result of a write: its first `taken` bytes are acknowledged, and `rest` says how to go on.
struct WriteResult {
    enum class Rest {
        none,     // all bytes are taken
        through,  // the caller writes the rest to the file system directly
        failed,   // draining has failed: `error` is its errno
        lost,     // the daemon is dead, or does not listen to this client any more
    };
    std::size_t taken = 0;
    Rest rest = Rest::none;
    int error = 0;
};

// A range of this process' log, within one block, that is reserved and not committed yet.
struct LogReservation {
    std::uint64_t position = 0;  // in the log
    std::size_t place = 0;       // where its memory begins in the log's mapping
    std::span<std::byte> bytes;
};

class LogWriter {
public:
    // Bytes. A pool with a smaller capacity lends nothing: loans that wait for other processes
    // could take all of it.
    static constexpr std::int64_t lending_cap_min = std::int64_t{128} << 20;
    // Minimum bytes of a write that fills new memory without mapping it (Daemon::fill), while all
    // processors are busy: for smaller writes the system call takes longer than mapping does. While
    // a processor is free, mapping is better, because the kernel lets nobody write to a log by its
    // descriptor while the daemon allocates memory for it.
    static constexpr std::size_t fill_bytes_min = 8192;

    // Contract: the daemon has admitted `client`.
    LogWriter(const Directory& directory, Log log, std::uint32_t client, Daemon& daemon) noexcept
        : directory_{directory},
          log_{log},
          client_{client},
          admission_{directory.clients[client].admission.load(std::memory_order_acquire)},
          daemon_{daemon} {}
    LogWriter(const LogWriter&) = delete;
    LogWriter& operator=(const LogWriter&) = delete;
    ~LogWriter() = default;

    // Writes `bytes` at `offset`; the sum must not overflow. Returns when the bytes taken are as
    // durable as the pool promises.
    [[nodiscard]] WriteResult write(FileId file, std::int64_t offset,
                                    std::span<const std::byte> bytes) noexcept;
    // The two halves of write(): append() does not wait for durability, and several calls of it may
    // be followed by one make_durable().
    [[nodiscard]] WriteResult append(FileId file, std::int64_t offset,
                                     std::span<const std::byte> bytes) noexcept;
    // Waits until everything that this process has appended is durable. `rest` is none, failed or
    // lost.
    [[nodiscard]] WriteResult make_durable(FileId file) noexcept;
    // Lends memory for bytes of the file, without waiting. nullopt: no memory is free at the
    // moment, `bytes` exceeds a block, or the file is not pooled.
    [[nodiscard]] std::optional<LogReservation> lend(FileId file, std::size_t bytes) noexcept;
    // append() of bytes that lie in a loan. Contract: each byte of a loan is taken at most once.
    [[nodiscard]] WriteResult append_lent(FileId file, std::int64_t offset,
                                          const LogReservation& part) noexcept;
    // Returns a part of a loan that was not taken; nobody may access it any more.
    void give_back(const LogReservation& part) noexcept;
    // Sends the daemon a hint (EntryKind::wanted or closed), which is dropped if half of the log's
    // entries are in use.
    void notify_daemon(FileId file, EntryKind kind, std::int64_t offset,
                       std::uint32_t length) noexcept;
    // Sleeps until a file that leaves the pool may be written directly. `rest` of the result is
    // never none.
    [[nodiscard]] WriteResult settle(FileId file) noexcept;

private:
    // Whether the daemon lives and still takes what this client commits.
    [[nodiscard]] bool daemon_listens() const noexcept {
        const std::uint64_t now =
            directory_.clients[client_].admission.load(std::memory_order_seq_cst);
        return now == admission_ && now != 0 && daemon_.alive();
    }
    // The part of a write that lies in one block of the log.
    // The offset lies in the file, the position in the log; times are nanoseconds.
    struct Piece {
        std::int64_t offset = 0;
        std::uint64_t position = 0;
        std::uint32_t length = 0;
        std::int64_t time_ns = 0;
        std::int64_t waited_ns = 0;
    };
    // Whether the file may be deposited to now: none if it may; otherwise how the write goes on.
    [[nodiscard]] WriteResult::Rest standing(FileId file) const noexcept;
    // Waits until `bytes` more fit into the file's write-behind window; adds the time to
    // `waited_ns`.
    [[nodiscard]] WriteResult::Rest wait_for_window(FileId file, std::size_t bytes,
                                                    std::int64_t& waited_ns) noexcept;
    // An upper bound of the bytes that this process has deposited and FileSlot::taken does not
    // count yet.
    [[nodiscard]] std::int64_t uncounted_bytes() noexcept;
    // Wakes the daemon and sleeps until the word has changed, for some milliseconds at most.
    // Returns nanoseconds slept.
    [[nodiscard]] std::int64_t sleep(const Word& word, std::uint32_t seen) noexcept;
    // Writes one piece: entry, reservation, credit, copy, commit.
    [[nodiscard]] WriteResult::Rest deposit(FileId file, const Piece& piece,
                                            const std::byte* bytes) noexcept;
    [[nodiscard]] WriteResult::Rest deposit_lent(FileId file, Piece piece) noexcept;
    // Declares reserved positions unused, by an entry.
    void abandon(FileId file, const Piece& piece) noexcept;
    void abandon_without_bytes(std::uint64_t number) noexcept;
    // The result if the daemon does not take an entry: the client writes directly, unless the
    // daemon is dead.
    [[nodiscard]] WriteResult::Rest refused() const noexcept {
        return daemon_listens() ? WriteResult::Rest::through : WriteResult::Rest::lost;
    }
    [[nodiscard]] bool sealed() const noexcept {
        return (log_.header().entries.load(std::memory_order_acquire) & log_sealed) != 0;
    }
    // The number of the next entry; nullopt if the log is sealed.
    [[nodiscard]] std::optional<std::uint64_t> next_number() noexcept;
    // False: the daemon has revoked the entry.
    [[nodiscard]] bool reserve(std::uint64_t number) noexcept;
    // False: the daemon has revoked the entry.
    [[nodiscard]] bool commit(std::uint64_t number, const Piece& piece) noexcept;
    // Writes the entry's fields once the ring has room for it. False: it never will.
    [[nodiscard]] bool fill_in(std::uint64_t number, FileId file, EntryKind kind,
                               const Piece& piece) noexcept;
    // Memory of a block of the log.
    struct Memory {
        std::byte* begin = nullptr;
        std::uint32_t block = 0;  // number of the physical block
        bool is_new = false;      // no page of it has been written through this mapping
    };
    // Where block `number` of the log lies; no page is touched.
    [[nodiscard]] Memory memory_of(std::uint64_t number) const noexcept;
    // The address of a position, with its block prepared for writing.
    [[nodiscard]] std::byte* memory_at(std::uint64_t position) noexcept;
    void copy(std::uint64_t position, std::span<const std::byte> bytes) noexcept;

    const Directory& directory_;
    Log log_;
    std::uint32_t client_;
    // ClientSlot::admission as it was at first: if it changes, the daemon has stopped listening.
    std::uint64_t admission_;
    Daemon& daemon_;
    // One bit for each physical block: its pages are mapped.
    std::array<std::atomic<std::uint64_t>, blocks_max / 64> prepared_{};
    // Number + 1 of log blocks whose new memory was prepared lately.
    std::array<std::atomic<std::uint64_t>, 16> new_ones_{};
    // Bytes committed since the directory last counted all commits of this log. Two threads may
    // lose a piece that is being committed; the write-behind window is then exceeded by that piece.
    std::atomic<std::int64_t> committed_bytes_ = 0;
};

}  // namespace forebay::pool
