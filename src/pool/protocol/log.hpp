// A client's log: how a process hands bytes to the daemon of its node with a copy and a few stores.
// The process writes to it; the daemon and the other clients read it, and trust nothing in it. The
// daemon changes two words of it only, to refuse what is not committed yet.
//
//   LogHeader │ entries (a ring) │ blocks of data
//
// A *position* counts the bytes that the client has ever reserved. The block of position p is
// number p / block_bytes of the log; the client's leases in the directory (directory.hpp) say where
// it lies in memory, because blocks come back in any order. A client reserves positions and entries
// by one fetch_add each, copies, and then commits the entry; so threads, forked children and signal
// handlers share a log without a lock. An entry lies in one block.
//
//   reserve ──▶ entry "reserved" ──▶ still pooled? ──▶ copy ──▶ "committed" ──▶ commits + 1
//                                         └─ no ────▶ "abandoned"
//
// A write is acknowledged when all its entries are committed. Entries that a dead client left
// reserved were not acknowledged.
//
// A client may be suspended between any two of these steps, for any time. So the daemon can refuse
// a commit (docs/decisions/0037): both change an entry's state by compare-and-swap, and one of them
// wins. The daemon *revokes* an entry that was reserved or not filled in yet; its client cannot
// commit it any more, writes these bytes to the file itself, and says that it is done with their
// memory by abandoning the entry. And the daemon *seals* a log: no more numbers are given out.
//
//   client   none ──▶ reserved ──▶ committed             fetch_add ──▶ sealed? nothing is reserved
//                        │  └────▶ abandoned
//   daemon   └──────────┴───────▶ revoked ──(client)──▶ abandoned
#pragma once

#include "pool/protocol/limits.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace forebay::pool {

enum class EntryState : std::uint64_t {
    none = 0,
    reserved = 1,
    committed = 2,
    abandoned = 3,
    revoked = 4,  // by the daemon: it will not be committed
};

// The subject of an entry: bytes, or only a hint.
enum class EntryKind : std::uint32_t {
    deposit = 0,  // these bytes are now the file's
    wanted = 1,   // this range will be read (position means nothing)
    closed = 2,   // the client has closed the file (offset, length and position mean nothing)
};

// One cache line, so that clients do not share any with one another's entries.
struct alignas(64) Entry {
    // The entry's number shifted by three bits, and its EntryState: what was left by the entry
    // that was here a lap ago is never taken for this one's.
    std::atomic<std::uint64_t> state;
    std::atomic<std::uint32_t> file;        // slot in the directory
    std::atomic<std::uint32_t> generation;  // of that slot
    std::atomic<std::int64_t> offset;       // in the file
    std::atomic<std::uint64_t> position;    // in the log
    std::atomic<std::uint32_t> length;      // bytes
    std::atomic<EntryKind> kind;
    // CLOCK_MONOTONIC when the write began: of two writes of one byte the later wins.
    std::atomic<std::int64_t> time_ns;
    std::atomic<std::int64_t> waited_ns;  // how long the write waited for room; for the report
};
static_assert(sizeof(Entry) == 64);

[[nodiscard]] constexpr std::uint64_t stated(std::uint64_t number, EntryState state) noexcept {
    return number << 3U | static_cast<std::uint64_t>(state);
}
// The state of entry `number`; none where it is not filled in yet.
[[nodiscard]] constexpr EntryState state_of(std::uint64_t number, std::uint64_t stated) noexcept {
    return stated >> 3U == number ? static_cast<EntryState>(stated & 7U) : EntryState::none;
}

// In LogHeader::entries, set by the daemon: nothing more is taken than what has a number.
inline constexpr std::uint64_t log_sealed = std::uint64_t{1} << 63U;

struct LogHeader {
    alignas(64) std::atomic<std::uint64_t> format;
    alignas(64) std::atomic<std::uint64_t> reserved;  // positions
    alignas(64) std::atomic<std::uint64_t> entries;   // numbers given out, and log_sealed
    alignas(64) std::atomic<std::uint64_t> commits;   // entries committed
};

// The layout of a mapped log. The data begins at a page.
struct LogShape {
    static constexpr std::size_t page = 4096;
    static constexpr std::size_t entries_at = page;
    static constexpr std::size_t data_at = entries_at + entries_max * sizeof(Entry);
    static constexpr std::size_t bytes = data_at + blocks_max * block_bytes;
};
static_assert(sizeof(LogHeader) <= LogShape::page);
static_assert(LogShape::data_at % LogShape::page == 0);

// A mapped log, or as much of it as `blocks` of its blocks.
class Log {
public:
    Log() noexcept = default;
    explicit Log(std::byte* base) noexcept : base_{base} {}

    [[nodiscard]] bool mapped() const noexcept { return base_ != nullptr; }
    [[nodiscard]] std::byte* base() const noexcept { return base_; }
    [[nodiscard]] LogHeader& header() const noexcept {
        return *reinterpret_cast<LogHeader*>(base_);
    }
    [[nodiscard]] Entry& entry(std::uint64_t number) const noexcept {
        return reinterpret_cast<Entry*>(base_ + LogShape::entries_at)[number % entries_max];
    }
    // Bytes of physical block `block`, which must be below blocks_max.
    [[nodiscard]] std::byte* block(std::uint32_t block) const noexcept {
        return base_ + LogShape::data_at + block * block_bytes;
    }

private:
    std::byte* base_ = nullptr;
};

}  // namespace forebay::pool
