// Reads ahead the ranges that clients announce by prefetch hints, into blocks of the read cache,
// once for all clients. Requests end at stripe boundaries, and each target (OST) has at most as
// many in flight as draining has.
#pragma once

#include "pool/core/state/pool_state.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace forebay::pool {

class BlockPrefetcher {
public:
    explicit BlockPrefetcher(PoolState& pool_state) : pool_state_{pool_state} {}

    // A client's hint that it will read `length` bytes at `offset`. The hint is untrusted input.
    void wish(std::uint32_t client, PooledFile& file, std::int64_t offset, std::uint32_t length);
    // See Pool::share().
    [[nodiscard]] SharedBytes share(PooledFile& file, const Extent& range, bool begins);
    // One round: takes completions, starts requests, gives memory back. Returns true if it did
    // anything.
    bool run_once(bool memory_is_short);
    [[nodiscard]] bool idle() const noexcept {
        return files_.empty() && pool_state_.read_cache.tight();
    }

private:
    [[nodiscard]] bool may_fetch(const PooledFile& file);
    // Adds the file to files_.
    void list(PooledFile& file);
    void count_reader(std::uint32_t client);
    void publish_share();
    // Queues one block, unless the range is in the read cache already.
    void wish_block(PooledFile& file, std::int64_t block, CleanRange range);
    void make_room(PooledFile& file);
    bool collect(PooledFile& file);
    bool start(PooledFile& file);
    void end(PooledFile& file, std::size_t job, int error);
    // Opens the file for reading if necessary. False: it cannot be read ahead.
    [[nodiscard]] bool prepare(PooledFile& file);
    // Reads nothing more ahead of the file.
    void give_up(PooledFile& file);
    void note_time(const PooledFile& file, std::int64_t ns) const;
    void begin(PooledFile& file, std::size_t job, const FetchedBlock& block,
               const ReadCache::Place& place);

    PoolState& pool_state_;
    std::vector<std::uint32_t> files_;  // slots of files that have blocks queued or in flight
    std::size_t in_flight_ = 0;         // blocks in flight for all files
    // Clients that read, and the time of their last hint.
    std::map<std::uint32_t, std::int64_t> readers_;
    std::int64_t counted_ns_ = 0;  // when clients that have stopped reading were last removed
};

}  // namespace forebay::pool
