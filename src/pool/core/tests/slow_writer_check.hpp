// For tests: a client's write to its log with a step between any two changes of memory, so that the
// client can be killed or suspended at each of them.
#pragma once

#include "pool/core/tests/pool_check.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

namespace forebay::pool {

// Writes as a client's LogWriter does (pool/protocol/log.hpp).
class SlowWriter {
public:
    SlowWriter(Node& node, NodeClient& self) : node_{node}, self_{self}, log_{self.log()} {}

    // Returns false if the client has to write the bytes to the file itself.
    bool write(FileId file, std::int64_t offset, const std::vector<std::byte>& bytes) {
        const std::uint64_t position = log_.header().reserved.fetch_add(bytes.size());
        step();
        const std::uint64_t number = log_.header().entries.fetch_add(1);
        step();
        if ((number & log_sealed) != 0 || !wait_for_room(number, position + bytes.size(), file)) {
            return false;
        }
        Entry& entry = log_.entry(number);
        fill_in(entry, file, offset, position, bytes.size());
        if (!change(entry, number, entry.state.load(), EntryState::reserved)) {
            return abandoned(entry, number);
        }
        if (node_.directory().files[file.slot].state != FileState::pooled) {
            return abandoned(entry, number);
        }
        step();
        copy(position, bytes);
        if (!change(entry, number, stated(number, EntryState::reserved), EntryState::committed)) {
            return abandoned(entry, number);
        }
        log_.header().commits.fetch_add(1);
        step();
        return true;
    }

private:
    void step() { node_.world().step({"store"}); }
    bool change(Entry& entry, std::uint64_t number, std::uint64_t before, EntryState to) {
        step();
        const bool revoked = state_of(number, before) == EntryState::revoked;
        const bool changed =
            !revoked && entry.state.compare_exchange_strong(before, stated(number, to));
        step();
        return changed;
    }
    bool abandoned(Entry& entry, std::uint64_t number) {
        step();
        entry.state = stated(number, EntryState::abandoned);
        step();
        return false;
    }
    // Returns false if the log is sealed or the file leaves; the entry is unchanged then.
    bool wait_for_room(std::uint64_t number, std::uint64_t end, FileId file) {
        const ClientSlot& slot = node_.directory().clients[self_.number()];
        while (number >= slot.entries + entries_max || slot.credit < end) {
            if ((log_.header().entries & log_sealed) != 0 ||
                node_.directory().files[file.slot].state != FileState::pooled) {
                return false;
            }
            self_.kick();
            node_.world().sleep(100'000);
        }
        return true;
    }
    void fill_in(Entry& entry, FileId file, std::int64_t offset, std::uint64_t position,
                 std::size_t bytes) {
        entry.file = file.slot;
        entry.generation = file.generation;
        entry.kind = EntryKind::deposit;
        entry.offset = offset;
        step();
        entry.position = position;
        entry.length = static_cast<std::uint32_t>(bytes);
        entry.time_ns = node_.world().now_ns();
    }
    void copy(std::uint64_t position, const std::vector<std::byte>& bytes) {
        const std::uint32_t block =
            block_of(node_.directory().leases[self_.number()][position / block_bytes % blocks_max]);
        std::byte* const to = log_.block(block) + position % block_bytes;
        const std::size_t half = bytes.size() / 2;
        std::memcpy(to, bytes.data(), half);
        step();
        std::memcpy(to + half, bytes.data() + half, bytes.size() - half);
    }

    Node& node_;
    NodeClient& self_;
    Log log_;
};

}  // namespace forebay::pool
