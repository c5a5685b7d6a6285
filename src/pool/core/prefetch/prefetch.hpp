// Reads ahead what clients say that they will read, block by block, once for all of them. Reads of
// one file end where its stripes end, so many at a time as draining has under way.
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

    // A client will read this range. Its hint is checked first.
    void wish(std::uint32_t client, PooledFile& file, std::int64_t offset, std::uint32_t length);
    // See Pool::share.
    [[nodiscard]] SharedBytes share(PooledFile& file, const Extent& range, bool begins);
    // Takes completions, begins reading, gives memory back. True when anything was done.
    bool run_once(bool memory_is_short);
    [[nodiscard]] bool idle() const noexcept {
        return files_.empty() && pool_state_.read_cache.tight();
    }

private:
    [[nodiscard]] bool may_fetch(const PooledFile& file);
    void list(PooledFile& file);
    void count_reader(std::uint32_t client);
    void publish_share();
    void wish_block(PooledFile& file, std::int64_t block, CleanRange range);
    void make_room(PooledFile& file);
    bool collect(PooledFile& file);
    bool start(PooledFile& file);
    void end(PooledFile& file, std::size_t job, int error);
    [[nodiscard]] bool prepare(PooledFile& file);
    void give_up(PooledFile& file);
    void note_time(const PooledFile& file, std::int64_t ns) const;
    void begin(PooledFile& file, std::size_t job, const FetchedBlock& block,
               const ReadCache::Place& place);

    PoolState& pool_state_;
    std::vector<std::uint32_t> files_;  // slots of files with something queued or in flight
    std::size_t in_flight_ = 0;         // blocks of all files
    std::map<std::uint32_t, std::int64_t> readers_;  // clients, and when their last hint came
    std::int64_t counted_ns_ = 0;
};

}  // namespace forebay::pool
