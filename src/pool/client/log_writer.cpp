// The client's side of the log protocol in pool/protocol/log.hpp: the order of its stores and loads
// is the protocol. The daemon's side: PoolFiles::leave (core/state/files.cpp) and LogIngest
// (core/ingest).
#include "pool/client/log_writer.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"

#include <algorithm>

namespace forebay::pool {

WriteResult::Rest LogWriter::standing(FileId file) const noexcept {
    const FileSlot& slot = directory_.files[file.slot];
    if (!daemon_listens()) {
        return WriteResult::Rest::lost;
    }
    if (slot.error.load(relaxed) != 0) {
        return WriteResult::Rest::failed;
    }
    // Must come after the store of the entry's state: PoolFiles::leave stores `state` before it
    // looks at entries, so at least one of the two sees the other (Dekker's algorithm).
    const bool pooled = slot.state.load(std::memory_order_seq_cst) == FileState::pooled &&
                        slot.generation.load(relaxed) == file.generation;
    return pooled ? WriteResult::Rest::none : WriteResult::Rest::through;
}

std::int64_t LogWriter::sleep(const Word& word, std::uint32_t seen) noexcept {
    const std::int64_t before = daemon_.now_ns();
    daemon_.kick();
    daemon_.wait(word, seen);
    return daemon_.now_ns() - before;
}

WriteResult::Rest LogWriter::wait_for_window(FileId file, std::size_t bytes,
                                             std::int64_t& waited_ns) noexcept {
    const FileSlot& slot = directory_.files[file.slot];
    for (;;) {
        const std::uint32_t seen = slot.progress.load(std::memory_order_acquire);
        const WriteResult::Rest rest = standing(file);
        if (rest != WriteResult::Rest::none) {
            return rest;
        }
        const ClientSlot& self = directory_.clients[client_];
        const std::uint32_t seen_self = self.progress.load(std::memory_order_acquire);
        // Read before `taken`: bytes that the daemon counts in between are then counted twice
        // instead of not at all.
        const std::int64_t uncounted = uncounted_bytes();
        const std::int64_t held = slot.taken.load(relaxed) - slot.drained.load(relaxed) + uncounted;
        // A write larger than the window goes ahead when nothing else is waiting to be drained.
        if (held <= 0 || held + static_cast<std::int64_t>(bytes) <= slot.window.load(relaxed)) {
            return rest;
        }
        waited_ns += uncounted > 0 ? sleep(self.progress, seen_self) : sleep(slot.progress, seen);
    }
}

std::int64_t LogWriter::uncounted_bytes() noexcept {
    const std::uint64_t committed = log_.header().commits.load(std::memory_order_seq_cst);
    if (directory_.clients[client_].commits.load(std::memory_order_acquire) >= committed) {
        committed_bytes_.store(0, relaxed);
    }
    return committed_bytes_.load(relaxed);
}

LogWriter::Memory LogWriter::memory_of(std::uint64_t number) const noexcept {
    const std::uint32_t lease = directory_.leases[client_][number % blocks_max].load(relaxed);
    const std::uint32_t block = block_of(lease);
    const bool prepared = new_ones_[number % new_ones_.size()].load(relaxed) == number + 1;
    return {.begin = log_.block(block),
            .block = block,
            .is_new = (lease & new_memory) != 0 && !prepared};
}

std::byte* LogWriter::memory_at(std::uint64_t position) noexcept {
    const std::uint64_t number = position / block_bytes;
    const Memory memory = memory_of(number);
    std::atomic<std::uint64_t>& word = prepared_[memory.block / 64];
    const std::uint64_t bit = std::uint64_t{1} << memory.block % 64;
    if (memory.is_new || (word.load(relaxed) & bit) == 0) {
        daemon_.prepare(memory.begin, block_bytes);
        word.fetch_or(bit, relaxed);
        new_ones_[number % new_ones_.size()].store(number + 1, relaxed);
    }
    return memory.begin + position % block_bytes;
}

void LogWriter::copy(std::uint64_t position, std::span<const std::byte> bytes) noexcept {
    // The next block may be leased to other bytes, or to no one.
    expects(position % block_bytes + bytes.size() <= block_bytes, "an entry lies in one block");
    // A reader that still copies what was in this memory before, and gets these bytes, finds the
    // file's version changed (docs/internals/memory-order.md, section 2).
    std::atomic_thread_fence(std::memory_order_release);
    if (bytes.size() >= fill_bytes_min && directory_.header.crowded.load(relaxed) != 0) {
        const Memory memory = memory_of(position / block_bytes);
        if (memory.is_new && daemon_.fill(memory.begin + position % block_bytes, bytes)) {
            // pwrite did not map the block; pages that were mapped there for an earlier lease are
            // gone.
            std::atomic<std::uint64_t>& word = prepared_[memory.block / 64];
            const std::uint64_t bit = std::uint64_t{1} << memory.block % 64;
            if ((word.load(relaxed) & bit) != 0) {
                word.fetch_and(~bit, relaxed);
            }
            return;
        }
    }
    daemon_.copy(memory_at(position), bytes);
}

std::optional<std::uint64_t> LogWriter::next_number() noexcept {
    const std::uint64_t number = log_.header().entries.fetch_add(1, std::memory_order_seq_cst);
    return (number & log_sealed) == 0 ? std::optional{number} : std::nullopt;
}

bool LogWriter::reserve(std::uint64_t number) noexcept {
    std::atomic<std::uint64_t>& state = log_.entry(number).state;
    std::uint64_t before = state.load(std::memory_order_acquire);
    return state_of(number, before) != EntryState::revoked &&
           state.compare_exchange_strong(before, stated(number, EntryState::reserved),
                                         std::memory_order_seq_cst);
}

// Fills in entry `number`, after waiting until the ring has room for it. False: the daemon died,
// stopped listening or sealed the log while the entry was in use by an older number; it is not
// touched then.
bool LogWriter::fill_in(std::uint64_t number, FileId file, EntryKind kind,
                        const Piece& piece) noexcept {
    const ClientSlot& self = directory_.clients[client_];
    for (;;) {
        const std::uint32_t seen = self.progress.load(std::memory_order_acquire);
        if (number < self.entries.load(std::memory_order_acquire) + entries_max) {
            break;
        }
        if (!daemon_listens() || sealed()) {
            return false;
        }
        daemon_.kick();
        daemon_.wait(self.progress, seen);
    }
    Entry& entry = log_.entry(number);
    entry.file.store(file.slot, relaxed);
    entry.generation.store(file.generation, relaxed);
    entry.kind.store(kind, relaxed);
    entry.offset.store(piece.offset, relaxed);
    entry.position.store(piece.position, relaxed);
    entry.length.store(piece.length, relaxed);
    entry.time_ns.store(piece.time_ns, relaxed);
    entry.waited_ns.store(piece.waited_ns, relaxed);
    return true;
}

void LogWriter::abandon(FileId file, const Piece& piece) noexcept {
    const std::optional<std::uint64_t> number = next_number();
    if (number && fill_in(*number, file, EntryKind::deposit, piece)) {
        log_.entry(*number).state.store(stated(*number, EntryState::abandoned),
                                        std::memory_order_release);
    }
}

// Abandons an entry whose bytes stay the caller's. Every entry must account for positions of the
// log, so this one gets a byte of its own that nobody will use.
void LogWriter::abandon_without_bytes(std::uint64_t number) noexcept {
    Entry& entry = log_.entry(number);
    entry.position.store(log_.header().reserved.fetch_add(1, relaxed), relaxed);
    entry.length.store(1, relaxed);
    entry.state.store(stated(number, EntryState::abandoned), std::memory_order_release);
}

WriteResult::Rest LogWriter::deposit(FileId file, const Piece& piece,
                                     const std::byte* bytes) noexcept {
    const ClientSlot& self = directory_.clients[client_];
    const std::optional<std::uint64_t> number = next_number();
    if (!number || !fill_in(*number, file, EntryKind::deposit, piece)) {
        return refused();
    }
    Entry& entry = log_.entry(*number);
    const bool reserved = reserve(*number);
    const std::uint64_t end = piece.position + piece.length;
    for (;;) {
        const std::uint32_t seen = self.progress.load(std::memory_order_acquire);
        const WriteResult::Rest rest = reserved ? standing(file) : refused();
        if (rest != WriteResult::Rest::none) {
            entry.state.store(stated(*number, EntryState::abandoned), std::memory_order_release);
            return rest;
        }
        if (end <= self.credit.load(std::memory_order_acquire)) {
            break;
        }
        entry.waited_ns.fetch_add(sleep(self.progress, seen), relaxed);
    }
    copy(piece.position, {bytes, piece.length});
    if (!commit(*number, piece)) {
        entry.state.store(stated(*number, EntryState::abandoned), std::memory_order_release);
        return refused();
    }
    return daemon_listens() ? WriteResult::Rest::none : WriteResult::Rest::lost;
}

// False: the daemon revoked the entry before this client committed it.
bool LogWriter::commit(std::uint64_t number, const Piece& piece) noexcept {
    committed_bytes_.fetch_add(piece.length, relaxed);
    std::uint64_t expected = stated(number, EntryState::reserved);
    if (!log_.entry(number).state.compare_exchange_strong(
            expected, stated(number, EntryState::committed), std::memory_order_release,
            std::memory_order_relaxed)) [[unlikely]] {
        committed_bytes_.fetch_sub(piece.length, relaxed);
        return false;
    }
    // Must come before the look whether the daemon listens: the daemon stops listening before it
    // looks at `commits`.
    log_.header().commits.fetch_add(1, std::memory_order_seq_cst);
    return true;
}

WriteResult LogWriter::write(FileId file, std::int64_t offset,
                             std::span<const std::byte> bytes) noexcept {
    const WriteResult written = append(file, offset, bytes);
    if (written.taken == 0) {
        return written;
    }
    const WriteResult durable = make_durable(file);
    return durable.rest == WriteResult::Rest::none ? written : durable;
}

// If the journal fails, the daemon first changes `durability` to `files` and then reports
// everything as durable. So a file's error counts then, although `durable` has been reached.
WriteResult LogWriter::make_durable(FileId file) noexcept {
    const std::atomic<WriteDurability>& promised = directory_.header.durability;
    if (promised.load(relaxed) == WriteDurability::process) {
        return {};
    }
    const std::uint64_t committed = log_.header().commits.load(std::memory_order_seq_cst);
    const ClientSlot& self = directory_.clients[client_];
    const FileSlot& slot = directory_.files[file.slot];
    for (;;) {
        const std::uint32_t seen = self.synced.load(std::memory_order_acquire);
        const bool durable = self.durable.load(std::memory_order_acquire) >= committed;
        const int error = slot.generation.load(relaxed) == file.generation
                              ? slot.error.load(std::memory_order_acquire)
                              : 0;
        if (error != 0 && promised.load(std::memory_order_acquire) == WriteDurability::files) {
            return {.rest = WriteResult::Rest::failed, .error = error};
        }
        if (durable) {
            return {};
        }
        if (!daemon_listens()) {
            return {.rest = WriteResult::Rest::lost};
        }
        static_cast<void>(sleep(self.synced, seen));
    }
}

WriteResult LogWriter::append(FileId file, std::int64_t offset,
                              std::span<const std::byte> bytes) noexcept {
    WriteResult written;
    while (written.taken < bytes.size() && written.rest == WriteResult::Rest::none) {
        const std::size_t want = std::min(bytes.size() - written.taken, reservation_max);
        Piece piece;
        written.rest = wait_for_window(file, want, piece.waited_ns);
        if (written.rest != WriteResult::Rest::none) {
            break;
        }
        piece.time_ns = daemon_.now_ns();
        std::uint64_t position = log_.header().reserved.fetch_add(want, relaxed);
        const std::uint64_t end = position + want;
        while (position < end) {
            const std::uint64_t block_end = (position / block_bytes + 1) * block_bytes;
            piece.offset = offset + static_cast<std::int64_t>(written.taken);
            piece.position = position;
            piece.length = static_cast<std::uint32_t>(std::min(block_end, end) - position);
            if (written.rest == WriteResult::Rest::none) {
                written.rest = deposit(file, piece, bytes.data() + written.taken);
                written.taken += written.rest == WriteResult::Rest::none ? piece.length : 0;
            } else {
                abandon(file, piece);  // reserved positions must be accounted for
            }
            position += piece.length;
            piece.waited_ns = 0;
        }
    }
    if (written.rest == WriteResult::Rest::failed) {
        written.error = directory_.files[file.slot].error.load(relaxed);
    }
    return written;
}

std::optional<LogReservation> LogWriter::lend(FileId file, std::size_t bytes) noexcept {
    const DirectoryHeader& header = directory_.header;
    const bool lends = header.consistency.load(relaxed) == CacheConsistency::pool &&
                       header.cap.load(relaxed) >= lending_cap_min;
    if (!lends || bytes == 0 || bytes > block_bytes || standing(file) != WriteResult::Rest::none) {
        return std::nullopt;
    }
    const ClientSlot& self = directory_.clients[client_];
    std::uint64_t position = log_.header().reserved.load(relaxed);
    for (;;) {
        const std::uint64_t left = block_bytes - position % block_bytes;
        const std::uint64_t skipped = left < bytes ? left : 0;
        if (position + skipped + bytes > self.credit.load(std::memory_order_acquire)) {
            daemon_.kick();  // so that the next call finds more credit
            return std::nullopt;
        }
        if (log_.header().reserved.compare_exchange_weak(position, position + skipped + bytes,
                                                         relaxed)) {
            if (skipped > 0) {
                give_back({.position = position, .bytes = {memory_at(position), skipped}});
            }
            std::byte* const memory = memory_at(position + skipped);
            return LogReservation{.position = position + skipped,
                                  .place = static_cast<std::size_t>(memory - log_.base()),
                                  .bytes = {memory, bytes}};
        }
    }
}

WriteResult LogWriter::append_lent(FileId file, std::int64_t offset,
                                   const LogReservation& part) noexcept {
    const auto place = static_cast<std::size_t>(part.bytes.data() - log_.block(0));
    const std::size_t within = part.position % block_bytes;
    expects(within + part.bytes.size() <= block_bytes && place % block_bytes == within,
            "a part of a loan is where its position says, in one block");
    Piece piece{.offset = offset,
                .position = part.position,
                .length = static_cast<std::uint32_t>(part.bytes.size())};
    WriteResult written;
    written.rest = wait_for_window(file, part.bytes.size(), piece.waited_ns);
    if (written.rest == WriteResult::Rest::none) {
        piece.time_ns = daemon_.now_ns();
        written.rest = deposit_lent(file, piece);
    }
    if (written.rest == WriteResult::Rest::none) {
        written.taken = part.bytes.size();
    } else if (written.rest == WriteResult::Rest::failed) {
        written.error = directory_.files[file.slot].error.load(relaxed);
    }
    return written;
}

WriteResult::Rest LogWriter::deposit_lent(FileId file, Piece piece) noexcept {
    const std::optional<std::uint64_t> number = next_number();
    if (!number || !fill_in(*number, file, EntryKind::deposit, piece)) {
        return refused();
    }
    WriteResult::Rest rest = reserve(*number) ? standing(file) : refused();
    if (rest == WriteResult::Rest::none && !commit(*number, piece)) {
        rest = refused();
    } else if (rest == WriteResult::Rest::none) {
        return daemon_listens() ? WriteResult::Rest::none : WriteResult::Rest::lost;
    }
    abandon_without_bytes(*number);  // the caller then writes the bytes to the file
    return rest;
}

void LogWriter::give_back(const LogReservation& part) noexcept {
    abandon({},
            {.position = part.position, .length = static_cast<std::uint32_t>(part.bytes.size())});
}

void LogWriter::notify_daemon(FileId file, EntryKind kind, std::int64_t offset,
                              std::uint32_t length) noexcept {
    const std::uint64_t taken = directory_.clients[client_].entries.load(relaxed);
    if (log_.header().entries.load(relaxed) >= taken + entries_max / 2 || !daemon_.alive()) {
        return;
    }
    const Piece piece{.offset = offset, .length = length, .time_ns = daemon_.now_ns()};
    const std::optional<std::uint64_t> number = next_number();
    if (!number || !fill_in(*number, file, kind, piece) || !reserve(*number)) {
        return;
    }
    std::uint64_t expected = stated(*number, EntryState::reserved);
    if (log_.entry(*number).state.compare_exchange_strong(
            expected, stated(*number, EntryState::committed), std::memory_order_release,
            std::memory_order_relaxed)) {
        log_.header().commits.fetch_add(1, std::memory_order_release);
    }
}

WriteResult LogWriter::settle(FileId file) noexcept {
    const FileSlot& slot = directory_.files[file.slot];
    for (;;) {
        const std::uint32_t seen = slot.progress.load(std::memory_order_acquire);
        if (!daemon_listens()) {
            return {.rest = WriteResult::Rest::lost};
        }
        if (slot.state.load(std::memory_order_acquire) != FileState::leaving ||
            slot.generation.load(relaxed) != file.generation) {
            return {.rest = WriteResult::Rest::through};
        }
        // Deposits that could not be drained may be drained later, and would then overwrite newer
        // bytes.
        if (const int error = slot.error.load(relaxed); error != 0) {
            return {.rest = WriteResult::Rest::failed, .error = error};
        }
        daemon_.kick();
        daemon_.wait(slot.progress, seen);
    }
}

}  // namespace forebay::pool
