// Gives each client a memfd for its log, and the daemon one for read-cache blocks.
#include "pool/daemon/memory/memory.hpp"

#include "foundation/base/contracts.hpp"
#include "pool/protocol/read_cache.hpp"
#include "storage/posix/futex.hpp"

#include <algorithm>
#include <utility>

namespace forebay::daemon {

namespace {

// Where in the log's memory a block begins, in bytes.
std::size_t place_of(std::uint32_t block) noexcept {
    expects(block < pool::blocks_max, "a log has so many blocks");
    return pool::LogShape::data_at + block * pool::block_bytes;
}

}  // namespace

SharedLogMemory::SharedLogMemory() : areas_(pool::clients_max), names_(pool::clients_max, 0) {}

Result<pool::Log> SharedLogMemory::prepare() {
    Result<SharedSegment> made = SharedSegment::make("forebay-log", pool::LogShape::bytes,
                                                     SegmentWriters::daemon_and_client);
    if (!made) {
        return failure(std::move(made.error()));
    }
    next_ = std::move(*made);
    // The log's header and entries, which its client touches first, get their memory now.
    if (!next_.provide(0, pool::LogShape::entries_end)) {
        discard();
        return failure(system_error(ENOMEM, "make shared memory for a client's log"));
    }
    return pool::Log{next_.base()};
}

void SharedLogMemory::assign(std::uint32_t client) {
    expects(next_.made(), "a log is prepared before it is assigned");
    expects(!areas_.at(client).made() && names_.at(client) == 0,
            "the client that had this number before is forgotten");
    areas_.at(client) = std::exchange(next_, SharedSegment{});
}

void SharedLogMemory::forget(std::uint32_t client) {
    // A process that has borrowed the log may still map it, so closing the descriptor would free
    // nothing: its memory is given back explicitly.
    if (std::exchange(names_.at(client), 0) != 0) {
        areas_[client].release(0, pool::LogShape::bytes);
    }
    areas_.at(client) = SharedSegment{};
}

bool SharedLogMemory::lend(std::uint32_t client, std::uint64_t name) {
    expects(areas_.at(client).base() != nullptr, "a client that lends its log has one");
    const auto owner = std::ranges::find(names_, name);
    if (owner != names_.end()) {
        return owner == names_.begin() + client;
    }
    std::uint64_t& own = names_.at(client);
    own = own == 0 ? name : own;
    return own == name;
}

const SharedSegment* SharedLogMemory::lent(std::uint64_t name) const {
    const auto owner = std::ranges::find(names_, name);
    return owner == names_.end() ? nullptr
                                 : &areas_[static_cast<std::size_t>(owner - names_.begin())];
}

// The pool may ask for blocks for a client that it is just admitting, to which assign() has not yet
// given the prepared log.
SharedSegment& SharedLogMemory::area_of(std::uint32_t client) {
    SharedSegment& own = areas_.at(client);
    return own.made() ? own : next_;
}

bool SharedLogMemory::provide(std::uint32_t client, std::uint32_t block) {
    SharedSegment& segment = area_of(client);
    return segment.made() && segment.provide(place_of(block), pool::block_bytes);
}

void SharedLogMemory::release(std::uint32_t client, std::uint32_t block) {
    SharedSegment& segment = area_of(client);
    if (segment.made()) {
        segment.release(place_of(block), pool::block_bytes);
    }
}

Result<SharedCleanMemory> SharedCleanMemory::make(std::size_t blocks) {
    SharedCleanMemory memory;
    if (blocks > 0) {
        Result<SharedSegment> made = SharedSegment::make(
            "forebay-clean", blocks * pool::block_bytes, SegmentWriters::daemon_that_releases);
        if (!made) {
            return failure(std::move(made.error()));
        }
        memory.segment_ = std::move(*made);
    }
    return memory;
}

std::byte* SharedCleanMemory::block(std::uint32_t number) {
    expects(segment_.made() && number > 0, "blocks are numbered from 1 on, where there are any");
    return segment_.base() + pool::clean_place(number);
}

bool SharedCleanMemory::provide(std::uint32_t number) {
    return segment_.provide_here(pool::clean_place(number), pool::block_bytes);
}

void SharedCleanMemory::release(std::uint32_t number) {
    segment_.release(pool::clean_place(number), pool::block_bytes);
}

void SharedSleepers::wake(pool::Word& word) { adapters::futex_wake(word); }

}  // namespace forebay::daemon
