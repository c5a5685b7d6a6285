// The blocks of a file that were read ahead, and the reading of more.
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

// A block that is being read, or soon will be: dropped meanwhile if its word is another one then.
struct FetchedBlock {
    std::uint32_t number = 0;
    std::uint32_t word = 0;
};

struct PrefetchState {
    static constexpr std::size_t jobs = 8;  // blocks that are being read at a time

    std::map<std::int64_t, std::uint32_t> cached;  // numbers of its read-cache blocks, by place
    std::unique_ptr<ports::FileStorage> source;
    std::unique_ptr<transfer::Gate> gate;
    std::unique_ptr<transfer::Channel> channel;
    std::array<FetchedBlock, jobs> under_way;  // by the channel's job; number 0: none
    std::array<std::int64_t, jobs> begun_ns{};
    std::size_t in_flight = 0;
    std::deque<FetchedBlock> queue;
    // Places of the blocks that are there or were, the oldest first; kept where these leave in this
    // order, and no longer than the file's window.
    std::deque<std::int64_t> fifo;
    bool gave_up = false;
    bool listed = false;  // among the files that fetch
    // When another node last asked for something of it; never_ns: not lately.
    std::int64_t asked_by_peer_ns = never_ns;
};

}  // namespace forebay::pool
