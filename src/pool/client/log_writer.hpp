// Writing into the pool: reserve, copy, commit (pool/protocol/log.hpp). Safe in several threads at
// once, in signal handlers, and in a forked child that shares the log. Allocates nothing, and makes
// no system call while there is credit, but where memory is new.
//
// Several processes can write bytes together, such as a window of a collective write, without one
// more copy: lend() reserves memory of the log that all of them fill, and append_lent() commits it.
#pragma once

#include "pool/client/daemon.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace forebay::pool {

// How a write went on after its first `taken` bytes, which are acknowledged.
struct WriteResult {
    enum class Rest {
        none,     // all of it is taken
        through,  // the rest goes to the file system directly
        failed,   // `error`
        lost,     // the daemon is dead, or does not listen to this client any more
    };
    std::size_t taken = 0;
    Rest rest = Rest::none;
    int error = 0;
};

// A stretch of the own log, in one block, that is reserved and not committed yet.
struct LogReservation {
    std::uint64_t position = 0;  // in the log
    std::size_t place = 0;       // where its memory begins in the log's mapping
    std::span<std::byte> bytes;
};

class LogWriter {
public:
    // Where the node's pool may have less, nothing is lent: loans that wait for other processes
    // could be all that there is.
    static constexpr std::int64_t lending_cap_least = std::int64_t{128} << 20;
    // New memory is filled without being mapped where so much is written at a time and all
    // processors are busy. With less, the system calls take longer than mapping does. And the
    // kernel lets nobody fill a log while the daemon gets memory for it: where a processor is free
    // for that, mapping goes on beside it.
    static constexpr std::size_t filled_least = 8192;

    // The client is admitted.
    LogWriter(const Directory& directory, Log log, std::uint32_t client, Daemon& daemon) noexcept
        : directory_{directory},
          log_{log},
          client_{client},
          admission_{directory.clients[client].admission.load(std::memory_order_acquire)},
          daemon_{daemon} {}
    LogWriter(const LogWriter&) = delete;
    LogWriter& operator=(const LogWriter&) = delete;
    ~LogWriter() = default;

    // offset + bytes.size() must not overflow. Returns when what is taken is as durable as this
    // pool promises.
    [[nodiscard]] WriteResult write(FileId file, std::int64_t offset,
                                    std::span<const std::byte> bytes) noexcept;
    // The two halves of write(): the first does not wait for durability, and several may come
    // before one of the second.
    [[nodiscard]] WriteResult append(FileId file, std::int64_t offset,
                                     std::span<const std::byte> bytes) noexcept;
    // Everything that this process has appended is durable: none; else failed or lost.
    [[nodiscard]] WriteResult make_durable(FileId file) noexcept;
    // Memory for bytes of the file. nullopt: there is none at the moment, more is asked for than a
    // block has, or the file is not pooled. Does not wait for memory.
    [[nodiscard]] std::optional<LogReservation> lend(FileId file, std::size_t bytes) noexcept;
    // As append() of these bytes, which lie in a loan. Contract: each byte of a loan is taken once
    // at most.
    [[nodiscard]] WriteResult append_lent(FileId file, std::int64_t offset,
                                          const LogReservation& part) noexcept;
    // Returns the part of a loan that was not taken. Nobody may look at it any more.
    void give_back(const LogReservation& part) noexcept;
    // Tells the daemon something that holds no bytes. It is forgotten where the log is full.
    void notify_daemon(FileId file, EntryKind kind, std::int64_t offset,
                       std::uint32_t length) noexcept;
    // Sleeps until the file may be written directly. Its `rest` is never none.
    [[nodiscard]] WriteResult settle(FileId file) noexcept;

private:
    // The daemon lives, and takes what this client commits.
    [[nodiscard]] bool daemon_listens() const noexcept {
        const std::uint64_t now =
            directory_.clients[client_].admission.load(std::memory_order_seq_cst);
        return now == admission_ && now != 0 && daemon_.alive();
    }
    // The part of one write that lies in one block.
    struct Piece {
        std::int64_t offset = 0;
        std::uint64_t position = 0;
        std::uint32_t length = 0;
        std::int64_t time_ns = 0;
        std::int64_t waited_ns = 0;
    };
    [[nodiscard]] WriteResult::Rest standing(FileId file) const noexcept;
    [[nodiscard]] WriteResult::Rest wait_for_window(FileId file, std::size_t bytes,
                                                    std::int64_t& waited_ns) noexcept;
    // The most bytes deposited by this process that are not yet among the files' taken bytes.
    [[nodiscard]] std::int64_t uncounted_bytes() noexcept;
    // Until the word has changed, or for some time; nanoseconds.
    [[nodiscard]] std::int64_t sleep(const Word& word, std::uint32_t seen) noexcept;
    [[nodiscard]] WriteResult::Rest deposit(FileId file, const Piece& piece,
                                            const std::byte* bytes) noexcept;
    [[nodiscard]] WriteResult::Rest deposit_lent(FileId file, Piece piece) noexcept;
    void abandon(FileId file, const Piece& piece) noexcept;
    void abandon_without_bytes(std::uint64_t number) noexcept;
    // A client itself writes what the daemon does not take, unless the daemon is dead.
    [[nodiscard]] WriteResult::Rest refused() const noexcept {
        return daemon_listens() ? WriteResult::Rest::through : WriteResult::Rest::lost;
    }
    [[nodiscard]] bool sealed() const noexcept {
        return (log_.header().entries.load(std::memory_order_acquire) & log_sealed) != 0;
    }
    // nullopt: the log is sealed.
    [[nodiscard]] std::optional<std::uint64_t> next_number() noexcept;
    // False: the daemon has revoked the entry.
    [[nodiscard]] bool reserve(std::uint64_t number) noexcept;
    [[nodiscard]] bool commit(std::uint64_t number, const Piece& piece) noexcept;
    [[nodiscard]] bool fill_in(std::uint64_t number, FileId file, EntryKind kind,
                               const Piece& piece) noexcept;
    // The memory of a block of the log.
    struct Memory {
        std::byte* begin = nullptr;
        std::uint32_t block = 0;  // where it is in memory
        bool is_new = false;      // nobody has written there through this mapping
    };
    [[nodiscard]] Memory memory_of(std::uint64_t number) const noexcept;
    [[nodiscard]] std::byte* memory_at(std::uint64_t position) noexcept;
    void copy(std::uint64_t position, std::span<const std::byte> bytes) noexcept;

    const Directory& directory_;
    Log log_;
    std::uint32_t client_;
    std::uint64_t admission_;
    Daemon& daemon_;
    // A bit for each block: it is mapped.
    std::array<std::atomic<std::uint64_t>, blocks_max / 64> prepared_{};
    // Blocks of the log, by number + 1, whose memory was prepared last.
    std::array<std::atomic<std::uint64_t>, 16> new_ones_{};
    // Since the index last had all that the log's processes had committed. Two threads may forget
    // a piece that is just being committed: the window is then exceeded by as much.
    std::atomic<std::int64_t> committed_bytes_ = 0;
};

}  // namespace forebay::pool
