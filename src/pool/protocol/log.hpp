// A client's log: the shared memory by which a process hands bytes to the daemon of its node with a
// copy and a few stores, without a system call or a lock (reserve, copy, commit). The client writes
// to it; the daemon and other clients only read it, and treat everything in it as untrusted input.
// The daemon changes two words of it, to refuse commits that have not happened yet.
//
//   LogHeader │ entries (a ring) │ blocks of data
//
// A *position* is a byte's place in the stream of all bytes that the client has ever reserved. The
// byte at position p lies in the log's block number p / block_bytes; the client's leases in the
// directory (directory.hpp) say which physical block that is, because blocks come free in any
// order. A client reserves positions and an entry's number by one atomic fetch_add each, copies its
// bytes, and then commits the entry. So threads, forked children and signal handlers share a log
// without a lock. The bytes of an entry lie in one block.
//
//   reserve ──▶ entry "reserved" ──▶ still pooled? ──▶ copy ──▶ "committed" ──▶ commits + 1
//                                         └─ no ────▶ "abandoned"
//
// A write is acknowledged when all its entries are committed. An entry that a dead client left in
// the state "reserved" was not acknowledged.
//
// A client may be suspended between any two of these steps, for any time. Therefore the daemon can
// refuse a commit (docs/decisions/0037): client and daemon both change the state of an entry by
// compare-and-swap, and one of them wins. The daemon *revokes* an entry that is reserved or not
// filled in yet. Its client then cannot commit it any more; the client writes these bytes to the
// file itself, and abandons the entry to say that it does not use their memory any more. The daemon
// *seals* a log to make sure that no further entry numbers are given out.
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
    revoked = 4,  // by the daemon: the client cannot commit it any more
};

// The kind of an entry: bytes, or only a notice.
enum class EntryKind : std::uint32_t {
    deposit = 0,  // these bytes are now the file's
    wanted = 1,   // a prefetch hint: this range will be read (`position` is unused)
    closed = 2,   // the client has closed the file (offset, length and position are unused)
};

// An entry fills one cache line, so that threads that fill in neighbouring entries do not share
// one.
struct alignas(64) Entry {
    // The entry's number shifted left by three bits, and its EntryState in these. The number tells
    // this entry from the one that had the same place one lap of the ring earlier.
    std::atomic<std::uint64_t> state;
    std::atomic<std::uint32_t> file;        // slot in the directory
    std::atomic<std::uint32_t> generation;  // generation of that slot
    std::atomic<std::int64_t> offset;       // offset in the file
    std::atomic<std::uint64_t> position;    // position in the log
    std::atomic<std::uint32_t> length;      // bytes
    std::atomic<EntryKind> kind;
    // CLOCK_MONOTONIC when the write began. Where two writes meet in a byte, the later one wins.
    std::atomic<std::int64_t> time_ns;
    // How long the write waited for credit or the file's window; only reported.
    std::atomic<std::int64_t> waited_ns;
};
static_assert(sizeof(Entry) == 64);

// The value of Entry::state for entry `number` in `state`.
[[nodiscard]] constexpr std::uint64_t stated(std::uint64_t number, EntryState state) noexcept {
    return number << 3U | static_cast<std::uint64_t>(state);
}
// The state of entry `number`, by the value `stated` of Entry::state; `none` if the place in the
// ring still holds an earlier entry.
[[nodiscard]] constexpr EntryState state_of(std::uint64_t number, std::uint64_t stated) noexcept {
    return stated >> 3U == number ? static_cast<EntryState>(stated & 7U) : EntryState::none;
}

// A bit of LogHeader::entries that the daemon sets: the log is sealed. The daemon takes no entry
// with a number above those that were given out by then.
inline constexpr std::uint64_t log_sealed = std::uint64_t{1} << 63U;

struct LogHeader {
    alignas(64) std::atomic<std::uint64_t> format;
    alignas(64) std::atomic<std::uint64_t> reserved;  // positions given out
    alignas(64) std::atomic<std::uint64_t> entries;   // entry numbers given out, and log_sealed
    alignas(64) std::atomic<std::uint64_t> commits;   // entries committed
    // Not 0: the client has forked with pooled files open. Its children have these files open, too,
    // which the daemon learns only when they first use them.
    alignas(64) std::atomic<std::uint32_t> forked;
    // Not 0: the client has opened files of the pool with O_PATH. By such a descriptor it can open
    // a file once more that has lost its name and that nobody has open.
    std::atomic<std::uint32_t> opened_paths;
};

// The layout of a mapped log. Each block begins at a page, however large the kernel's pages are:
// the daemon gives memory to a block and takes it back, which the kernel does by whole pages.
// Between the entries and the first block there may be a gap without memory.
struct LogShape {
    static constexpr std::size_t page_bytes_max = std::size_t{1} << 16;  // of Linux on aarch64
    static constexpr std::size_t entries_at = 4096;
    static constexpr std::size_t entries_end = entries_at + entries_max * sizeof(Entry);
    static constexpr std::size_t data_at =
        (entries_end + page_bytes_max - 1) / page_bytes_max * page_bytes_max;
    static constexpr std::size_t bytes = data_at + blocks_max * block_bytes;
};
static_assert(sizeof(LogHeader) <= LogShape::entries_at);
static_assert(block_bytes % LogShape::page_bytes_max == 0);

// A view of a mapped log. The mapping may hold fewer than blocks_max blocks; it is not owned.
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
    // The memory of physical block number `block`. Precondition: `block` < blocks_max.
    [[nodiscard]] std::byte* block(std::uint32_t block) const noexcept {
        return base_ + LogShape::data_at + block * block_bytes;
    }

private:
    std::byte* base_ = nullptr;
};

}  // namespace forebay::pool
