// The read-cache blocks of a file, and the reading of more.
#pragma once

#include "foundation/ports/storage.hpp"
#include "pool/core/state/never.hpp"
#include "storage/transfer/channel.hpp"
#include "storage/transfer/gate.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>

namespace forebay::pool {

// A block that is queued or being read. If CleanSlot::state differs from `word`, the block was
// dropped meanwhile.
struct FetchedBlock {
    std::uint32_t number = 0;
    std::uint32_t word = 0;
};

struct PrefetchState {
    static constexpr std::size_t jobs = 8;  // maximum number of blocks being read at a time

    // Numbers of its read-cache blocks, by the block's number in the file.
    std::map<std::int64_t, std::uint32_t> cached;
    // Null until something is to be read ahead.
    std::unique_ptr<ports::FileStorage> source;
    std::unique_ptr<transfer::Gate> gate;
    std::unique_ptr<transfer::Channel> channel;
    std::array<FetchedBlock, jobs> under_way;  // by the channel's job; number 0: the job is free
    std::array<std::int64_t, jobs> begun_ns{};
    std::size_t in_flight = 0;
    std::deque<FetchedBlock> queue;
    // For FIFO replacement (CacheConsistency::paper): the numbers in the file of blocks that are or
    // were cached, the oldest first. No longer than the file's window.
    std::deque<std::int64_t> fifo;
    // An error has ended read-ahead of this file.
    bool gave_up = false;
    bool listed = false;  // in BlockPrefetcher::files_
    // When another node last asked for bytes of the file; never_ns: not lately.
    std::int64_t asked_by_peer_ns = never_ns;
};

}  // namespace forebay::pool
