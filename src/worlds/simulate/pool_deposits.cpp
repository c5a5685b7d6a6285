// Stores are in the order of pool/client/log_writer.cpp, since that order is the protocol.
#include "worlds/simulate/pool_deposits.hpp"

#include "foundation/base/atomics.hpp"

#include <algorithm>

namespace forebay::sim {

namespace {

// Time-out of each wait, as in a real process.
constexpr double wait_seconds = 10e-3;

}  // namespace

bool ImaginedLogWriter::pooled(pool::FileId file) const {
    const pool::FileSlot& slot = node_.directory().files[file.slot];
    return slot.state.load() == pool::FileState::pooled &&
           slot.generation.load(relaxed) == file.generation;
}

std::int64_t ImaginedLogWriter::sleep(const ports::Word& word, std::uint32_t seen) {
    const std::int64_t before = ports_.clock.now_ns();
    node_.kick(ports_);
    ports_.life.wait_for(word, seen, wait_seconds);
    const std::int64_t slept = ports_.clock.now_ns() - before;
    waited_ += static_cast<double>(slept) * 1e-9;
    return slept;
}

std::int64_t ImaginedLogWriter::uncounted_bytes() {
    const std::uint64_t committed = log_.header().commits.load();
    if (node_.directory().clients[client_].commits.load() >= committed) {
        committed_bytes_ = 0;
    }
    return committed_bytes_;
}

// False: the file is no longer in the pool.
bool ImaginedLogWriter::wait_for_window(pool::FileId file, std::int64_t bytes, Piece& piece) {
    const pool::FileSlot& slot = node_.directory().files[file.slot];
    const pool::ClientSlot& self = node_.directory().clients[client_];
    for (;;) {
        const std::uint32_t seen = slot.progress.load();
        if (!pooled(file)) {
            return false;
        }
        const std::uint32_t seen_self = self.progress.load();
        const std::int64_t uncounted = uncounted_bytes();
        const std::int64_t held = slot.taken.load(relaxed) - slot.drained.load(relaxed) + uncounted;
        // A write larger than the window may proceed when nothing else is in it.
        if (held <= 0 || held + bytes <= slot.window.load(relaxed)) {
            return true;
        }
        piece.waited_ns += uncounted > 0 ? sleep(self.progress, seen_self)  //
                                         : sleep(slot.progress, seen);
    }
}

// Fills in a new entry, whose state is not set yet, and returns its number. nullopt: the log is
// sealed, so the daemon takes no more entries.
std::optional<std::uint64_t> ImaginedLogWriter::begin_entry(pool::FileId file, const Piece& piece) {
    const pool::ClientSlot& self = node_.directory().clients[client_];
    const std::uint64_t number = log_.header().entries.fetch_add(1);
    if ((number & pool::log_sealed) != 0) {
        return std::nullopt;
    }
    for (;;) {
        const std::uint32_t seen = self.progress.load();
        if (number < self.entries.load() + pool::entries_max) {
            break;
        }
        static_cast<void>(sleep(self.progress, seen));
    }
    pool::Entry& entry = log_.entry(number);
    entry.file.store(file.slot, relaxed);
    entry.generation.store(file.generation, relaxed);
    entry.kind.store(pool::EntryKind::deposit, relaxed);
    entry.offset.store(piece.extent.begin.bytes(), relaxed);
    entry.position.store(piece.position, relaxed);
    entry.length.store(static_cast<std::uint32_t>(piece.extent.length.bytes()), relaxed);
    entry.time_ns.store(piece.time_ns, relaxed);
    entry.waited_ns.store(piece.waited_ns, relaxed);
    return number;
}

void ImaginedLogWriter::abandon(pool::FileId file, const Piece& piece) {
    if (const auto number = begin_entry(file, piece)) {
        log_.entry(*number).state.store(stated(*number, pool::EntryState::abandoned));
    }
}

// False: the file is no longer in the pool.
bool ImaginedLogWriter::deposit(pool::FileId file, const Piece& piece) {
    const pool::ClientSlot& self = node_.directory().clients[client_];
    const auto given = begin_entry(file, piece);
    if (!given) {
        return false;
    }
    const std::uint64_t number = *given;
    pool::Entry& entry = log_.entry(number);
    entry.state.store(stated(number, pool::EntryState::reserved));
    const auto length = static_cast<std::uint64_t>(piece.extent.length.bytes());
    for (;;) {
        const std::uint32_t seen = self.progress.load();
        if (!pooled(file)) {
            entry.state.store(stated(number, pool::EntryState::abandoned));
            return false;
        }
        if (piece.position + length <= self.credit.load()) {
            break;
        }
        entry.waited_ns.fetch_add(sleep(self.progress, seen), relaxed);
    }
    ports_.imagined->copied({piece.extent.length.bytes(), 1});
    committed_bytes_ += piece.extent.length.bytes();
    std::uint64_t expected = stated(number, pool::EntryState::reserved);
    if (!entry.state.compare_exchange_strong(expected,
                                             stated(number, pool::EntryState::committed))) {
        entry.state.store(stated(number, pool::EntryState::abandoned));
        return false;
    }
    log_.header().commits.fetch_add(1);
    return true;
}

std::int64_t ImaginedLogWriter::write(pool::FileId file, const Extent& what) {
    std::int64_t taken = 0;
    bool goes = true;
    while (taken < what.length.bytes() && goes) {
        const std::int64_t want =
            std::min(what.length.bytes() - taken, static_cast<std::int64_t>(pool::reservation_max));
        Piece piece;
        if (!wait_for_window(file, want, piece)) {
            break;
        }
        piece.time_ns = ports_.clock.now_ns();
        std::uint64_t position =
            log_.header().reserved.fetch_add(static_cast<std::uint64_t>(want), relaxed);
        const std::uint64_t end = position + static_cast<std::uint64_t>(want);
        while (position < end) {
            const std::uint64_t block_end = (position / pool::block_bytes + 1) * pool::block_bytes;
            const Length length{static_cast<std::int64_t>(std::min(block_end, end) - position)};
            piece.extent = {what.begin + Length{taken}, length};
            piece.position = position;
            if (goes) {
                goes = deposit(file, piece);
                taken += goes ? length.bytes() : 0;
            } else {
                abandon(file, piece);  // accounts for bytes that are reserved in the log
            }
            position += static_cast<std::uint64_t>(length.bytes());
            piece.waited_ns = 0;
        }
    }
    return taken;
}

void ImaginedLogWriter::settle(pool::FileId file) {
    const pool::FileSlot& slot = node_.directory().files[file.slot];
    for (;;) {
        const std::uint32_t seen = slot.progress.load();
        if (slot.state.load() != pool::FileState::leaving ||
            slot.generation.load(relaxed) != file.generation) {
            return;
        }
        static_cast<void>(sleep(slot.progress, seen));
    }
}

}  // namespace forebay::sim
